//! The test's own executable as a sender or a receiver of datagrams or of a stream, in a namespace of its own.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Command, ExitCode};

const PART: &str = "MIDDLEMARK_TEST_TRAFFIC";
const RECEIVER: &str = "10.98.0.2:7000";

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
