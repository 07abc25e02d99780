//! The requests of one client that are under way: as many places as it may have, each taken until its response or its timeout.
//!
//! One thread takes places, any thread that has a response frees one, none locks; `requests` decides what is sent.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicI64, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::message::header::{Header, Phase};

/// How often a client that waits for a place looks whether the trial is given up.
const WATCH_NS: i64 = 100_000_000;

/// The places of one client.
pub(crate) struct Calls {
    places: Box<[Place]>,
    timeout_ns: i64,
    /// The client's thread, where it waits for places.
    waiting: OnceLock<Thread>,
}

#[derive(Default)]
struct Place {
    /// The request that has it, as [`name`] says; 0: free.
    taken_by: AtomicU64,
    sent_ns: AtomicI64,
}

impl Calls {
    pub(crate) fn new(outstanding: u32, timeout_ns: i64) -> Calls {
        Calls {
            places: (0..outstanding).map(|_| Place::default()).collect(),
            timeout_ns,
            waiting: OnceLock::new(),
        }
    }

    /// Within which a response is in time.
    pub(crate) fn timeout_ns(&self) -> i64 {
        self.timeout_ns
    }

    /// Has each response wake the calling thread, the client's, from before its first request on.
    pub(crate) fn wake_this_thread(&self) {
        self.waiting.get_or_init(thread::current);
    }

    /// Whether a request may be sent now.
    #[inline]
    pub(crate) fn has_place(&self, now_ns: i64) -> bool {
        self.free(now_ns).is_some()
    }

    /// Takes a place for a request that is sent now; none where all are taken by requests that may still be answered.
    /// To be called by the client's thread alone, before the request is sent, as its response may come at once.
    #[inline]
    pub(crate) fn open(&self, phase: Phase, sequence: u32, now_ns: i64) -> Option<usize> {
        let number = self.free(now_ns)?;
        let place = &self.places[number];
        place.sent_ns.store(now_ns, Relaxed);
        place.taken_by.store(name(phase, sequence), Release);
        Some(number)
    }

    /// Frees the place of a request that was refused.
    pub(crate) fn withdraw(&self, place: usize) {
        self.places[place].taken_by.store(0, Release);
    }

    /// Notes a response: its request's place is free, where it has one still.
    #[inline]
    pub(crate) fn answered(&self, response: &Header) {
        if response.phase == Phase::Greeting {
            return;
        }
        let request = name(response.phase, response.sequence);
        let frees = |place: &Place| place.taken_by.compare_exchange(request, 0, AcqRel, Relaxed).is_ok();
        let is_freed = self.places.iter().any(frees);
        if let Some(client) = self.waiting.get().filter(|_| is_freed) {
            client.unpark();
        }
    }

    /// Waits until a place is free, or until an instant, but not for long; the client's thread sees to the rest.
    pub(crate) fn wait_for_place(&self, now_ns: i64, until_ns: i64) {
        // Whoever frees a place behind this look wakes this thread, however soon it sleeps.
        if !self.has_place(now_ns) {
            let wake_ns = until_ns.min(self.first_timeout_ns()).min(now_ns + WATCH_NS);
            thread::park_timeout(Duration::from_nanos((wake_ns - now_ns).max(0) as u64));
        }
    }

    #[inline]
    fn free(&self, now_ns: i64) -> Option<usize> {
        self.places.iter().position(|place| {
            place.taken_by.load(Acquire) == 0 || place.sent_ns.load(Relaxed) + self.timeout_ns <= now_ns
        })
    }

    fn first_timeout_ns(&self) -> i64 {
        let sent_ns = self.places.iter().map(|place| place.sent_ns.load(Relaxed));
        sent_ns.min().unwrap_or(0) + self.timeout_ns
    }
}

/// A request among those of before the window and within it; never 0.
#[inline]
fn name(phase: Phase, sequence: u32) -> u64 {
    (u64::from(sequence) + 1) << 8 | phase as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT_NS: i64 = 100;

    fn response(sequence: u32, phase: Phase) -> Header {
        Header {
            sent_ns: 0,
            intended_ns: 0,
            sequence,
            token: 7,
            channel: 1,
            publisher: 0,
            asker: 0,
            phase,
        }
    }

    #[test]
    fn no_more_requests_are_under_way_than_there_are_places() {
        let calls = Calls::new(2, TIMEOUT_NS);
        assert!(calls.open(Phase::Window, 0, 0).is_some() && calls.open(Phase::Window, 1, 1).is_some());
        assert_eq!(calls.open(Phase::Window, 2, 2), None);
        calls.answered(&response(1, Phase::Window));
        assert!(calls.open(Phase::Window, 2, 3).is_some());
        assert_eq!(calls.open(Phase::Window, 3, 3), None);
    }

    #[test]
    fn a_place_is_free_again_after_the_timeout_and_a_response_that_comes_then_frees_no_other() {
        let calls = Calls::new(1, TIMEOUT_NS);
        calls.open(Phase::Window, 0, 0);
        assert_eq!(calls.open(Phase::Window, 1, TIMEOUT_NS - 1), None);
        assert!(calls.open(Phase::Window, 1, TIMEOUT_NS).is_some());
        calls.answered(&response(0, Phase::Window));
        assert_eq!(calls.open(Phase::Window, 2, TIMEOUT_NS + 1), None);
    }

    #[test]
    fn a_refused_request_takes_no_place_and_a_response_to_another_frees_none() {
        let calls = Calls::new(1, TIMEOUT_NS);
        let place = calls.open(Phase::Window, 0, 0).unwrap();
        calls.answered(&response(0, Phase::Approach));
        calls.answered(&response(0, Phase::Greeting));
        assert_eq!(calls.open(Phase::Window, 1, 1), None);
        calls.withdraw(place);
        assert!(calls.open(Phase::Window, 1, 1).is_some());
    }

    #[test]
    fn a_client_that_waits_is_woken_by_the_response() {
        let calls = std::sync::Arc::new(Calls::new(1, i64::MAX / 2));
        calls.open(Phase::Window, 0, crate::clock::now_ns());
        let waiting = std::sync::Arc::clone(&calls);
        let client = thread::spawn(move || {
            waiting.wake_this_thread();
            while !waiting.has_place(0) {
                waiting.wait_for_place(crate::clock::now_ns(), i64::MAX);
            }
        });
        while calls.waiting.get().is_none() {
            thread::yield_now();
        }
        calls.answered(&response(0, Phase::Window));
        client.join().unwrap();
    }
}
