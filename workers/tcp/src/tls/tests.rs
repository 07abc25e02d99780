//! Two ends over a pair of connected sockets, with certificates of one authority, of two, and of another right.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::thread;

use middlemark_contract::{CredentialsRequest, Security, SecurityLevel};
use middlemark_runtime::harness;
use middlemark_sockets::Guard;
use serde_json::json;
use socket2::Socket;

use super::{Tls, credentials};

/// Of stream 0 from `publisher` to `subscriber`; `other` publishes another.
fn credentials() -> impl Fn(&str) -> Tls {
    let stream = |name: &str| {
        json!({
            "name": name, "size_bytes": 64, "publishers": [], "subscribers": [], "qos": middlemark_contract::Qos::RELIABLE,
            "pattern": {"kind": "periodic", "rate_hz": 1.0, "arrival": {"kind": "fixed"}},
        })
    };
    let application = |name: &str, stream: &str, role: &str| {
        let endpoint = json!({"stream": stream, "role": role, "index": 0});
        json!({"application": name, "addresses": [], "endpoints": [endpoint]})
    };
    let request: CredentialsRequest = serde_json::from_value(json!({
        "contract_version": middlemark_contract::CONTRACT_VERSION, "level": "encrypted", "profile": "default",
        "rendezvous": {"name": "t", "token": 1, "domain": 0, "first_port": 1, "ports": 1, "folder": "/"},
        "options": {}, "services": [], "streams": [stream("one"), stream("two")],
        "applications": [
            application("publisher", "one", "publisher"),
            application("subscriber", "one", "subscriber"),
            application("other", "two", "publisher"),
        ],
    }))
    .unwrap();
    let made = credentials::made(&request).unwrap();
    move |name| {
        let files = made.applications[name].clone();
        Tls::of(&Security {
            level: SecurityLevel::Encrypted,
            files,
        })
        .unwrap()
    }
}

fn connected() -> (Socket, Socket) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near.into(), listener.accept().unwrap().0.into())
}

/// What a publisher writes and a subscriber reads, or of what kind the errors of the two ends are.
fn pass(publisher: Tls, subscriber: &Tls, message: Vec<u8>) -> Result<Vec<u8>, [ErrorKind; 2]> {
    let ((near, far), length) = (connected(), message.len());
    let joining = thread::spawn(move || {
        let mut writer = publisher
            .join(near, &harness::channel(64))
            .map_err(|error| error.kind())?;
        writer.write(&message).map_err(|error| error.kind())
    });
    let received = subscriber.admit(&far, &harness::channel(64)).and_then(|mut reader| {
        let mut received = vec![0; length];
        reader.read_exact(&mut received).map(|()| received)
    });
    drop(far);
    match (joining.join().unwrap(), received) {
        (Ok(()), Ok(received)) => Ok(received),
        (joined, received) => Err([
            joined.err().unwrap_or(ErrorKind::Other),
            received.err().map_or(ErrorKind::Other, |error| error.kind()),
        ]),
    }
}

#[test]
fn a_message_of_any_size_comes_whole_between_two_of_one_trial() {
    let of = credentials();
    for length in [32, 16_384, 64 * 1024 + 1, 4 << 20] {
        let message: Vec<u8> = (0..length).map(|k: u32| k as u8).collect();
        assert_eq!(pass(of("publisher"), &of("subscriber"), message.clone()), Ok(message));
    }
}

#[test]
fn strangers_are_refused_at_both_ends_and_know_it() {
    let (of, of_another) = (credentials(), credentials());
    let denied = Err([ErrorKind::PermissionDenied; 2]);
    assert_eq!(pass(of_another("publisher"), &of("subscriber"), vec![0; 64]), denied);
    assert_eq!(pass(of("other"), &of("subscriber"), vec![0; 64]), denied);
    assert_eq!(pass(of("publisher"), &of("other"), vec![0; 64]), denied);
}
