//! What a node is made of here: its spec, and outputs that note what they send.

use std::sync::Mutex;

use middlemark_contract::{ComputeSpec, NodeInput, NodeOutput, PatternSpec, Published, TakeSpec};

use super::super::*;
use crate::harness;
use crate::message::channel::Channel;
use crate::message::header::{Header, Phase};
use crate::message::payload::Pool;
use crate::recorder::Recorder;
use crate::send::publish::{Publish, PublishError, Publisher};
use crate::send::sender::{Filling, Sender};
use crate::send::stamping_publisher::StampingPublisher;

const SIZE_BYTES: usize = 64;

/// Notes the phase and the number of each message.
struct Noting(Arc<Mutex<Vec<(Phase, u32)>>>);

impl Publish for Noting {
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError> {
        let header = Header::decode(message[..32].try_into().unwrap()).unwrap();
        self.0.lock().unwrap().push((header.phase, header.sequence));
        Ok(())
    }
}

pub(super) fn message() -> Header {
    Header {
        sent_ns: clock::now_ns(),
        intended_ns: 0,
        sequence: 0,
        token: 0,
        channel: 0,
        publisher: 0,
        asker: 0,
        phase: Phase::Window,
    }
}

pub(super) fn spec(trigger: TriggerSpec, takes: &[TakeSpec], time_ns: u64) -> NodeSpec {
    let inputs = (0..).zip(takes).map(|(index, take)| NodeInput {
        stream: format!("s{index}"),
        index,
        take: *take,
    });
    NodeSpec {
        name: "n".into(),
        number: 3,
        trigger,
        compute: ComputeSpec::Constant { time_ns },
        seed: 0,
        inputs: inputs.collect(),
        outputs: vec![NodeOutput {
            stream: "out".into(),
            index: 0,
        }],
    }
}

pub(super) fn sender(gate: &Arc<WindowGate>, sent: &Arc<Mutex<Vec<(Phase, u32)>>>) -> Sender {
    Sender {
        stream: "out".into(),
        pattern: PatternSpec::Computed { rate_hz: None },
        channel: Channel {
            number: 8,
            ..harness::channel(SIZE_BYTES)
        },
        publisher: StampingPublisher::new(
            Publisher::Copying(Box::new(Noting(Arc::clone(sent)))),
            SIZE_BYTES,
            None,
            Arc::new(Pool::new(7, SIZE_BYTES)),
        ),
        token: 0,
        spin_ns: 0,
        messages: 1000,
        recorder: Arc::new(Recorder::new(1000, Published::default())),
        refusal: None,
        sent: 0,
        filling: Filling::default(),
        gate: Arc::clone(gate),
    }
}
