//! A wait that was interrupted ends without events: `epoll_wait` of this process in place of libc's.
//!
//! RustDDS 0.15.1 takes the interruption for an error and ends its event loop, so that its participant neither sends nor
//! receives any more. Whoever is stopped and continued (SIGCONT, a debugger, a frozen container) is interrupted so, also
//! without a handler of any signal: signal(7).

use std::io::{Error, ErrorKind};
use std::ptr;

use libc::{c_int, epoll_event};

/// What a trial's configuration says of it.
pub(crate) const WORDS: &str =
    "go on: the worker's epoll_wait reports no interruption, at which RustDDS would end its event loop";

/// `epoll_wait`, which mio calls by this name.
///
/// # Safety
/// As of libc's: so many events can be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout_ms: c_int) -> c_int {
    // SAFETY: the caller's promise is what it asks for; without a set of signals it is the same call.
    let ready = unsafe { libc::epoll_pwait(epoll, events, most, timeout_ms, ptr::null()) };
    let is_interrupted = ready < 0 && Error::last_os_error().kind() == ErrorKind::Interrupted;
    if is_interrupted { 0 } else { ready }
}

#[cfg(test)]
mod tests {
    use std::os::unix::thread::JoinHandleExt;
    use std::thread;

    use rustdds::mio1::{Events, Poll};

    use super::*;

    extern "C" fn nothing(_signal: c_int) {}

    #[test]
    fn a_wait_of_mio_that_a_signal_interrupts_ends_without_events_and_without_an_error() {
        // SAFETY: the handler does nothing, and no other test sends this signal.
        unsafe { libc::signal(libc::SIGUSR1, nothing as *const () as libc::sighandler_t) };
        let waiting = thread::spawn(|| {
            let mut events = Events::with_capacity(1);
            let mut poll = Poll::new()?;
            poll.poll(&mut events, None).map(|()| events.is_empty())
        });
        while !waiting.is_finished() {
            // SAFETY: a thread that is not joined yet can be sent a signal.
            unsafe { libc::pthread_kill(waiting.as_pthread_t(), libc::SIGUSR1) };
            thread::yield_now();
        }
        assert!(waiting.join().unwrap().unwrap());
    }
}
