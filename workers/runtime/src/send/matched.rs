//! Where a middleware says that a publisher has found a subscriber: the first time counts.
//!
//! Said again it costs a look at one word; it stamps and knows nothing of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::clock;

/// Where a publisher's match is told. Cheap to clone; any thread may call it.
#[derive(Clone)]
pub struct Matched(Arc<State>);

struct State {
    is_known: AtomicBool,
    tell: Box<dyn Fn(i64) + Send + Sync>,
}

impl Matched {
    pub(crate) fn new(tell: impl Fn(i64) + Send + Sync + 'static) -> Matched {
        Matched(Arc::new(State {
            is_known: AtomicBool::new(false),
            tell: Box::new(tell),
        }))
    }

    /// A subscriber is there. Call it at once when the middleware says so.
    #[inline]
    pub fn now(&self) {
        if !self.is_known() {
            self.at(clock::now_ns());
        }
    }

    /// A subscriber has been there since `since_ns`, an instant of [`clock::now_ns`].
    pub fn at(&self, since_ns: i64) {
        if !self.0.is_known.swap(true, Relaxed) {
            (self.0.tell)(since_ns);
        }
    }

    /// Makes a call whose result shows whether there is a subscriber (`has_found`), who then counts as there since the call
    /// began.
    #[inline]
    pub fn by<T>(&self, call: impl FnOnce() -> T, has_found: impl FnOnce(&T) -> bool) -> T {
        if self.is_known() {
            return call();
        }
        let since_ns = clock::now_ns();
        let result = call();
        if has_found(&result) {
            self.at(since_ns);
        }
        result
    }

    #[inline]
    fn is_known(&self) -> bool {
        self.0.is_known.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn told() -> (Matched, Arc<Mutex<Vec<i64>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&told);
        (Matched::new(move |since_ns| notes.lock().unwrap().push(since_ns)), told)
    }

    #[test]
    fn the_first_time_is_told_and_no_other() {
        let (matched, told) = told();
        let before_ns = clock::now_ns();
        matched.now();
        matched.clone().now();
        matched.at(7);
        let told = told.lock().unwrap();
        assert!(told.len() == 1 && told[0] >= before_ns, "{told:?}");
    }

    #[test]
    fn a_call_that_finds_somebody_tells_when_it_began() {
        let (matched, told) = told();
        let call = || clock::now_ns();
        matched.by(call, |_| false);
        assert!(told.lock().unwrap().is_empty());
        let called_ns = [matched.by(call, |_| true), matched.by(call, |_| true)];
        let told = told.lock().unwrap();
        assert!(told.len() == 1 && told[0] <= called_ns[0], "{told:?} {called_ns:?}");
    }
}
