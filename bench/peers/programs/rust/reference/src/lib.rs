//! What the reference programs have in common: how they are called, what they time, what they print, when they end.
//!
//! `PROGRAM ping|pong|flood|count SIZE_BYTES SECONDS DELIVERY RELIABILITY [written]`: `ping` prints each round trip in
//! nanoseconds, `count` how many messages came in how many nanoseconds; all others end with their standard input. It knows no
//! middleware, and shares no code with our workers, beside which these programs run.

use std::env;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const WARM_UP: Duration = Duration::from_millis(500);
const MATCHING: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(5);
const MOST_ROUND_TRIPS: usize = 20_000_000;

/// What the program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It asks, and waits for each answer.
    Ping,
    /// It answers.
    Pong,
    /// It sends as fast as it can.
    Flood,
    /// It counts what arrives.
    Count,
}

/// A folder that both ends have for themselves.
#[must_use]
pub fn folder() -> PathBuf {
    env::var_os("BENCH_PEERS_FOLDER").map_or_else(env::temp_dir, PathBuf::from)
}

/// What it was told.
#[derive(Debug)]
pub struct Task {
    /// What it does.
    pub role: Role,
    /// How large each message is.
    pub size_bytes: usize,
    /// `library_thread`, `own_thread` or `polling`.
    pub delivery: String,
    /// Whether messages must not be lost.
    pub reliable: bool,
    /// Whether each message is written and read, where the method that is followed does neither.
    pub written: bool,
    /// A folder that both ends have for themselves.
    pub folder: PathBuf,
    time: Duration,
    over: Arc<AtomicBool>,
    end: Receiver<()>,
}

impl Task {
    /// From the command line.
    #[must_use]
    pub fn told() -> Task {
        let words: Vec<String> = env::args().collect();
        let [_, role, size, seconds, delivery, reliability, rest @ ..] = words.as_slice() else {
            panic!("PROGRAM ping|pong|flood|count SIZE_BYTES SECONDS DELIVERY RELIABILITY [written]");
        };
        let role = match role.as_str() {
            "ping" => Role::Ping,
            "pong" => Role::Pong,
            "flood" => Role::Flood,
            "count" => Role::Count,
            other => panic!("'{other}' is none of ping, pong, flood, count"),
        };
        let (ended, end) = channel();
        let over = Arc::new(AtomicBool::new(false));
        std::thread::spawn({
            let over = Arc::clone(&over);
            move || end_with_standard_input(&over, &ended)
        });
        Task {
            role,
            size_bytes: size.parse().expect("a number of bytes"),
            delivery: delivery.clone(),
            reliable: reliability == "reliable",
            written: rest.iter().any(|word| word == "written"),
            folder: folder(),
            time: Duration::from_secs_f64(seconds.parse().expect("a number of seconds")),
            over,
            end,
        }
    }

    /// Whether the standard input has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Until the standard input ends.
    pub fn rest(&self) {
        let _ = self.end.recv();
    }

    /// Asks until an answer comes, then times each round trip and prints all of them; `answered` waits at most so long.
    pub fn ask(&self, mut send: impl FnMut(), mut answered: impl FnMut(Duration) -> bool) {
        send();
        while !answered(MATCHING) {
            send();
        }
        while answered(MATCHING) {}
        let mut taken = Vec::with_capacity(MOST_ROUND_TRIPS);
        let begin = Instant::now();
        loop {
            let asked_at = Instant::now();
            send();
            assert!(answered(PATIENCE), "no answer for {PATIENCE:?}");
            let took = asked_at.elapsed();
            let since_begin = asked_at - begin;
            if since_begin > WARM_UP + self.time {
                break;
            }
            if since_begin > WARM_UP && taken.len() < MOST_ROUND_TRIPS {
                taken.push(took.as_nanos());
            }
        }
        let lines: Vec<String> = taken.iter().map(u128::to_string).collect();
        print(&lines.join("\n"));
    }

    /// Sends without a pause.
    pub fn flood(&self, mut send: impl FnMut()) {
        while !self.is_over() {
            send();
        }
    }

    /// Waits for the first message, lets it run, and prints how many `counted` were.
    pub fn count(&self, counted: &AtomicU64) {
        while counted.load(Relaxed) == 0 && !self.is_over() {
            self.pause(Duration::from_millis(1));
        }
        self.pause(WARM_UP);
        let (begin, before) = (Instant::now(), counted.load(Relaxed));
        self.pause(self.time);
        let (messages, time) = (counted.load(Relaxed) - before, begin.elapsed());
        print(&format!("{messages} {}\n", time.as_nanos()));
    }

    /// Passes so much time, or less where the standard input ends.
    pub fn pause(&self, time: Duration) {
        let _ = self.end.recv_timeout(time);
    }
}

fn end_with_standard_input(over: &AtomicBool, ended: &Sender<()>) {
    let mut rest = Vec::new();
    let _ = io::stdin().read_to_end(&mut rest);
    over.store(true, Relaxed);
    let _ = ended.send(());
}

fn print(text: &str) {
    io::stdout()
        .write_all(text.as_bytes())
        .expect("standard output can be written");
}
