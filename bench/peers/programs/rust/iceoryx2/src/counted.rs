//! A message sent and taken in turn, by one thread and so many times: what `bench/instructions.py` has counted.

use std::error::Error;

use iceoryx2::prelude::NodeBuilder;

use crate::{Inlet, Outlet, Service, configuration};

/// Of each message.
const SIZE_BYTES: usize = 64;

/// Sends and takes so many messages: as they lie, `written` and read, or by `own_thread` each with an event, which is taken
/// first.
pub(crate) fn in_turn(how: &str, messages: u32) -> Result<(), Box<dyn Error>> {
    let with_events = how == "own_thread";
    let message = (how == "written").then(|| vec![1; SIZE_BYTES]);
    let config = configuration(&middlemark_bench_reference::folder())?;
    let node = NodeBuilder::new().config(&config).create::<Service>()?;
    let name = format!("counted_{}", std::process::id());
    let outlet = Outlet::new(&node, &name, SIZE_BYTES, with_events, message.clone())?;
    let mut inlet = Inlet::new(&node, &name, with_events, message)?;
    for _ in 0..messages {
        outlet.send();
        if let Some(listener) = &inlet.listener {
            listener.try_wait(|_| ())?;
        }
        if !inlet.look() {
            return Err("no message came".into());
        }
    }
    Ok(())
}
