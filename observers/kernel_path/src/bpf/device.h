/* How many packets the programs were run for, by the device that sends them: `witness.rs` holds it against what the
 * device has counted itself, so that a packet for which the kernel runs no program is missed.
 *
 * Only devices whose own count goes by packets as they are handed over: a network card's may go by segments.
 */
#ifndef MIDDLEMARK_DEVICE_H
#define MIDDLEMARK_DEVICE_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>

#define NAME_BYTES 16
#define LOOPBACK 772 /* ARPHRD_LOOPBACK of if_arp.h */

/* The same layout as witness.rs reads: the numbers that the kernel gives to the namespace and, in it, to the device. */
struct device {
	__u32 namespace;
	__u32 number;
};

struct handed {
	__u64 packets;
	char name[NAME_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct device);
	__type(value, struct handed);
} devices SEC(".maps");

static __always_inline int counts_by_packets(const struct net_device *dev)
{
	static const char veth[] = "veth";
	char kind[sizeof(veth)] = {};
	int at;

	if (dev->type == LOOPBACK)
		return 1;
	if (!dev->rtnl_link_ops)
		return 0;
	bpf_probe_read_kernel(kind, sizeof(kind), dev->rtnl_link_ops->kind);
	for (at = 0; at < (int)sizeof(veth); at++)
		if (kind[at] != veth[at])
			return 0;
	return 1;
}

static __always_inline void count_handed(const struct net_device *dev)
{
	struct device device = { dev->nd_net.net->ns.inum, dev->ifindex };
	struct handed *handed = bpf_map_lookup_elem(&devices, &device), first = {};

	if (!handed && counts_by_packets(dev)) {
		bpf_probe_read_kernel(first.name, NAME_BYTES, dev->name);
		bpf_map_update_elem(&devices, &device, &first, BPF_NOEXIST);
		handed = bpf_map_lookup_elem(&devices, &device);
	}
	if (handed)
		__sync_fetch_and_add(&handed->packets, 1);
}

#endif
