//! `middlemark-resources`: samples what the processes of a trial use of their machine, from `/proc` and control groups.
//!
//! It is told pids and a rate, keeps its samples in memory while it watches and writes them when it is told to stop, so
//! that nobody is woken meanwhile. It starts, stops and judges nothing; the front makes tables of what it says.

mod cgroup;
mod command;
mod error;
mod machine;
mod process;
mod sample;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::command::Lines;

/// Samples the processes that standard input names, until it is told to stop; the first line is the spec.
#[derive(Parser)]
#[command(version)]
struct Arguments {}

fn main() -> ExitCode {
    let Arguments {} = Arguments::parse();
    match watch::watch(&Lines::of_standard_input(), &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-resources: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
