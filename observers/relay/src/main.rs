//! `middlemark-relay`: emulates a link between two network interfaces, for kernels without netem.
//!
//! It carries raw frames from one interface to the other, both directions apart, and delays, loses, doubles, reorders and
//! damages them as one JSON spec on standard input says; it ends when standard input does. It makes no interface and
//! judges no link: the front makes them, `middlemark-probe` measures what came of it.

mod command;
mod counts;
mod error;
mod event;
mod fate;
mod impairment;
mod interface;
mod path;
mod pool;
mod port;
mod relay;
mod schedule;
mod scheduling;
mod serialiser;
mod spec;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Lines;
use crate::error::RelayError;
use crate::relay::Relay;
use crate::spec::Spec;

/// Emulates a link between two interfaces of this network namespace; the spec is the first line of standard input.
#[derive(Parser)]
#[command(version)]
struct Arguments {}

fn main() -> ExitCode {
    Arguments::parse();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-relay: {error}");
            ExitCode::from(error.exit_code())
        }
    }
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
