//! `middlemark-capture`: writes what crosses the links of a test-bed to a pcapng file, cut and bounded as it is told.
//!
//! It runs in the network namespace of the interfaces, hears each frame where it passes and changes none. What frames mean
//! is Wireshark's business; the front keeps the file and says what is not in it.

mod error;
mod file;
mod message;
mod tap;
mod watch;

use std::process::ExitCode;

use clap::Parser;

/// Captures at the interfaces that the first line of standard input names, until it is told to stop.
#[derive(Parser)]
#[command(version)]
struct Arguments {}

fn main() -> ExitCode {
    let Arguments {} = Arguments::parse();
    match watch::watch(std::io::stdin().lock(), &mut std::io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-capture: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
