//! `middlemark-probe`: measures a link between two hosts, so that no one has to believe that it is as requested.
//!
//! One process answers, another measures: round trips, and for each direction apart loss, rate, duplication and
//! reordering. What a machine's clocks say and how far apart its CPUs are, it tells too. It judges nothing (the front
//! compares with what was requested) and shapes nothing (`middlemark-relay`).

mod answer;
mod client;
mod error;
mod machine;
mod measure;
mod outcome;
mod round_trip;
mod spec;
mod statistics;
mod train;
mod wire;

use std::io::Write;
use std::net::IpAddr;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::error::ProbeError;
use crate::machine::{clock, distance};

/// Measures a link between two hosts, and what a machine is.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Answers those that measure, until standard input ends.
    Answer {
        /// The address to answer at.
        #[arg(long)]
        address: IpAddr,
        /// The UDP port to answer at; 0: a free one, which the `ready` event names.
        #[arg(long)]
        port: u16,
    },
    /// Answers each byte on standard input with what this machine's clocks say, until it ends.
    Clock,
    /// Measures what a cache line takes from one CPU to another and back.
    Distance {
        /// The one CPU, by its number.
        first: u32,
        /// The other.
        second: u32,
    },
    /// Measures as the JSON spec on standard input says, and prints one JSON result.
    Measure,
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().command {
        Command::Answer { address, port } => answer::answer((address, port).into()),
        Command::Clock => clock::tell(std::io::stdin().lock(), std::io::stdout().lock()),
        Command::Distance { first, second } => distance::measure(first, second).and_then(|found| print(&found)),
        Command::Measure => spec::Spec::read(std::io::stdin())
            .and_then(|spec| measure::measure(&spec))
            .and_then(|result| print(&result)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-probe: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Writes one line of JSON: nothing else goes to standard output.
fn print(event: &impl Serialize) -> Result<(), ProbeError> {
    let line = serde_json::to_string(event).expect("an event is made of numbers and words");
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .map_err(ProbeError::Front)
}
