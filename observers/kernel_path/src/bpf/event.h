/* An event and how it is handed to the observer; whatever finds no room is counted.
 *
 * It does not know what an event tells of: the programs in `kernel_path.bpf.c` fill it in.
 */
#ifndef MIDDLEMARK_EVENT_H
#define MIDDLEMARK_EVENT_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>

/* What each means for the fields of an event stands in event.rs. */
enum kind {
	CALLED = 1,
	RETURNED = 2,
	QUEUED = 3,
	TRANSMITTED = 4,
	ARRIVED = 5,
	WOKEN = 6,
	SWITCHED = 7,
	SENT = 8,
	TAKEN = 9,
};

/* The same layout as `Event` of event.rs. */
struct event {
	__u64 at_ns;
	__u64 subject;
	__u64 other;
	__s64 value;
	__u32 process;
	__u32 thread;
	__u32 ports;
	__u32 mark;
	__u32 length;
	__u16 kind;
	__u16 cpu;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} events SEC(".maps");

__u64 lost;

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&lost, 1);
}

static __always_inline struct event *begin(enum kind kind)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	__u64 current = bpf_get_current_pid_tgid();

	if (!event) {
		count_lost();
		return 0;
	}
	__builtin_memset(event, 0, sizeof(*event));
	event->at_ns = bpf_ktime_get_ns();
	event->process = current >> 32;
	event->thread = (__u32)current;
	event->kind = kind;
	event->cpu = bpf_get_smp_processor_id();
	return event;
}

/* The observer looks every few milliseconds: waking it for each event would disturb what it observes. */
static __always_inline void end(struct event *event)
{
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

#endif
