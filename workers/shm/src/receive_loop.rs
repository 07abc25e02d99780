//! Receiving from rings: a thread that sleeps on one, or one that looks at all of a subscriber's rings in turn.

use std::io;
use std::thread::JoinHandle;

use middlemark_contract::Delivery;
use middlemark_ring::{Reader, Waker};
use middlemark_runtime::{Idle, Receiver};

/// A thread that receives, and what ends it.
pub(crate) struct ReceiveLoop {
    wakers: Vec<Waker>,
    thread: JoinHandle<()>,
}

impl ReceiveLoop {
    /// The loops of one subscriber.
    pub(crate) fn start(delivery: Delivery, readers: Vec<Reader>, receiver: &Receiver) -> io::Result<Vec<ReceiveLoop>> {
        match delivery {
            Delivery::Polling => Ok(vec![spawn(readers, receiver.clone(), poll)?]),
            Delivery::OwnThread | Delivery::LibraryThread => readers
                .into_iter()
                .map(|reader| spawn(vec![reader], receiver.clone(), sleep))
                .collect(),
        }
    }

    /// Ends the thread and waits for it.
    pub(crate) fn stop(self) {
        for waker in self.wakers {
            waker.stop();
        }
        let _ = self.thread.join();
    }
}

fn spawn(readers: Vec<Reader>, receiver: Receiver, receive: fn(Vec<Reader>, &Receiver)) -> io::Result<ReceiveLoop> {
    let wakers = readers.iter().map(Reader::waker).collect();
    let thread = std::thread::Builder::new()
        .name("receive".into())
        .spawn(move || receive(readers, &receiver))?;
    Ok(ReceiveLoop { wakers, thread })
}

fn sleep(mut readers: Vec<Reader>, receiver: &Receiver) {
    let reader = &mut readers[0];
    while !reader.is_stopping() {
        if !reader.take(|message| receiver.receive_slot(message)) {
            reader.wait(None);
        }
    }
}

fn poll(mut readers: Vec<Reader>, receiver: &Receiver) {
    let mut idle = Idle::default();
    while !readers[0].is_stopping() {
        let mut found = false;
        for reader in &mut readers {
            found |= reader.take(|message| receiver.receive_slot(message));
        }
        idle.after_look(found);
    }
}
