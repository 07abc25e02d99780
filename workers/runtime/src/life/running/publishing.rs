//! The threads that publish: started while publishers are made, joined before the session closes.
//!
//! What such a thread does is in `publisher_thread`; nodes have threads of their own, which `running` starts.

use std::io;
use std::thread::{self, JoinHandle};

use crate::clock;
use crate::middleware::MiddlewareError;
use crate::process::inbox::{Note, Notes};
use crate::send::publisher_thread::PublisherThread;
use crate::send::stamping_publisher::StampingPublisher;

/// The threads that publish, ended ones too.
#[derive(Default)]
pub(super) struct Publishing {
    /// Each returns the publishers of its clients, which then live until they are joined: a middleware may drop the
    /// responses that come after its client is gone.
    threads: Vec<JoinHandle<Vec<StampingPublisher>>>,
    /// How many publishers they serve.
    publishers: usize,
}

impl Publishing {
    pub(super) fn start(&mut self, thread: Option<PublisherThread>, notes: &Notes) -> io::Result<()> {
        let Some(thread) = thread else {
            return Ok(());
        };
        let (publishers, notes) = (thread.publishers(), notes.clone());
        self.threads
            .push(thread::Builder::new().spawn(move || publish(thread, &notes))?);
        self.publishers += publishers;
        Ok(())
    }

    /// What is said of them where publishers share threads.
    pub(super) fn shared(&self) -> Option<(String, String)> {
        let (threads, publishers) = (self.threads.len(), self.publishers);
        let said = || format!("{threads} for {publishers} publishers");
        (threads < publishers).then(|| ("threads that publish".into(), said()))
    }

    /// Waits for all of them; from then on no publisher of theirs is left.
    pub(super) fn join(&mut self) -> Result<(), MiddlewareError> {
        let ended: Vec<_> = self.threads.drain(..).map(|thread| thread.join().map(drop)).collect();
        let ended: Result<(), _> = ended.into_iter().collect();
        ended.map_err(|_| "a publisher's thread panicked".into())
    }
}

/// Publishes until the window has closed or the trial is given up, and tells what was sent; returns what clients sent with.
fn publish(thread: PublisherThread, notes: &Notes) -> Vec<StampingPublisher> {
    let publishers = thread.publishers();
    let Some(finished) = thread.run(clock::now_ns()) else {
        for _ in 0..publishers {
            let _ = notes.send(Note::Finished(None));
        }
        return Vec::new();
    };
    let mut clients = Vec::new();
    for publisher in finished {
        let _ = notes.send(Note::Finished(Some(publisher.counts)));
        clients.extend(publisher.client);
    }
    clients
}
