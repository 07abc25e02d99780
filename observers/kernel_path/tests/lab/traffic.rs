//! The test's own executable as a sender or a receiver of datagrams or of a stream, in a namespace of its own.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, ExitCode};

const PART: &str = "MIDDLEMARK_TEST_TRAFFIC";
const RECEIVER: &str = "10.98.0.2:7000";
/// The type of frames that no one takes for another's.
const LOCAL_EXPERIMENT: u16 = 0x88b5;

pub(crate) fn is_asked_for() -> bool {
    std::env::var_os(PART).is_some()
}

/// It sends once it is told to, and the receiver must wait already.
pub(crate) fn part(mut command: Command, name: &str, told: &str) -> Command {
    let program = std::env::current_exe().expect("this test");
    command.arg(program).env(PART, format!("{name} {told}"));
    command
}

pub(crate) fn run() -> ExitCode {
    let told = std::env::var(PART).expect("asked for");
    let mut words = told.split(' ');
    let (name, count, size_bytes) = (words.next(), number(words.next()), number(words.next()));
    match name {
        Some("send") => send(count, size_bytes),
        Some("receive") => receive(count),
        Some("pour") => pour(count, size_bytes),
        Some("slip") => slip(count, size_bytes),
        _ => drain(),
    }
    // Its sockets and threads stay until the test ends it.
    drop(io::copy(&mut io::stdin(), &mut io::sink()));
    ExitCode::SUCCESS
}

fn number(word: Option<&str>) -> usize {
    word.and_then(|word| word.parse().ok()).expect("a number")
}

/// Sends from two threads, one after the other, that there are only once it is told to go; each datagram some 500 µs
/// after the one before, so that the receiver waits for most.
fn send(count: usize, size_bytes: usize) {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    socket.connect(RECEIVER).expect("a peer");
    say("waiting");
    io::stdin().read_line(&mut String::new()).expect("a word");
    for half in [count / 2, count - count / 2] {
        let socket = socket.try_clone().expect("the same socket");
        let sending = std::thread::spawn(move || {
            for _ in 0..half {
                socket.send(&vec![7; size_bytes]).expect("sent");
                std::thread::park_timeout(std::time::Duration::from_micros(500));
            }
        });
        sending.join().expect("all sent");
    }
    say("sent");
}

fn receive(count: usize) {
    let socket = UdpSocket::bind(RECEIVER).expect("a socket");
    say("waiting");
    let mut bytes = [0; 2048];
    let received = (0..count).take_while(|_| socket.recv(&mut bytes).is_ok()).count();
    say(&format!("received {received}"));
}

/// Writes faster than the peer has room: the kernel sends most of it later, in whatever context it is in then.
fn pour(count: usize, size_bytes: usize) {
    let mut stream = TcpStream::connect(RECEIVER).expect("a peer");
    say("waiting");
    io::stdin().read_line(&mut String::new()).expect("a word");
    // The socket is known once its first call is back: of a single byte nothing is left to be sent from elsewhere meanwhile.
    stream.write_all(&[7]).expect("written");
    for _ in 0..count {
        stream.write_all(&vec![7; size_bytes]).expect("written");
    }
    drop(stream);
    say("sent");
}

/// Sends a frame as others are sent, and then frames in the one way in which the kernel runs no tracepoint: past all queues.
fn slip(count: usize, size_bytes: usize) {
    let socket = packet_socket().expect("a packet socket");
    say("waiting");
    io::stdin().read_line(&mut String::new()).expect("a word");
    let mut frame = vec![0xff; size_bytes];
    frame[12..14].copy_from_slice(&LOCAL_EXPERIMENT.to_be_bytes());
    for number in 0..=count {
        if number == 1 {
            bypass_queues(&socket).expect("an option of packet sockets");
        }
        // SAFETY: the descriptor is open, and as many bytes are there.
        let sent = unsafe { libc::send(socket.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        assert_eq!(sent, frame.len() as isize, "{}", io::Error::last_os_error());
    }
    say("sent");
}

fn packet_socket() -> io::Result<OwnedFd> {
    // SAFETY: each call gets a descriptor that is open, and the address and size of what lives until it returns.
    unsafe {
        let number = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(number);
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = LOCAL_EXPERIMENT.to_be();
        address.sll_ifindex = libc::if_nametoindex(c"eth0".as_ptr()) as i32;
        let bytes = size_of_val(&address) as libc::socklen_t;
        if libc::bind(number, (&raw const address).cast(), bytes) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }
}

fn bypass_queues(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    let (option, bytes) = ((&raw const on).cast(), size_of_val(&on) as libc::socklen_t);
    // SAFETY: the descriptor is open, and the option is a number that lives until the call returns.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_QDISC_BYPASS,
            option,
            bytes,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn drain() {
    let listener = TcpListener::bind(RECEIVER).expect("a socket");
    say("waiting");
    let (mut stream, _) = listener.accept().expect("a peer");
    let received_bytes = io::copy(&mut stream, &mut io::sink()).expect("all of it");
    say(&format!("received {received_bytes}"));
}

#[expect(clippy::print_stdout, reason = "what it says is what the test hears")]
fn say(word: &str) {
    println!("{word}");
    io::stdout().flush().expect("heard");
}
