use std::sync::Mutex;
use std::time::{Duration, Instant};

use middlemark_contract::{Arrival, Qos};

use super::*;
use crate::message::payload::Pool;
use crate::send::fake_publishers::one_of_each;
use crate::send::publish::{Publish, PublishError, Publisher};
use crate::send::publisher_thread::PublisherThread;

mod flushed;
mod joined;
mod refused;

const SIZE_BYTES: usize = 64;
const MESSAGES: u32 = 1000;

struct Noting {
    numbers: Arc<Mutex<Vec<u32>>>,
    call_ns: i64,
}

impl Publish for Noting {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        if header.phase == Phase::Window {
            self.numbers.lock().unwrap().push(header.sequence);
        }
        clock::sleep_until(clock::now_ns() + self.call_ns);
        Ok(())
    }
}

struct Sent {
    numbers: Arc<Mutex<Vec<u32>>>,
    gate: Arc<WindowGate>,
}

fn sender(pattern: PatternSpec) -> (Sender, Sent) {
    slow_sender(pattern, 0)
}

/// A sender whose publish calls take so long at least.
fn slow_sender(pattern: PatternSpec, call_ns: i64) -> (Sender, Sent) {
    let numbers = Arc::default();
    let publisher = Noting {
        numbers: Arc::clone(&numbers),
        call_ns,
    };
    let sender = sender_with(pattern, Publisher::Copying(Box::new(publisher)));
    let gate = Arc::clone(&sender.gate);
    (sender, Sent { numbers, gate })
}

fn sender_with(pattern: PatternSpec, publisher: Publisher) -> Sender {
    Sender {
        stream: "s".into(),
        pattern,
        channel: Channel {
            topic: "s".into(),
            number: 0,
            size_bytes: SIZE_BYTES,
            recorded: None,
            rate_hz: 1.0,
            qos: Qos::RELIABLE,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            index: 0,
        },
        publisher: StampingPublisher::new(publisher, SIZE_BYTES, None, Arc::new(Pool::new(7, SIZE_BYTES))),
        token: 7,
        spin_ns: 0,
        messages: MESSAGES,
        recorder: Arc::new(Recorder::new(MESSAGES as usize, Published::default())),
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::default(),
    }
}

fn run(sender: Sender, start_ns: i64) -> Option<PublisherCounts> {
    let gate = Arc::clone(&sender.gate);
    let finished = PublisherThread::of(vec![sender], &gate).run(start_ns)?;
    finished.into_iter().next().map(|finished| finished.counts)
}

fn periodic(rate_hz: f64, arrival: Arrival) -> PatternSpec {
    PatternSpec::Periodic { rate_hz, arrival }
}

#[test]
fn a_publisher_that_waits_for_its_next_instant_stops_when_the_trial_is_given_up() {
    let (sender, sent) = sender(periodic(0.02, Arrival::Fixed));
    let begin_ns = clock::now_ns();
    let window = Window::joined_at(begin_ns, begin_ns, begin_ns + 100_000_000_000);
    sent.gate.open(window);
    let publisher = std::thread::spawn(move || run(sender, begin_ns));
    while sent.numbers.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let given_up = Instant::now();
    sent.gate.abandon();
    let counts = publisher.join().unwrap().unwrap();
    assert_eq!(counts.intended, 1);
    assert!(given_up.elapsed() < Duration::from_secs(10), "{:?}", given_up.elapsed());
}

#[test]
fn an_overload_is_over_after_some_windows_and_counts_what_it_did_not_offer() {
    let (sender, sent) = slow_sender(periodic(1000.0, Arrival::Fixed), 20_000_000);
    let now_ns = clock::now_ns();
    sent.gate.open(Window::joined_at(now_ns, now_ns, now_ns + 100_000_000));
    let counts = run(sender, now_ns).unwrap();
    let numbers = sent.numbers.lock().unwrap().clone();
    // Twenty calls fit into four windows; a busy machine makes them fewer.
    assert!((2..=20).contains(&numbers.len()), "{numbers:?}");
    assert_eq!(numbers, (0..counts.sent).collect::<Vec<_>>());
    assert_eq!(
        (counts.intended, counts.refused, counts.unsent),
        (100, 0, 100 - counts.sent)
    );
    assert!(counts.last_returned_ns as i64 >= now_ns + 400_000_000);
}

