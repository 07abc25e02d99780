//! What the thread of a wait set takes, and its end, over a shim that has one reader ready so many times.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::thread::yield_now;

use super::*;
use crate::reader::tests::Shim;

/// A shim's wait set, which `shim::tests` reaches: it has its reader ready until that was taken from, then sleeps.
#[derive(Default)]
pub(crate) struct ShimSet {
    attached: AtomicPtr<ShimReader>,
    waited: AtomicUsize,
    stopped: AtomicBool,
    closed: AtomicBool,
}

impl ShimSet {
    fn open() -> (&'static ShimSet, WaitSet) {
        let shim: &'static ShimSet = Box::leak(Box::default());
        // SAFETY: the shim's functions know it by this address, and it is never freed.
        let set = unsafe { WaitSet::open(|| Ok(std::ptr::from_ref(shim).cast_mut().cast())) };
        (shim, set.unwrap())
    }

    pub(crate) fn attach(&self, reader: *mut ShimReader) -> i32 {
        self.attached.store(reader, SeqCst);
        0
    }

    pub(crate) fn wait(&self, ready: &mut [*mut ShimReader]) -> i32 {
        loop {
            if self.stopped.load(SeqCst) {
                return 0;
            }
            let reader = self.attached.load(SeqCst);
            if !reader.is_null() {
                ready[0] = reader;
                self.waited.fetch_add(1, SeqCst);
                return 1;
            }
            yield_now();
        }
    }

    pub(crate) fn stop(&self) -> i32 {
        self.stopped.store(true, SeqCst);
        0
    }

    pub(crate) fn close(&self) -> i32 {
        self.closed.store(true, SeqCst);
        0
    }
}

#[test]
fn an_ended_wait_set_is_deleted_once_its_thread_has_been_joined() {
    let (shim, set) = ShimSet::open();
    set.close().unwrap();
    assert!(shim.stopped.load(SeqCst) && shim.closed.load(SeqCst));
    assert_eq!(shim.waited.load(SeqCst), 0);
}

#[test]
fn what_taking_from_an_attached_reader_fails_with_is_told_at_the_end() {
    let (shim, set) = ShimSet::open();
    let reader = Shim::new(false, false).shared_reader();
    // SAFETY: the reader is open until after the set's end, and nobody else takes from it.
    unsafe { set.attach(&reader).unwrap() };
    while shim.waited.load(SeqCst) == 0 {
        yield_now();
    }
    let error = set.close().unwrap_err();
    assert_eq!(error.to_string(), "the shim could not take messages: code 1 (-1)");
    assert!(shim.closed.load(SeqCst));
    drop(reader);
}
