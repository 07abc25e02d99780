/* Whom the programs follow: processes by their role, the sockets that they use, and packets under way.
 *
 * It records no event; `kernel_path.bpf.c` asks it which events count.
 */
#ifndef MIDDLEMARK_FOLLOWED_H
#define MIDDLEMARK_FOLLOWED_H

#include "event.h"
#include "kernel.h"
#include <bpf/bpf_helpers.h>

/* What is recorded of a process: all, or only the packets that it sends (it carries others' packets on). */
enum role { OBSERVED = 1, FORWARDER = 2 };

/* Thread groups by their role; a child of an observed one becomes one, and whoever has ended leaves. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} followed SEC(".maps");

/* Marks the sockets that a followed process has used: the kernel sends for them in whatever context it is in. A mark is
 * part of its socket and goes with it, so that connections that come and go never fill anything up, and another socket
 * at the same address has none. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u8);
} sockets SEC(".maps");

/* How far a packet has come. */
enum stage { IN_QUEUE = 1, ON_THE_WAY = 2 };

/* Packets under way, by their address: their stage. No tracepoint tells when a packet is done with, so that the one that
 * was not seen for longest gives way: addresses are used again, and far fewer are under way than there is room for. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u8);
} packets SEC(".maps");

static const __u8 observed = OBSERVED, in_queue = IN_QUEUE, on_the_way = ON_THE_WAY;

static __always_inline int has_role(__u32 process, enum role role)
{
	__u8 *found = bpf_map_lookup_elem(&followed, &process);

	return found && *found == role;
}

static __always_inline int is_followed(__u32 process)
{
	return has_role(process, OBSERVED);
}

static __always_inline __u32 current_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* A socket that sends for the first time is known only when its call comes back. */
static __always_inline int is_of_a_followed_socket(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	return sk && (is_followed(current_process()) || bpf_sk_storage_get(&sockets, sk, 0, 0));
}

static __always_inline void reaches(__u64 packet, const __u8 *stage)
{
	if (bpf_map_update_elem(&packets, &packet, stage, BPF_ANY))
		count_lost();
}

#endif
