//! The socket baselines at full speed beside the barest loop over the same sockets: what is left of it with ours.
//!
//! Both write each message before they send it; ours is the whole path of a worker, with header, stamps and samples, over
//! the sockets that the workers use. What is compared is the sending thread's CPU time for a message, which bounds an
//! unthrottled stream, with both ends on one CPU: between two, each send wakes a sleeping receiver or doesn't, by chance,
//! and that costs several times what is compared. Each ratio is of the best of several short runs in turn.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use middlemark_contract::Delivery;
use middlemark_runtime::harness::{self, Flood};
use middlemark_runtime::{Channel, MiddlewareError, Session, clock};
use middlemark_sockets::{Buffered, Family, Kind, SocketSession};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::Figure;
use crate::pinned::{Side, pin};
use crate::spread::Spread;

const REPETITIONS: usize = 7;
const RUNS: usize = 15;
/// Where the bare loop's messages begin, as in a worker's pool of random bytes.
const BODIES: usize = 1 << 16;

pub(crate) fn figures() -> io::Result<Vec<Figure>> {
    let cases = [
        ("udp 64 B", Kind::Datagram, 64, 5_000),
        ("udp 16 KiB", Kind::Datagram, 16 << 10, 30_000),
        ("tcp 64 B", Kind::Stream, 64, 10_000),
        ("tcp 16 KiB", Kind::Stream, 16 << 10, 1_000),
    ];
    let mut figures = Vec::new();
    for (name, kind, size_bytes, messages) in cases {
        let ratios: Vec<Ratios> = (0..REPETITIONS)
            .map(|_| ratios(kind, size_bytes, messages))
            .collect::<io::Result<_>>()?;
        figures.push(Figure {
            name: format!("{name}, messages a CPU second: ours to bare"),
            unit: "",
            goal: ">= 0.9",
            spread: Spread::over(ratios.iter().map(|each| each.ours)),
        });
        figures.push(Figure {
            name: "  the most that two stamps a message leave".into(),
            unit: "",
            goal: "",
            spread: Spread::over(ratios.iter().map(|each| each.stamped)),
        });
    }
    Ok(figures)
}

/// How many messages there are for each of the bare loop's.
struct Ratios {
    ours: f64,
    /// Of a bare loop that only reads the clock around each message.
    stamped: f64,
}

fn ratios(kind: Kind, size_bytes: usize, messages: u32) -> io::Result<Ratios> {
    let (mut bare_ns, mut stamped_ns, mut ours_ns) = (i64::MAX, i64::MAX, i64::MAX);
    for _ in 0..RUNS {
        bare_ns = bare_ns.min(bare(kind, size_bytes, messages, || ())?);
        stamped_ns = stamped_ns.min(bare(kind, size_bytes, messages, || {
            black_box(clock::now_ns());
        })?);
        ours_ns = ours_ns.min(ours(kind, size_bytes, messages).map_err(io::Error::other)?);
    }
    Ok(Ratios {
        ours: bare_ns as f64 / ours_ns as f64,
        stamped: bare_ns as f64 / stamped_ns as f64,
    })
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

    fn most_buffered(&self, socket: &Socket) -> io::Result<Buffered> {
        Ok(Buffered {
            to_send: socket.send_buffer_size()?,
            to_receive: Some(socket.recv_buffer_size()?),
        })
    }

    fn reports_absence_late(&self) -> bool {
        self.0 == Kind::Datagram
    }
}

/// The CPU time that our publisher's loop takes for so many messages.
fn ours(kind: Kind, size_bytes: usize, messages: u32) -> Result<i64, MiddlewareError> {
    let mut channel = harness::channel(size_bytes);
    channel.subscribers[0].socket = free_address()?;
    let address = SockAddr::from(channel.subscribers[0].socket);
    let mut session = SocketSession::new(Loopback(kind), Delivery::OwnThread, BTreeMap::new(), &address)?;
    pin(Side::Receiver);
    session.subscriber(&channel, harness::receiver(size_bytes, messages))?;
    let publisher = session.publisher(&channel, harness::unheard_match())?;
    let mut flood = Flood::new(publisher, size_bytes, messages);
    let begin_ns = spent_ns();
    flood.run();
    let took_ns = spent_ns() - begin_ns;
    drop(flood);
    Box::new(session).close()?;
    Ok(took_ns)
}

/// The CPU time that a loop of writing and `send` takes for so many messages, with a loop of nothing but `recv` on the
/// other side; `stamp` is called before and after each `send`.
fn bare(kind: Kind, size_bytes: usize, messages: u32, stamp: impl Fn()) -> io::Result<i64> {
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
    // A lost datagram must not keep the loop waiting once the sender is done.
    receiver.set_read_timeout(Some(Duration::from_millis(10)))?;
    let done = Arc::new(AtomicBool::new(false));
    pin(Side::Receiver);
    let thread = std::thread::spawn({
        let done = Arc::clone(&done);
        move || receive_bare(&receiver, &done)
    });
    let bodies = vec![0xA5; size_bytes + BODIES];
    let mut message = vec![0; size_bytes];
    let begin_ns = spent_ns();
    for number in 0..messages as usize {
        let body = number * 64 % BODIES;
        message.copy_from_slice(&bodies[body..body + size_bytes]);
        stamp();
        let sent = sender.send(&message)?;
        stamp();
        debug_assert_eq!(sent, size_bytes);
    }
    let took_ns = spent_ns() - begin_ns;
    done.store(true, Relaxed);
    drop(sender);
    let _ = thread.join();
    Ok(took_ns)
}

fn receive_bare(mut receiver: &Socket, done: &AtomicBool) {
    let mut buffer = vec![0; 64 << 10];
    while io::Read::read(&mut receiver, &mut buffer).is_ok_and(|length| length > 0) || !done.load(Relaxed) {}
}

/// The CPU time of the calling thread.
fn spent_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; each thread has this clock on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
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
