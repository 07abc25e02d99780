//! What a flood does while the middleware has no room: it shares its CPU with the thread that makes some.

use std::sync::atomic::{AtomicBool, Ordering};

use middlemark_contract::{Placement, Scheduling};

use super::*;
use crate::process::placement;

/// A queue with one place, which another thread empties.
struct OnePlace(Arc<AtomicBool>);

impl Publish for OnePlace {
    fn publish(&mut self, _message: &[u8]) -> Result<(), PublishError> {
        if self.0.swap(true, Ordering::AcqRel) {
            return Err(PublishError::Full);
        }
        Ok(())
    }
}

#[test]
fn a_flood_that_is_refused_lets_the_thread_that_makes_room_have_its_cpu() {
    let counts = std::thread::spawn(flood_beside_who_makes_room).join().unwrap();
    assert_eq!(counts.sent + counts.refused, MESSAGES);
    // Otherwise there is room again once in a slice of the scheduler's, which is thousands of calls.
    assert!(counts.sent >= MESSAGES / 20, "{counts:?}");
}

fn flood_beside_who_makes_room() -> PublisherCounts {
    let is_full = Arc::new(AtomicBool::new(false));
    let pattern = PatternSpec::Unthrottled {
        approach_hz: 1.0,
        messages: None,
    };
    let sender = sender_with(pattern, Publisher::Copying(Box::new(OnePlace(Arc::clone(&is_full)))));
    let now_ns = clock::now_ns();
    let until_ns = now_ns + 100_000_000_000;
    sender.gate.open(Window::joined_at(now_ns, now_ns, until_ns));
    stay_on_this_cpu();
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let makes_room = std::thread::spawn(move || {
        while !ends.load(Ordering::Acquire) {
            is_full.store(false, Ordering::Release);
            std::thread::yield_now();
        }
    });
    let counts = run(sender, now_ns).unwrap();
    is_over.store(true, Ordering::Release);
    makes_room.join().unwrap();
    counts
}

/// This thread, and those that it will start.
fn stay_on_this_cpu() {
    // SAFETY: it takes nothing and only tells a number.
    let cpu = unsafe { libc::sched_getcpu() };
    let placement = Placement {
        cpus: vec![cpu as u32],
        scheduling: Scheduling::Other,
        spin_ns: 0,
    };
    placement::apply(&placement).unwrap();
}
