//! What threads share without a lock, by the names of the standard library; with the feature `loom` those of loom, which
//! tries every order in which threads can run and every value that the memory model lets a load return.
//!
//! Only what is modelled (`receive/flow/models.rs`, `send/client/turn/models.rs`) goes through here.

#[cfg(feature = "loom")]
pub(crate) use loom::{
    cell::UnsafeCell,
    sync::{Mutex, MutexGuard, atomic},
    thread::{Thread, current as current_thread, yield_now},
};
#[cfg(not(feature = "loom"))]
pub(crate) use std::{
    sync::{Mutex, MutexGuard, atomic},
    thread::{Thread, current as current_thread, yield_now},
};

/// Waits until this thread is unparked, no longer than so long; under loom, where no time passes, as long as it takes.
pub(crate) fn park_for(span_ns: i64) {
    #[cfg(not(feature = "loom"))]
    std::thread::park_timeout(std::time::Duration::from_nanos(span_ns as u64));
    #[cfg(feature = "loom")]
    {
        let _ = span_ns;
        loom::thread::park();
    }
}

/// A cell with loom's interface.
#[cfg(not(feature = "loom"))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(feature = "loom"))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        look(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}
