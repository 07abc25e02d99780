/* What the kernel does for the followed processes, one record an event, in the order in which each CPU saw it.
 *
 * Tracepoints only. It decides nothing: which events make up a message's path is found out afterwards. Whatever finds no
 * room is counted, and so is what devices send, as the kernel does not run a program for each packet on every machine.
 */
#include "device.h"
#include "event.h"
#include "followed.h"
#include "kernel.h"
#include "packet.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sys_enter")
int BPF_PROG(called, struct pt_regs *regs, long number)
{
	struct event *event;

	if (!is_followed(current_process()) || !(event = begin(CALLED)))
		return 0;
	event->subject = FIRST_ARGUMENT(regs);
	event->other = SECOND_ARGUMENT(regs);
	event->value = number;
	end(event);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(returned, struct pt_regs *regs, long result)
{
	struct event *event;

	if (!is_followed(current_process()) || !(event = begin(RETURNED)))
		return 0;
	event->subject = CALL_NUMBER(regs);
	event->value = result;
	end(event);
	return 0;
}

static __always_inline void describe(struct event *event, const struct sk_buff *skb)
{
	struct description packet = described(skb);

	event->ports = packet.ports;
	event->mark = packet.mark;
	event->length = packet.length;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(queued, struct sk_buff *skb)
{
	__u64 packet = (__u64)skb, socket = (__u64)skb->sk;
	struct event *event;

	/* Forwarded on its way, a packet has no socket any more and keeps its mark; with a socket, its address is a new
	 * packet's. */
	if (!is_followed(current_process()) && !has_role(current_process(), FORWARDER) &&
	    !is_of_a_followed_socket(skb) && !(!socket && bpf_map_lookup_elem(&packets, &packet))) {
		bpf_map_delete_elem(&packets, &packet);
		return 0;
	}
	reaches(packet, &in_queue);
	event = begin(QUEUED);
	if (!event)
		return 0;
	event->subject = packet;
	event->other = socket;
	describe(event, skb);
	end(event);
	return 0;
}

/* Of an arrival, the network namespace tells which of several receivers with the same port it is for. */
static __always_inline struct event *pass(enum kind kind, const struct sk_buff *skb)
{
	struct event *event = begin(kind);

	if (event) {
		event->subject = (__u64)skb;
		event->other = skb->dev->nd_net.net->ns.inum;
	}
	return event;
}

/* What was cut into segments on its way out was queued as another packet: each segment says what it is. */
SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(transmitted, struct sk_buff *skb)
{
	__u64 packet = (__u64)skb;
	__u8 *stage = bpf_map_lookup_elem(&packets, &packet);
	int is_queued = stage && *stage == IN_QUEUE;
	struct event *event;

	count_handed(skb->dev);
	if (!is_queued && !is_of_a_followed_socket(skb)) {
		bpf_map_delete_elem(&packets, &packet);
		return 0;
	}
	reaches(packet, &on_the_way);
	event = pass(TRANSMITTED, skb);
	if (!event)
		return 0;
	if (!is_queued)
		describe(event, skb);
	end(event);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(arrived, struct sk_buff *skb)
{
	__u64 packet = (__u64)skb;
	__u8 *stage = bpf_map_lookup_elem(&packets, &packet);
	struct event *event;

	if (!stage || *stage != ON_THE_WAY || !(event = pass(ARRIVED, skb)))
		return 0;
	end(event);
	return 0;
}

/* `sched_waking` is where a wake-up is decided; `sched_wakeup` comes only once the other CPU has heard of it, which
 * belongs to the time until the thread runs. */
SEC("tp_btf/sched_waking")
int BPF_PROG(woken, struct task_struct *task)
{
	struct event *event;

	if (!is_followed(task->tgid) || !(event = begin(WOKEN)))
		return 0;
	event->subject = event->thread;
	event->other = event->process;
	event->process = task->tgid;
	event->thread = task->pid;
	end(event);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, _Bool preempted, struct task_struct *before, struct task_struct *next)
{
	struct event *event;

	if (!(is_followed(next->tgid) || is_followed(before->tgid)) || !(event = begin(SWITCHED)))
		return 0;
	event->subject = before->pid;
	event->other = before->tgid;
	event->process = next->tgid;
	event->thread = next->pid;
	event->value = preempted;
	end(event);
	return 0;
}

/* The socket itself tells of its ports as its own packets do: source, then destination. */
static __always_inline void carry(enum kind kind, struct sock *sk, int bytes)
{
	struct event *event;

	if (!is_followed(current_process()))
		return;
	if (!bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE))
		count_lost();
	event = begin(kind);
	if (!event)
		return;
	event->subject = (__u64)sk;
	event->other = sk->__sk_common.skc_net.net->ns.inum;
	event->value = bytes;
	event->mark = sk->sk_protocol;
	event->ports = (__u32)sk->__sk_common.skc_num << 16 | __builtin_bswap16(sk->__sk_common.skc_dport);
	end(event);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sent, struct sock *sk, int bytes)
{
	carry(SENT, sk, bytes);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(taken, struct sock *sk, int bytes)
{
	carry(TAKEN, sk, bytes);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 process = child->tgid;

	if (is_followed(parent->tgid) && bpf_map_update_elem(&followed, &process, &observed, BPF_ANY))
		count_lost();
	return 0;
}

/* A process's first thread is freed after all others, when nothing of it will be seen any more. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(freed, struct task_struct *task)
{
	__u32 process = task->tgid;

	if (task->pid == task->tgid)
		bpf_map_delete_elem(&followed, &process);
	return 0;
}
