use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::harness;
use crate::message::header::{Header, Phase};
use crate::message::payload::{Identity, Pool};
use crate::receive::flow::First;

const SIZE_BYTES: usize = 100;

fn state(first: Arc<Mutex<Vec<(First, u16)>>>) -> Arc<ReceiverState> {
    let mut channel = harness::channel(SIZE_BYTES);
    (channel.number, channel.index) = (2, 1);
    channel.publishers.push(channel.publishers[0].clone());
    Arc::new(ReceiverState {
        late_after_ns: 1_000_000_000,
        verify: Some(Arc::new(Pool::new(5, SIZE_BYTES))),
        on_first: Box::new(move |kind, publisher, _| first.lock().unwrap().push((kind, publisher))),
        ..ReceiverState::new(channel, 5, 10, 2)
    })
}

fn message(publisher: u16, sequence: u32, change: impl Fn(&mut Header)) -> Vec<u8> {
    let mut header = Header {
        sent_ns: clock::now_ns(),
        intended_ns: 1,
        sequence,
        token: 5,
        channel: 2,
        publisher,
        asker: 0,
        phase: Phase::Window,
    };
    let pool = Pool::new(5, SIZE_BYTES);
    let body = pool.body(Identity::of(&header), SIZE_BYTES).to_vec();
    change(&mut header);
    [header.encode().as_slice(), &body].concat()
}

#[test]
fn messages_in_any_number_of_pieces_are_recorded_and_beyond_the_memory_counted() {
    let first = Arc::new(Mutex::new(Vec::new()));
    let state = state(Arc::clone(&first));
    let receiver = Receiver::new(Arc::clone(&state));
    receiver.receive(&message(0, 0, |_| {}));
    receiver.receive_pieces(message(1, 0, |_| {}).chunks(9));
    receiver.receive(&message(1, 1, |_| {}));
    let firsts = [0, 1].map(|publisher| [(First::Message, publisher), (First::FullMessage, publisher)]);
    assert_eq!(*first.lock().unwrap(), firsts.concat());
    let count = state.recorder.seal();
    // SAFETY: sealed, and no other thread records.
    let samples: Vec<_> = unsafe { state.recorder.samples(count) }.collect();
    let flows: Vec<_> = samples
        .iter()
        .map(|sample| (sample.stream, sample.publisher, sample.subscriber))
        .collect();
    assert_eq!(flows, [(1, 0, 1), (1, 1, 1)]);
    assert!(
        samples
            .iter()
            .all(|sample| sample.received_ns >= sample.sent_ns && sample.answer == 0)
    );
    assert_eq!(state.flows[1].beyond_samples.load(Relaxed), 1);
    assert_eq!(state.overflow[1].counts().count(), 1);
}

#[test]
fn what_is_wrong_is_counted_by_what_is_wrong_with_it() {
    let state = state(Arc::default());
    let receiver = Receiver::new(Arc::clone(&state));
    receiver.receive(b"too short");
    receiver.receive(&message(0, 0, |header| header.token = 6));
    receiver.receive(&message(0, 0, |header| header.channel = 4));
    receiver.receive(&message(7, 0, |_| {}));
    assert_eq!(state.foreign.load(Relaxed), 4);
    receiver.receive(&message(0, 0, |header| header.sequence = 1));
    receiver.receive(&message(0, 0, |_| {})[..99]);
    assert_eq!(state.flows[0].corrupt.load(Relaxed), 2);
    receiver.receive(&message(0, 0, |header| header.sent_ns = i64::MAX));
    assert_eq!(state.flows[0].negative.load(Relaxed), 1);
    receiver.receive(&message(0, 1, |header| header.sent_ns -= 2_000_000_000));
    receiver.receive(&message(0, 2, |header| header.sent_ns = i64::MIN));
    assert_eq!((state.flows[0].late.load(Relaxed), state.flows[0].arrived()), (2, 3));
    assert_eq!(state.flows[0].negative.load(Relaxed), 1);
}

#[test]
fn greetings_and_the_approach_are_noticed_but_not_counted() {
    let firsts = Arc::new(Mutex::new(Vec::new()));
    let state = state(Arc::clone(&firsts));
    let receiver = Receiver::new(Arc::clone(&state));
    let mut expected = vec![(First::Message, 0)];
    for _ in 0..2 {
        receiver.receive(&message(0, 0, |header| header.phase = Phase::Greeting)[..HEADER_BYTES]);
    }
    assert_eq!(*firsts.lock().unwrap(), expected);
    for _ in 0..2 {
        receiver.receive(&message(0, 0, |header| header.phase = Phase::Approach));
    }
    expected.push((First::FullMessage, 0));
    assert_eq!(*firsts.lock().unwrap(), expected);
    assert_eq!((state.flows[0].arrived(), state.foreign.load(Relaxed)), (0, 0));
}

#[test]
fn a_lent_message_that_was_written_over_while_it_was_read_is_lost() {
    let first = Arc::new(Mutex::new(Vec::new()));
    let state = state(Arc::clone(&first));
    let receiver = Receiver::new(Arc::clone(&state));
    let (whole, broken) = (message(0, 0, |_| {}), message(1, 0, |header| header.sequence = 1));
    receiver.receive_lent(&whole, || false);
    assert!(first.lock().unwrap().is_empty());
    // Valid when its header had been read, and no more when its body had.
    let asked = std::cell::Cell::new(0);
    receiver.receive_lent(&broken, || asked.replace(asked.get() + 1) == 0);
    assert_eq!(state.flows[1].corrupt.load(Relaxed), 0);
    receiver.receive_lent(&broken, || true);
    assert_eq!(state.flows[1].corrupt.load(Relaxed), 1);
    receiver.receive_lent(&whole, || true);
    assert_eq!((state.flows[0].arrived(), state.flows[1].arrived()), (1, 0));
}

#[test]
fn a_lent_message_too_short_for_a_header_is_foreign() {
    let state = state(Arc::default());
    Receiver::new(Arc::clone(&state)).receive_lent(b"too short", || true);
    assert_eq!(state.foreign.load(Relaxed), 1);
}
