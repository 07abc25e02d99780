//! Where a middleware says that a publisher has found a subscriber: the first time counts.
//!
//! Said again it costs a look at one word; it stamps and knows nothing of messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::clock;

/// What is told of the first subscriber that a publisher finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    /// Since when it is there.
    pub(crate) since_ns: i64,
    /// How long the handshake before that took; none where there is none, or the middleware doesn't tell.
    pub(crate) handshake_ns: Option<i64>,
}

/// Where a publisher's match is told. Cheap to clone; any thread may call it.
#[derive(Clone)]
pub struct Matched(Arc<State>);

struct State {
    is_known: AtomicBool,
    tell: Box<dyn Fn(Match) + Send + Sync>,
}

impl Matched {
    pub(crate) fn new(tell: impl Fn(Match) + Send + Sync + 'static) -> Matched {
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

    /// A subscriber is there, after a handshake by which both ends know who the other is; it began at `began_ns`, an
    /// instant of [`clock::now_ns`].
    pub fn now_after_handshake(&self, began_ns: i64) {
        if !self.is_known() {
            self.at_after_handshake(began_ns, clock::now_ns());
        }
    }

    /// A subscriber has been there since `since_ns`, an instant of [`clock::now_ns`].
    pub fn at(&self, since_ns: i64) {
        self.tell(Match {
            since_ns,
            handshake_ns: None,
        });
    }

    /// The same, after a handshake that began at `began_ns`.
    pub fn at_after_handshake(&self, began_ns: i64, since_ns: i64) {
        self.tell(Match {
            since_ns,
            handshake_ns: Some(since_ns - began_ns),
        });
    }

    fn tell(&self, found: Match) {
        if !self.0.is_known.swap(true, Relaxed) {
            (self.0.tell)(found);
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

    fn told() -> (Matched, Arc<Mutex<Vec<Match>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&told);
        (Matched::new(move |found| notes.lock().unwrap().push(found)), told)
    }

    #[test]
    fn the_first_time_is_told_and_no_other() {
        let (matched, told) = told();
        let before_ns = clock::now_ns();
        matched.now();
        matched.clone().now();
        matched.at(7);
        let told = told.lock().unwrap();
        assert!(told.len() == 1 && told[0].since_ns >= before_ns, "{told:?}");
    }

    #[test]
    fn a_handshake_is_told_with_the_match_that_it_leads_to() {
        let (matched, told) = told();
        let began_ns = clock::now_ns();
        matched.now_after_handshake(began_ns);
        matched.now_after_handshake(began_ns - 1_000_000_000);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].handshake_ns, Some(told[0].since_ns - began_ns));
    }

    #[test]
    fn a_call_that_finds_somebody_tells_when_it_began() {
        let (matched, told) = told();
        let call = || clock::now_ns();
        matched.by(call, |_| false);
        assert!(told.lock().unwrap().is_empty());
        let called_ns = [matched.by(call, |_| true), matched.by(call, |_| true)];
        let told = told.lock().unwrap();
        assert!(
            told.len() == 1 && told[0].since_ns <= called_ns[0],
            "{told:?} {called_ns:?}"
        );
    }
}
