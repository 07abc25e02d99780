//! One wait set for all readers of an application, and the thread that takes what they have.
//!
//! The shim waits and takes; a reader that is attached has no thread of its own. `delivery` has the option in words.

use std::ptr;
use std::thread::{self, JoinHandle};

use middlemark_contract::{Delivery, OptionDescription};
use middlemark_runtime::options::choice;
use middlemark_runtime::{MiddlewareError, Options};

use crate::reader::{Handle, Reader};
use crate::shim::{self, ShimError, ShimReader, ShimWaitSet, checked};

/// The option that has an application's readers share a wait set.
pub const WAIT_SET: &str = "wait_set";

/// So many readers are told of at once; one that is not among them is the next time.
const MOST_READY: usize = 1024;

/// Whether readers with a thread of the application share one.
#[must_use]
pub fn option() -> OptionDescription {
    choice(
        WAIT_SET,
        &["reader", "application"],
        "reader",
        "With own_thread: a wait set and a thread for each reader, or one of both for all readers of the application.",
    )
}

/// Whether these options have them share it.
#[must_use]
pub fn is_shared(options: &Options) -> bool {
    options.text(WAIT_SET) == "application"
}

/// How a participant's messages are taken, in words.
#[must_use]
pub fn how(delivery: Delivery, shared: Option<&WaitSet>) -> &'static str {
    match shared {
        Some(_) => "One thread waits in one wait set for all readers of the application and takes their messages.",
        None => crate::how(delivery),
    }
}

#[derive(Clone, Copy)]
struct SetHandle(*mut ShimWaitSet);

// SAFETY: the shim's functions may be called from any thread; `WaitSet` joins the one that waits before it closes the set.
unsafe impl Send for SetHandle {}

/// A wait set with the thread that waits in it; dropped, it ends as by [`Self::close`].
pub struct WaitSet {
    /// None once it has ended.
    handle: Option<SetHandle>,
    thread: Option<JoinHandle<Result<(), ShimError>>>,
}

impl WaitSet {
    /// Takes over what `open` makes, and has a thread wait in it.
    ///
    /// # Safety
    /// What `open` returns is an open wait set of the shim, and nobody else waits in it or closes it.
    ///
    /// # Errors
    /// What `open` reported, or that there is no thread to be had.
    pub unsafe fn open(open: impl FnOnce() -> Result<*mut ShimWaitSet, ShimError>) -> Result<WaitSet, MiddlewareError> {
        let handle = SetHandle(open()?);
        let mut set = WaitSet {
            handle: Some(handle),
            thread: None,
        };
        let taking = move || take_when_woken(handle);
        set.thread = Some(thread::Builder::new().name("readers".into()).spawn(taking)?);
        Ok(set)
    }

    /// Has the thread take a reader's messages too. The reader has to be closed after this wait set.
    ///
    /// # Safety
    /// Nobody else waits for the reader or takes from it, and it stays open until this has ended.
    ///
    /// # Errors
    /// What the library reported.
    pub unsafe fn attach(&self, reader: &Reader) -> Result<(), ShimError> {
        let set = self.handle.map_or(ptr::null_mut(), |handle| handle.0);
        // SAFETY: the set is open as long as this has its handle, the reader by the caller's promise.
        let code = unsafe { shim::mm_waitset_attach(set, reader.shim()) };
        checked(code, "attach a reader to the wait set")?;
        Ok(())
    }

    /// Stops taking; when it returns nobody is handed anything any more.
    ///
    /// # Errors
    /// What the library reported, now or while messages were taken.
    pub fn close(mut self) -> Result<(), MiddlewareError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), MiddlewareError> {
        let Some(SetHandle(set)) = self.handle.take() else {
            return Ok(());
        };
        // SAFETY: the set is open; stopping is allowed beside waiting.
        let stopped = checked(unsafe { shim::mm_waitset_stop(set) }, "wake the readers' thread");
        let ended = self.thread.take().map(JoinHandle::join);
        // SAFETY: nobody waits any more, and this is the last use of the set.
        let closed = checked(unsafe { shim::mm_waitset_close(set) }, "delete the wait set");
        match ended {
            None | Some(Ok(Ok(()))) => {
                stopped?;
                closed?;
                Ok(())
            }
            Some(Ok(Err(error))) => Err(error.into()),
            Some(Err(_)) => Err("the readers' thread panicked".into()),
        }
    }
}

impl Drop for WaitSet {
    fn drop(&mut self) {
        // Only where something else has failed already, which is told in place of this.
        let _ = self.end();
    }
}

fn take_when_woken(set: SetHandle) -> Result<(), ShimError> {
    let SetHandle(set) = set;
    let mut ready: Vec<*mut ShimReader> = vec![ptr::null_mut(); MOST_READY];
    loop {
        // SAFETY: the set stays open until this thread is joined, and so many readers can be written.
        let count = unsafe { shim::mm_waitset_wait(set, ready.as_mut_ptr(), ready.len()) };
        let count = checked(count, "wait for messages")? as usize;
        if count == 0 {
            return Ok(());
        }
        for reader in &ready[..count.min(MOST_READY)] {
            // SAFETY: readers that are attached stay open until this thread is joined, and only it takes from them.
            unsafe { Handle::of(*reader).take()? };
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
