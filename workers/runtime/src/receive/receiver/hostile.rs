//! Whatever a peer sends: each message is counted as one thing, and no sample is one of a message that nobody sent.

use std::sync::atomic::Ordering::Relaxed;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::harness;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::{Identity, Pool};

const SIZE_BYTES: usize = 64;
const TOKEN: u32 = 5;
const SAMPLES: usize = 4;

fn state() -> Arc<ReceiverState> {
    let channel = Channel {
        number: 2,
        ..harness::channel(SIZE_BYTES)
    };
    Arc::new(ReceiverState {
        late_after_ns: 1000,
        verify: Some(Arc::new(Pool::new(TOKEN, SIZE_BYTES))),
        ..ReceiverState::new(channel, TOKEN, 8, SAMPLES)
    })
}

/// A header whose parts are right or anything, and a body of any length, right or not.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let parts = (
        any::<i64>(),
        any::<i64>(),
        0..12u32,
        prop_oneof![0..10u32, any::<u32>()],
    );
    let places = (0..4u16, 0..2u16, any::<u16>(), 0..3u8, 0..3usize);
    (parts, places, vec(any::<u8>(), 0..80)).prop_map(|(parts, (channel, publisher, asker, phase, kind), body)| {
        let header = Header {
            sent_ns: parts.0,
            intended_ns: parts.1,
            sequence: if parts.3 == 3 { u32::MAX } else { parts.2 },
            token: if parts.3 < 9 { TOKEN } else { parts.3 },
            channel: if channel < 3 { 2 } else { channel },
            publisher,
            asker,
            phase: [Phase::Approach, Phase::Window, Phase::Greeting][usize::from(phase)],
        };
        let right = Pool::new(TOKEN, SIZE_BYTES)
            .body(Identity::of(&header), SIZE_BYTES)
            .to_vec();
        match kind {
            0 => body,
            1 => [header.encode().as_slice(), &body].concat(),
            _ => [header.encode().as_slice(), &right].concat(),
        }
    })
}

proptest! {
    #[test]
    fn whatever_message_comes_is_counted_as_one_thing(
        messages in vec((message(), 0..4u8, 1..80usize), 0..40),
    ) {
        let state = state();
        let receiver = Receiver::new(Arc::clone(&state));
        for (message, way, cut) in &messages {
            match way {
                0 => receiver.receive(message),
                1 => receiver.receive_pieces(message.chunks(*cut)),
                2 => receiver.receive_lent(message, || true),
                _ => receiver.receive_slot(message),
            }
        }
        let flow = &state.flows[0];
        let duplicates = flow.duplicates.load(Relaxed);
        let counted = u64::from(flow.arrived()) + duplicates + flow.corrupt.load(Relaxed) + state.foreign.load(Relaxed);
        prop_assert!(counted <= messages.len() as u64);
        let recorded = state.recorder.seal();
        prop_assert_eq!(recorded as u64 + flow.beyond_samples.load(Relaxed), u64::from(flow.arrived()));
        // SAFETY: sealed, and no other thread records.
        let samples = unsafe { state.recorder.samples(recorded) };
        prop_assert!(samples.into_iter().all(|sample| sample.stream == 1 && sample.publisher == 0 && sample.sequence < 64));
    }
}
