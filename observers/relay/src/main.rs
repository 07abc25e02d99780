//! `middlemark-relay`: emulates a link between two network interfaces, for kernels without netem.
//!
//! It forwards raw frames from one interface to the other, both directions apart, and delays, loses, doubles, reorders
//! and damages them as one JSON spec on standard input says; it ends when standard input does. It makes no interface
//! and judges no link: the front makes them, `middlemark-probe` measures what came of it.

#[cfg(test)]
mod allocations;
mod error;
mod front;
mod link;
mod network;
mod relay;
mod scheduling;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::RelayError;
use crate::front::command::Lines;
use crate::front::event;
use crate::front::spec::Spec;
use crate::network::interface::Interface;
use crate::relay::Relay;

/// Emulates a link between two interfaces of this network namespace; the spec is the first line of standard input.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Preparation>,
}

/// What else it can do.
#[derive(Subcommand)]
enum Preparation {
    /// Switches off, at interfaces of this network namespace, the offloads that would hand over frames which aren't whole.
    WholeFrames {
        /// Both ends of each pair have to be named, each in its own namespace.
        #[arg(required = true)]
        interfaces: Vec<String>,
    },
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().command {
        Some(Preparation::WholeFrames { interfaces }) => make_frames_whole(&interfaces),
        None => run(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-relay: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn make_frames_whole(interfaces: &[String]) -> Result<(), RelayError> {
    interfaces
        .iter()
        .try_for_each(|name| Interface::find(name)?.switch_offloads_off())
}

fn run() -> Result<(), RelayError> {
    let mut lines = Lines::new(std::io::stdin());
    let spec = Spec::parse(&lines.first()?)?;
    scheduling::wake_precisely();
    if let Some(priority) = spec.priority {
        scheduling::first_in_first_out(priority)?;
    }
    let (mut relay, ready) = Relay::open(spec)?;
    event::print(&ready)?;
    let done = relay.run(&mut lines)?;
    event::print(&done)
}
