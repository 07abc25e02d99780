//! What threads share without a lock, by the names of the standard library; with `--cfg loom` those of loom, which tries
//! every order in which threads can run and every value that the memory model lets a load return.
//!
//! Only what is modelled (`receive/flow/models.rs`) goes through here.

#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, sync::atomic, thread::yield_now};
#[cfg(not(loom))]
pub(crate) use std::{sync::atomic, thread::yield_now};

/// A cell with loom's interface.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
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
