//! The congestion control of a socket: which one it has, and whether one can have what the options name.
//!
//! The kernel's list says what there is. Only a socket says whether this process may have it, and whether its name
//! reaches the kernel: an emulator of processors may pass on a part of it. `family` sets it.

use std::io;

use middlemark_contract::Refusal;
use socket2::{Domain, Protocol, Socket, Type};

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Refuses one that the kernel does not have, or that no socket of this process can have.
pub(crate) fn accept(name: &str) -> Result<(), Refusal> {
    if name == "system" {
        return Ok(());
    }
    let available = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    if available.split_whitespace().any(|one| one == name) {
        return judged(name, tried(name));
    }
    let available = available.trim();
    Err(lacking(format!(
        "tcp_congestion '{name}' is not among those that this kernel has: {available}"
    )))
}

/// The one that a socket has.
pub(crate) fn of(socket: &Socket) -> io::Result<String> {
    let name = socket.tcp_congestion()?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

/// The one that a new socket has after it was given this one.
fn tried(name: &str) -> io::Result<String> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(name.as_bytes())?;
    of(&socket)
}

fn judged(name: &str, tried: io::Result<String>) -> Result<(), Refusal> {
    let problem = match tried {
        Ok(found) if found == name => return Ok(()),
        Ok(found) => format!("one that was given it has '{found}'"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("its name does not reach the kernel whole, as under an emulator of processors ({error})")
        }
        Err(error) => error.to_string(),
    };
    Err(lacking(format!(
        "tcp_congestion '{name}' is among those that this kernel has, and no socket can have it here: {problem}"
    )))
}

fn lacking(reason: String) -> Refusal {
    Refusal {
        capability: "machine".into(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_socket_has_is_what_it_was_given() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
        let usual = of(&socket).unwrap();
        assert_eq!(accept(&usual), Ok(()));
        assert_eq!(tried(&usual).unwrap(), usual);
        assert_eq!(accept("system"), Ok(()));
    }

    #[test]
    fn what_the_kernel_has_not_is_refused_with_what_it_has() {
        let refusal = accept("no such").unwrap_err();
        assert_eq!(refusal.capability, "machine");
        assert!(refusal.reason.contains("is not among those that this kernel has: "));
    }

    #[test]
    fn what_no_socket_can_have_here_is_refused_with_the_reason() {
        let refused = |tried| judged("cubic", tried).unwrap_err();
        let not_found = refused(Err(io::Error::from_raw_os_error(2)));
        assert_eq!(not_found.capability, "machine");
        assert!(not_found.reason.contains("its name does not reach the kernel whole"));
        let not_allowed = refused(Err(io::Error::from_raw_os_error(1)));
        assert!(
            not_allowed
                .reason
                .ends_with("here: Operation not permitted (os error 1)")
        );
        let another = refused(Ok("reno".into()));
        assert!(another.reason.ends_with("one that was given it has 'reno'"));
    }
}
