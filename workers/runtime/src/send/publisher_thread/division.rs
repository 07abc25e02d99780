//! Which publishers of an application share a thread, decided while they are made.
//!
//! It starts no thread; `running` does.

use std::mem;
use std::sync::Arc;

use middlemark_contract::{OWN_THREADS, SHARED_THREAD_HZ, SHARED_THREAD_PUBLISHERS};

use crate::send::client::Client;
use crate::send::gate::WindowGate;
use crate::send::publisher_thread::PublisherThread;
use crate::send::sender::Sender;

/// Divides an application's publishers into threads while they are made: each has its own where they are few, or where it
/// is fast or goes at its own pace; the others of many share some.
pub(crate) struct Division {
    shares: bool,
    gate: Arc<WindowGate>,
    waiting: Vec<Sender>,
    waiting_hz: f64,
}

impl Division {
    /// Of an application of so many publishers.
    pub(crate) fn of(publishers: usize, gate: &Arc<WindowGate>) -> Division {
        Division {
            shares: publishers > OWN_THREADS,
            gate: Arc::clone(gate),
            waiting: Vec::new(),
            waiting_hz: 0.0,
        }
    }

    /// Takes in a publisher, or a client; returns the thread that is complete with it.
    pub(crate) fn add(&mut self, sender: Sender, client: Option<Client>) -> Option<PublisherThread> {
        if let Some(client) = client {
            return Some(PublisherThread::of_client(sender, client, &self.gate));
        }
        let rate_hz = sender.channel.rate_hz;
        if !self.shares || !sender.has_schedule() || rate_hz > SHARED_THREAD_HZ {
            return Some(PublisherThread::of(vec![sender], &self.gate));
        }
        let is_full = self.waiting.len() >= SHARED_THREAD_PUBLISHERS || self.waiting_hz + rate_hz > SHARED_THREAD_HZ;
        let complete = if is_full { self.rest() } else { None };
        self.waiting.push(sender);
        self.waiting_hz += rate_hz;
        complete
    }

    /// The thread of those that still wait for others, if any do.
    pub(crate) fn rest(&mut self) -> Option<PublisherThread> {
        self.waiting_hz = 0.0;
        let senders = mem::take(&mut self.waiting);
        (!senders.is_empty()).then(|| PublisherThread::of(senders, &self.gate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::publisher_thread::tests::{Told, sender};

    /// How many publishers each thread has, of publishers with these rates.
    fn divided(rates_hz: &[f64]) -> Vec<usize> {
        let (told, gate) = (Told::default(), Arc::default());
        let mut division = Division::of(rates_hz.len(), &gate);
        let mut threads = Vec::new();
        for rate_hz in rates_hz {
            threads.extend(division.add(sender(0, *rate_hz, &told, &gate), None));
        }
        threads.extend(division.rest());
        threads.iter().map(PublisherThread::publishers).collect()
    }

    #[test]
    fn few_publishers_have_a_thread_each() {
        assert_eq!(divided(&[1.0; OWN_THREADS]), [1; OWN_THREADS]);
    }

    #[test]
    fn of_many_publishers_the_slow_share_threads_by_number_and_by_rate() {
        assert_eq!(divided(&[1.0; OWN_THREADS + 1]), [OWN_THREADS + 1]);
        assert_eq!(
            divided(&[1.0; 2 * SHARED_THREAD_PUBLISHERS + 1]),
            [SHARED_THREAD_PUBLISHERS, SHARED_THREAD_PUBLISHERS, 1]
        );
        assert_eq!(divided(&[SHARED_THREAD_HZ / 10.0; 20]), [10, 10]);
    }

    #[test]
    fn a_fast_publisher_among_many_has_a_thread_to_itself() {
        let mut rates_hz = [1.0; OWN_THREADS + 1];
        rates_hz[3] = 2.0 * SHARED_THREAD_HZ;
        assert_eq!(divided(&rates_hz), [1, OWN_THREADS]);
    }
}
