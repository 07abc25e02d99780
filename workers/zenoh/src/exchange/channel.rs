//! Zenoh's FIFO channel, read by a thread of the worker's that waits or polls until the session's end closes it.
//!
//! What comes by it, and what becomes of that, `session` and its parent say.

use std::ops::Deref;
use std::thread::{self, JoinHandle};

use middlemark_contract::Delivery;
use middlemark_runtime::Idle;
use zenoh::handlers::FifoChannelHandler;

/// The capacity of Zenoh's default channel (`zenoh::handlers::DefaultHandler`).
pub(crate) const CHANNEL_MESSAGES: usize = 256;

/// Has a thread of its own take what comes by a channel; `source` keeps the channel open, or is it.
pub(crate) fn read<T: 'static>(
    source: impl Deref<Target = FifoChannelHandler<T>> + Send + 'static,
    delivery: Delivery,
    take: impl Fn(T) + Send + 'static,
) -> JoinHandle<()> {
    thread::spawn(move || match delivery {
        Delivery::Polling => poll(&source, take),
        Delivery::OwnThread | Delivery::LibraryThread => wait(&source, take),
    })
}

fn wait<T>(channel: &FifoChannelHandler<T>, take: impl Fn(T)) {
    while let Ok(come) = channel.recv() {
        take(come);
    }
}

fn poll<T>(channel: &FifoChannelHandler<T>, take: impl Fn(T)) {
    let mut idle = Idle::default();
    while let Ok(looked) = channel.try_recv() {
        idle.after_look(looked.is_some());
        if let Some(come) = looked {
            take(come);
        }
    }
}