#[test]
fn who_is_behind_when_the_window_opens_leaves_out_what_lies_before_it() {
    let (sender, sent) = slow_sender(periodic(1000.0, Arrival::Fixed), 20_000_000);
    let start_ns = clock::now_ns();
    let begin_ns = start_ns + 60_000_000;
    sent.gate
        .open(Window::joined_at(start_ns, begin_ns, begin_ns + 10_000_000));
    let counts = run(sender, start_ns).unwrap();
    // Sixty messages of 20 ms each would lie before it, of which three can go out.
    assert_eq!((counts.intended, counts.sent > 0), (10, true));
}

/// What a publisher of a kind records of a burst of large messages, all due at once.
fn burst(publisher: Publisher) -> Vec<Published> {
    const LARGE_BYTES: usize = 1 << 20;
    let (sender, sent) = sender(PatternSpec::Burst {
        rate_hz: 1.0,
        messages: 5,
    });
    let recorder = Arc::clone(&sender.recorder);
    let sender = Sender {
        publisher: StampingPublisher::new(publisher, LARGE_BYTES, None, Arc::new(Pool::new(7, LARGE_BYTES))),
        channel: Channel {
            size_bytes: LARGE_BYTES,
            ..sender.channel
        },
        ..sender
    };
    let now_ns = clock::now_ns();
    sent.gate.open(Window::joined_at(now_ns, now_ns, now_ns + 100_000_000));
    run(sender, now_ns).unwrap();
    let count = recorder.seal();
    // SAFETY: sealed, and the sender is gone.
    unsafe { recorder.samples(count) }.collect()
}

#[test]
fn a_message_that_waits_for_others_to_be_filled_is_no_later_for_it() {
    for (kind, publisher, notes) in one_of_each() {
        let published = burst(publisher);
        assert_eq!(published.len(), 5, "{kind}");
        for (before, after) in published.iter().zip(&published[1..]) {
            // All that filling took so far delays it, and its own.
            assert!(after.fill_ns > before.fill_ns, "{kind}: {published:?}");
            // Without filling it would have been sent when the call before it came back, or a little later.
            let late_ns = |message: &Published| message.sent_ns - message.intended_ns - message.fill_ns;
            assert!(
                late_ns(after) >= late_ns(before) + before.returned_ns - before.sent_ns,
                "{kind}: {published:?}"
            );
            assert!(late_ns(before) >= 0, "{kind}: {published:?}");
        }
        for (message, call) in published.iter().zip(notes.calls()) {
            assert_eq!(call.header.intended_ns, message.intended_ns + message.fill_ns, "{kind}");
        }
    }
}

#[test]
fn filling_delays_no_message_that_did_not_wait_for_it() {
    let filling = |returned_ns| Filling {
        fill_ns: 30,
        returned_ns,
    };
    let delays = [90, 110, 200].map(|returned_ns| filling(returned_ns).delays_ns(100));
    assert_eq!(delays, [0, 10, 30]);
}

/// Tells the phase and the size of each message.
struct Telling(std::sync::mpsc::Sender<(Phase, usize)>);

impl Publish for Telling {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        self.0
            .send((header.phase, message.len()))
            .map_err(|_| PublishError::NotConnected)
    }
}

#[test]
fn greetings_do_not_wait_for_the_period_and_the_first_full_message_follows_them_at_once() {
    let (mut sender, sent) = sender(periodic(1.0 / 3600.0, Arrival::Fixed));
    let (said, told) = std::sync::mpsc::channel();
    let publisher = Publisher::Copying(Box::new(Telling(said)));
    sender.publisher = StampingPublisher::new(publisher, SIZE_BYTES, None, Arc::new(Pool::new(7, SIZE_BYTES)));
    let thread = std::thread::spawn(move || run(sender, clock::now_ns()));
    for _ in 0..3 {
        assert_eq!(told.recv(), Ok((Phase::Greeting, 32)));
    }
    sent.gate.approach_from(clock::now_ns());
    let full = told.iter().find(|(phase, _)| *phase != Phase::Greeting);
    assert_eq!(full, Some((Phase::Approach, SIZE_BYTES)));
    sent.gate.abandon();
    assert!(thread.join().unwrap().is_none());
    assert_eq!(told.iter().next(), None, "another message within the hour");
}
