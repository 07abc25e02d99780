//! Two ends over a pair of connected sockets, with certificates of one authority, of two, and of another right.

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use middlemark_contract::{CredentialsRequest, Delivery, Security, SecurityLevel};
use middlemark_runtime::harness;
use middlemark_sockets::{BothWays, Guard, Incoming};
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

fn connected() -> [Arc<Socket>; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let far = listener.accept().unwrap().0;
    [near.into(), far.into()].map(Arc::new)
}

fn waiting(socket: Arc<Socket>) -> Incoming {
    Incoming::new(socket, Delivery::OwnThread)
}

/// What a publisher writes and a subscriber reads, or of what kind the errors of the two ends are.
fn pass(publisher: Tls, subscriber: &Tls, message: Vec<u8>) -> Result<Vec<u8>, [ErrorKind; 2]> {
    let ([near, far], length) = (connected(), message.len());
    let joining = thread::spawn(move || {
        let mut writer = publisher
            .join(near, &harness::channel(64))
            .map_err(|error| error.kind())?;
        writer.write(&message).map_err(|error| error.kind())
    });
    let admitted = subscriber.admit(waiting(far), &harness::channel(64));
    let received = admitted.and_then(|mut reader| {
        let mut received = vec![0; length];
        reader.read_exact(&mut received).map(|()| received)
    });
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

/// A server that sends back whatever comes, until its client is gone.
fn echo(server: &Tls, socket: Arc<Socket>) {
    let admitted = server.admit_both_ways(waiting(socket), &harness::channel(64));
    let BothWays { mut reader, mut writer } = admitted.unwrap();
    let mut come = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = reader.read(&mut come) {
        writer.write(&come[..length]).unwrap();
    }
}

#[test]
fn what_comes_back_is_read_while_more_is_written_than_the_sockets_hold() {
    const MESSAGES: usize = 16;
    let (of, [near, far]) = (credentials(), connected());
    let server = of("subscriber");
    let serving = thread::spawn(move || echo(&server, far));
    let joined = of("publisher").join_both_ways(waiting(Arc::clone(&near)), &harness::channel(64));
    let BothWays { mut reader, mut writer } = joined.unwrap();
    let message: Vec<u8> = (0..4 << 20).map(|k: u32| (k % 251) as u8).collect();
    near.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let written = (0..MESSAGES).try_for_each(|_| writer.write(&message));
            if written.is_err() {
                near.shutdown(Shutdown::Both).unwrap(); // so that nobody waits for the rest
            }
        });
        let mut come = vec![0; message.len()];
        for number in 0..MESSAGES {
            reader.read_exact(&mut come).unwrap();
            assert!(come == message, "message {number}");
        }
    });
    near.shutdown(Shutdown::Both).unwrap();
    serving.join().unwrap();
}
