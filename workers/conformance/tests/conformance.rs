//! Runs the suite over every worker it finds; `cargo test -p middlemark-conformance -- <filter>` as usual.

use std::process::ExitCode;

fn main() -> ExitCode {
    middlemark_conformance::run()
}
