/* What a packet says of itself in its own headers, read where the kernel has it.
 *
 * It knows no event and follows nothing: `kernel_path.bpf.c` asks it of the packets that it follows.
 */
#ifndef MIDDLEMARK_PACKET_H
#define MIDDLEMARK_PACKET_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>

/* The header of an IPv4 packet, an IPv6 packet, a TCP segment and a UDP datagram: offsets in bytes. */
#define IP4_ID 4
#define IP4_FRAGMENT 6
#define IP4_PROTOCOL 9
#define IP4_SOURCE 12
#define IP6_PROTOCOL 6
#define TCP_SEQUENCE 4
#define TCP_LENGTH 12
#define UDP_BYTES 8
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
/* How much of a datagram's or fragment's payload tells it from others: a multiple of 8. */
#define TOLD_BYTES 64

/* FNV-1a over 8 bytes at once. */
static __always_inline __u64 digest(__u64 so_far, __u64 word)
{
	return (so_far ^ word) * 0x100000001b3ULL;
}

/* What tells a datagram from others of its flow wherever it is seen: not its checksum, which may come late. */
static __always_inline __u32 payload_mark(const unsigned char *payload, __u64 bytes, __u64 so_far)
{
	__u64 words[TOLD_BYTES / 8] = {};
	int number;

	barrier_var(bytes); /* the kernel must see the bound in one register */
	if (bytes > TOLD_BYTES)
		bytes = TOLD_BYTES;
	bpf_probe_read_kernel(words, bytes, payload);
	for (number = 0; number < TOLD_BYTES / 8; number++)
		so_far = digest(so_far, words[number]);
	return so_far >> 32 ^ so_far;
}

/* The fields of an event that say which packet it is, as `Event` of event.rs tells them. */
struct description {
	__u32 ports;
	__u32 mark;
	__u32 length;
};

/* Ports and identity from the packet's own headers, and how much of it is payload. */
static __always_inline struct description described(const struct sk_buff *skb)
{
	struct description packet = {};
	unsigned char *network = skb->head + skb->network_header;
	unsigned char *transport = skb->head + skb->transport_header;
	__u32 headers_bytes = transport - skb->data;
	__u8 version = 0, protocol = 0, words = 0;
	__u16 fragment = 0, id = 0;
	__be32 ports = 0, sequence = 0, source = 0;
	__u64 flow;

	bpf_probe_read_kernel(&version, sizeof(version), network);
	if (version >> 4 == 4) {
		bpf_probe_read_kernel(&protocol, sizeof(protocol), network + IP4_PROTOCOL);
		bpf_probe_read_kernel(&fragment, sizeof(fragment), network + IP4_FRAGMENT);
		bpf_probe_read_kernel(&id, sizeof(id), network + IP4_ID);
		bpf_probe_read_kernel(&source, sizeof(source), network + IP4_SOURCE);
	} else if (version >> 4 == 6) {
		bpf_probe_read_kernel(&protocol, sizeof(protocol), network + IP6_PROTOCOL);
	}
	packet.length = skb->len - headers_bytes;
	fragment = __builtin_bswap16(fragment) & 0x1fff;
	flow = digest(0xcbf29ce484222325ULL, (__u64)source << 32 | (__u32)id << 16 | fragment);
	if (fragment) { /* all but the first fragment have no ports */
		packet.mark = payload_mark(transport, packet.length, flow);
		return packet;
	}
	if (protocol == PROTOCOL_TCP) {
		bpf_probe_read_kernel(&sequence, sizeof(sequence), transport + TCP_SEQUENCE);
		bpf_probe_read_kernel(&words, sizeof(words), transport + TCP_LENGTH);
		packet.mark = __builtin_bswap32(sequence);
		packet.length -= (words >> 4) * 4;
	} else if (protocol == PROTOCOL_UDP) {
		packet.length -= UDP_BYTES;
		packet.mark = payload_mark(transport + UDP_BYTES, packet.length, flow);
	} else {
		return packet;
	}
	bpf_probe_read_kernel(&ports, sizeof(ports), transport);
	packet.ports = __builtin_bswap32(ports);
	return packet;
}

#endif
