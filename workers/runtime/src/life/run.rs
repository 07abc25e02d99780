//! The entry of every worker executable: four commands, decided here and nowhere else.

use std::io::Write;
use std::process::ExitCode;

use crate::life::{application, credentials, service};
use crate::middleware::Middleware;
use crate::process::wire;

/// No other user opens the files, segments and sockets that a worker makes.
const OWN_MASK: libc::mode_t = 0o077;

/// Runs a worker's command line; a worker's `main` is this call and nothing else.
#[must_use]
pub fn run(middleware: &dyn Middleware) -> ExitCode {
    // Of whoever starts it, Podman's `exec` passes no mask on.
    // SAFETY: it only sets the process's mask, and no other thread runs yet.
    unsafe { libc::umask(OWN_MASK) };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["describe"] => {
            wire::say(&middleware.describe());
            ExitCode::SUCCESS
        }
        ["credentials"] => credentials::run(middleware),
        ["service"] => service::run(middleware),
        ["application"] => application::run(middleware),
        _ => {
            let name = middleware.describe().middleware;
            let _ = writeln!(
                std::io::stderr(),
                "usage: middlemark-worker-{name} describe | credentials | service | application\n\
                 It is started by `middlemark` and speaks JSON lines over standard input and output."
            );
            ExitCode::from(2)
        }
    }
}
