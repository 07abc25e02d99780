//! Receiving from rings: a thread that sleeps on one, or one that looks at all of a subscriber's rings in turn.

use std::io;
use std::thread::JoinHandle;

use middlemark_ring::{Reader, Waker};
use middlemark_runtime::{Options, Receiver};

/// How messages are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceiveMode {
    /// Asleep in the kernel, one thread a ring.
    Blocking,
    /// Looking again and again, one thread a subscriber.
    Polling,
}

impl ReceiveMode {
    pub(crate) fn of(options: &Options) -> ReceiveMode {
        match options.text("receive_mode") {
            "polling" => ReceiveMode::Polling,
            _ => ReceiveMode::Blocking,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            ReceiveMode::Blocking => "futex wait, one thread a publisher",
            ReceiveMode::Polling => "busy poll, one thread a subscriber",
        }
    }
}

/// A thread that receives, and what ends it.
pub(crate) struct ReceiveLoop {
    wakers: Vec<Waker>,
    thread: JoinHandle<()>,
}

impl ReceiveLoop {
    /// The loops of one subscriber.
    pub(crate) fn start(mode: ReceiveMode, readers: Vec<Reader>, receiver: &Receiver) -> io::Result<Vec<ReceiveLoop>> {
        match mode {
            ReceiveMode::Polling => Ok(vec![spawn(readers, receiver.clone(), poll)?]),
            ReceiveMode::Blocking => readers
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
    while !readers[0].is_stopping() {
        let mut idle = true;
        for reader in &mut readers {
            idle &= !reader.take(|message| receiver.receive_slot(message));
        }
        if idle {
            std::hint::spin_loop();
        }
    }
}
