use std::sync::Mutex;

use middlemark_contract::{Arrival, PatternSpec, Published, Qos};

use super::*;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::Pool;
use crate::recorder::Recorder;
use crate::send::publish::{Publish, PublishError, Publisher};
use crate::send::stamping_publisher::StampingPublisher;

const SIZE_BYTES: usize = 64;

/// Channel, phase and number of each message, in the order of the calls.
pub(super) type Told = Arc<Mutex<Vec<(u16, Phase, u32)>>>;

struct Telling(Told);

impl Publish for Telling {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        self.0
            .lock()
            .unwrap()
            .push((header.channel, header.phase, header.sequence));
        Ok(())
    }
}

/// A publisher that tells what it sends.
pub(super) fn sender(number: u16, rate_hz: f64, told: &Told, gate: &Arc<WindowGate>) -> Sender {
    let publisher = Publisher::Copying(Box::new(Telling(Arc::clone(told))));
    Sender {
        stream: format!("s{number}"),
        pattern: PatternSpec::Periodic {
            rate_hz,
            arrival: Arrival::Fixed,
        },
        channel: Channel {
            topic: format!("s{number}"),
            number,
            size_bytes: SIZE_BYTES,
            recorded: None,
            rate_hz,
            qos: Qos::RELIABLE,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            index: 0,
        },
        publisher: StampingPublisher::new(publisher, SIZE_BYTES, None, Arc::new(Pool::new(7, SIZE_BYTES))),
        token: 7,
        spin_ns: 0,
        messages: 1000,
        recorder: Arc::new(Recorder::new(1000, Published::default())),
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::clone(gate),
    }
}

#[test]
fn a_shared_thread_sends_every_message_of_each_in_the_order_in_which_they_are_due() {
    let (told, gate) = (Told::default(), Arc::<WindowGate>::default());
    let rates_hz = [1000.0, 500.0, 200.0];
    let senders: Vec<_> = (0..)
        .zip(rates_hz)
        .map(|(number, rate_hz)| sender(2 * number, rate_hz, &told, &gate))
        .collect();
    let recorders: Vec<_> = senders.iter().map(|sender| Arc::clone(&sender.recorder)).collect();
    let begin_ns = clock::now_ns();
    gate.open(Window::joined_at(begin_ns, begin_ns, begin_ns + 20_000_000));
    let finished = PublisherThread::of(senders, &gate).run(begin_ns).unwrap();
    let sent: Vec<_> = finished
        .iter()
        .map(|Finished { counts, .. }| (counts.stream.as_str(), counts.intended, counts.sent))
        .collect();
    assert_eq!(sent, [("s0", 20, 20), ("s2", 10, 10), ("s4", 4, 4)]);
    let schedules = rates_hz.map(|rate_hz| (crate::send::schedule::Schedule::every(rate_hz, begin_ns), u32::MAX));
    let due: Vec<_> = Schedules::of(schedules.into_iter())
        .take_while(|due| due.intended_ns < begin_ns + 20_000_000)
        .collect();
    let expected: Vec<_> = due
        .iter()
        .map(|due| (2 * due.publisher as u16, Phase::Window, due.sequence))
        .collect();
    assert_eq!(*told.lock().unwrap(), expected);
    for (publisher, recorder) in recorders.iter().enumerate() {
        // SAFETY: sealed, and the thread's work is over.
        let recorded: Vec<_> = unsafe { recorder.samples(recorder.seal()) }.collect();
        let own: Vec<_> = due
            .iter()
            .filter(|due| due.publisher == publisher)
            .map(|due| due.intended_ns)
            .collect();
        assert_eq!(
            recorded.iter().map(|message| message.intended_ns).collect::<Vec<_>>(),
            own
        );
        assert!(recorded.iter().all(|message| message.sent_ns >= message.intended_ns));
    }
}

#[test]
fn all_publishers_of_a_shared_thread_greet_until_the_trial_is_given_up() {
    let (told, gate) = (Told::default(), Arc::<WindowGate>::default());
    let senders = [0, 2].map(|number| sender(number, 1.0, &told, &gate)).into();
    let publishing = PublisherThread::of(senders, &gate);
    let thread = std::thread::spawn(move || publishing.run(clock::now_ns()));
    while told.lock().unwrap().len() < 4 {
        std::thread::yield_now();
    }
    gate.abandon();
    assert!(thread.join().unwrap().is_none());
    let told = told.lock().unwrap();
    let expected = [(0, 0), (2, 0), (2, 1), (0, 1)].map(|(channel, sequence)| (channel, Phase::Greeting, sequence));
    assert_eq!(told[..4], expected);
}

#[test]
fn where_only_a_few_greetings_of_a_round_have_room_each_publisher_soon_has_its_turn() {
    for publishers in [2, 11, 23, 64] {
        let room = usize::max(1, publishers / 6);
        let mut heard = vec![false; publishers];
        for round in 0..2 * (publishers / room) as u32 {
            let first = first_of(round, publishers);
            (first..first + room).for_each(|place| heard[place % publishers] = true);
        }
        assert!(heard.iter().all(|heard| *heard), "{publishers}: {heard:?}");
    }
}
