//! A message sent and taken in turn, by one thread and so many times: what `bench/instructions.py` has counted.

use std::error::Error;
use std::hint::black_box;

use iceoryx2::prelude::NodeBuilder;

use crate::{Inlet, Outlet, Service, configuration};

/// Of each message.
const SIZE_BYTES: usize = 64;

/// Sends and takes so many messages; with events each is notified, and its notification taken first.
pub(crate) fn in_turn(with_events: bool, messages: u32) -> Result<(), Box<dyn Error>> {
    let config = configuration(&middlemark_bench_reference::folder())?;
    let node = NodeBuilder::new().config(&config).create::<Service>()?;
    let name = format!("counted_{}", std::process::id());
    let outlet = Outlet::new(&node, &name, SIZE_BYTES, with_events, None)?;
    let inlet = Inlet::new(&node, &name, with_events, None)?;
    for _ in 0..messages {
        outlet.send();
        if let Some(listener) = &inlet.listener {
            listener.try_wait(|_| ())?;
        }
        black_box(inlet.subscriber.receive()?.ok_or("no message came")?);
    }
    Ok(())
}
