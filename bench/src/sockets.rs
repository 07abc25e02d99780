//! The socket baselines at full speed beside the barest loop over the same sockets: what is left of it with ours.
//!
//! Both send from one CPU and receive on another, and both write each message before they send it; ours is the whole path
//! of a worker, with header, stamps and samples, over the sockets that the workers use. Both receivers poll: whether a send
//! must wake a sleeping one is chance, and costs several times what is compared. A ratio is of the messages sent in the same time, each from the best
//! of several short runs in turn, as what else runs on the machine only ever lengthens them.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use middlemark_runtime::harness::{self, Flood};
use middlemark_runtime::{Channel, MiddlewareError, Session, clock};
use middlemark_sockets::{Family, Kind, ReceiveMode, SocketSession};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::Figure;
use crate::pinned::{Side, pin};
use crate::spread::Spread;

const REPETITIONS: usize = 7;
const RUNS: usize = 15;
/// Where the bare loop's messages begin, as in a worker's pool of random bytes.
const BODIES: usize = 1 << 16;

pub(crate) fn figures() -> io::Result<Vec<Figure>> {
    let figure = |name, kind, size_bytes, messages| -> io::Result<Figure> {
        let ratios: Vec<f64> = (0..REPETITIONS)
            .map(|_| ratio(kind, size_bytes, messages))
            .collect::<io::Result<_>>()?;
        let mut ratios = ratios.into_iter();
        Ok(Figure {
            name,
            unit: "",
            goal: ">= 0.9",
            spread: Spread::of(REPETITIONS, || ratios.next().unwrap_or_default()),
        })
    };
    Ok(vec![
        figure("udp unthrottled, 64 B: ours to bare", Kind::Datagram, 64, 5_000)?,
        figure(
            "udp unthrottled, 16 KiB: ours to bare",
            Kind::Datagram,
            16 << 10,
            30_000,
        )?,
        figure("tcp unthrottled, 64 B: ours to bare", Kind::Stream, 64, 10_000)?,
        figure("tcp unthrottled, 16 KiB: ours to bare", Kind::Stream, 16 << 10, 1_000)?,
    ])
}

fn ratio(kind: Kind, size_bytes: usize, messages: u32) -> io::Result<f64> {
    let (mut bare_ns, mut ours_ns) = (i64::MAX, i64::MAX);
    for _ in 0..RUNS {
        bare_ns = bare_ns.min(bare(kind, size_bytes, messages)?);
        ours_ns = ours_ns.min(ours(kind, size_bytes, messages).map_err(io::Error::other)?);
    }
    Ok(bare_ns as f64 / ours_ns as f64)
}

/// UDP or TCP over loopback with the kernel's own settings, as the workers' profiles `default` have it.
struct Loopback(Kind);

impl Family for Loopback {
    fn transport(&self) -> String {
        "loopback".into()
    }

    fn kind(&self) -> Kind {
        self.0
    }

    fn address(&self, channel: &Channel, subscriber: usize) -> io::Result<SockAddr> {
        Ok(channel.subscribers[subscriber].socket.into())
    }

    fn configure(&self, socket: &Socket) -> io::Result<()> {
        match self.0 {
            Kind::Stream => socket.set_tcp_nodelay(true),
            Kind::Packet | Kind::Datagram => Ok(()),
        }
    }

    fn granted(&self, _socket: &Socket) -> io::Result<BTreeMap<String, String>> {
        Ok(BTreeMap::new())
    }

    fn reports_absence_late(&self) -> bool {
        self.0 == Kind::Datagram
    }
}

/// How long our publisher's loop takes for so many messages.
fn ours(kind: Kind, size_bytes: usize, messages: u32) -> Result<i64, MiddlewareError> {
    let mut channel = harness::channel(size_bytes);
    channel.subscribers[0].socket = free_address()?;
    let address = SockAddr::from(channel.subscribers[0].socket);
    let mut session = SocketSession::new(Loopback(kind), ReceiveMode::Polling, BTreeMap::new(), &address)?;
    pin(Side::Receiver);
    session.subscriber(&channel, harness::inlet(size_bytes, messages))?;
    pin(Side::Sender);
    let mut flood = Flood::new(session.publisher(&channel)?, size_bytes, messages);
    let took_ns = flood.run();
    drop(flood);
    Box::new(session).close()?;
    Ok(took_ns)
}

/// How long a loop of writing and `send` takes for so many messages, with a loop of nothing but `recv` on the other side.
fn bare(kind: Kind, size_bytes: usize, messages: u32) -> io::Result<i64> {
    let address = SockAddr::from(free_address()?);
    let receiver = Socket::new(Domain::IPV4, socket_type(kind), None)?;
    receiver.bind(&address)?;
    let sender = Socket::new(Domain::IPV4, socket_type(kind), None)?;
    let receiver = if kind == Kind::Stream {
        receiver.listen(1)?;
        sender.set_tcp_nodelay(true)?;
        sender.connect(&address)?;
        receiver.accept()?.0
    } else {
        sender.connect(&address)?;
        receiver
    };
    receiver.set_nonblocking(true)?;
    let done = Arc::new(AtomicBool::new(false));
    pin(Side::Receiver);
    let thread = std::thread::spawn({
        let done = Arc::clone(&done);
        move || receive_bare(&receiver, &done)
    });
    pin(Side::Sender);
    let bodies = vec![0xA5; size_bytes + BODIES];
    let mut message = vec![0; size_bytes];
    let begin_ns = clock::now_ns();
    for number in 0..messages as usize {
        let body = number * 64 % BODIES;
        message.copy_from_slice(&bodies[body..body + size_bytes]);
        let sent = sender.send(&message)?;
        debug_assert_eq!(sent, size_bytes);
    }
    let took_ns = clock::now_ns() - begin_ns;
    done.store(true, Relaxed);
    let _ = thread.join();
    Ok(took_ns)
}

fn receive_bare(mut receiver: &Socket, done: &AtomicBool) {
    let mut buffer = vec![0; 64 << 10];
    while !done.load(Relaxed) {
        let _ = black_box(io::Read::read(&mut receiver, &mut buffer));
    }
}

fn socket_type(kind: Kind) -> Type {
    if kind == Kind::Stream {
        Type::STREAM
    } else {
        Type::DGRAM
    }
}

/// A port that nobody has now.
fn free_address() -> io::Result<SocketAddr> {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}
