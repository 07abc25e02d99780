//! A channel: what the middleware sees of a stream. One whose messages are answered has two.
//!
//! It gives a port of the trial's range to whatever the worker says needs one, so that a baseline needs no discovery; it
//! knows no middleware.

use std::sync::Arc;

use middlemark_contract::{
    ApplicationSpec, PaceSpec, PatternSpec, PortHolders, Qos, Recorded, Refusal, Rendezvous, Role, StreamSpec,
};

use crate::message::header::{HEADER_BYTES, PHASE_AT, Phase, SEQUENCE_AT};
use crate::message::ports::{ChannelEndpoint, Ports};

/// One topic as a middleware sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The topic's name: unique on this machine, letters, digits and `_`.
    pub topic: String,
    /// A number unique within the trial, from 0 without gaps.
    pub number: u16,
    /// The size of its messages, of the largest where they were recorded.
    pub size_bytes: usize,
    /// The instants and sizes of its messages, where they were recorded.
    pub recorded: Option<Arc<Recorded>>,
    /// How many messages a second its publishers send at most by schedule; infinite where they send as fast as they can.
    pub rate_hz: f64,
    /// The requested QoS.
    pub qos: Qos,
    /// Every publisher, by index.
    pub publishers: Vec<ChannelEndpoint>,
    /// Every subscriber, by index.
    pub subscribers: Vec<ChannelEndpoint>,
    /// In the hands of a session: the index of the endpoint that is being made.
    pub index: u16,
}

impl Channel {
    /// The position of its stream in the spec.
    pub(crate) fn stream(&self) -> usize {
        usize::from(self.number / 2)
    }

    /// Whether its messages are answers.
    pub(crate) fn carries_answers(&self) -> bool {
        self.number % 2 == 1
    }

    /// The topics of the stream at a position of the spec: of its messages, and of the answers where it has any. A stream
    /// may be named for another's answers: the number makes the topics two.
    #[must_use]
    pub fn topics(rendezvous: &Rendezvous, position: usize, stream: &str) -> [String; 2] {
        [0, 1].map(|answers| format!("{}_{}_{stream}", rendezvous.name, 2 * position + answers))
    }

    /// All channels of a trial: stream k is number 2k, its answers 2k + 1; a stream without answers leaves no gap in ports.
    ///
    /// # Errors
    /// The trial's range has too few ports.
    pub fn of(spec: &ApplicationSpec, holders: PortHolders) -> Result<Vec<Channel>, Refusal> {
        let mut ports = Ports::of(&spec.rendezvous, holders);
        let mut channels = Vec::new();
        for (position, stream) in spec.streams.iter().enumerate() {
            let number = 2 * position as u16;
            let [topic, answers_topic] = Channel::topics(&spec.rendezvous, position, &stream.name);
            let publishers = ports.given(&stream.publishers, Role::Publisher)?;
            let subscribers = ports.given(&stream.subscribers, Role::Subscriber)?;
            channels.push(Channel {
                topic,
                number,
                size_bytes: stream.size_bytes as usize,
                recorded: stream.recorded.clone().map(Arc::new),
                rate_hz: scheduled_rate_hz(stream),
                qos: stream.qos,
                publishers,
                subscribers,
                index: 0,
            });
            if let Some(answer_bytes) = stream.pattern.answer_bytes() {
                channels.push(Channel {
                    topic: answers_topic,
                    number: number + 1,
                    size_bytes: answer_bytes as usize,
                    recorded: None,
                    rate_hz: f64::INFINITY,
                    qos: stream.qos,
                    publishers: ports.given(&stream.subscribers, Role::Publisher)?,
                    subscribers: ports.given(&stream.publishers, Role::Subscriber)?,
                    index: 0,
                });
            }
        }
        Ok(channels)
    }

    /// This channel as one of its endpoints sees it.
    #[must_use]
    pub fn at(&self, index: u16) -> Channel {
        Channel { index, ..self.clone() }
    }

    /// The size of a publisher's message by its phase and its sequence number.
    #[must_use]
    #[inline]
    pub fn message_bytes(&self, phase: Phase, sequence: u32) -> usize {
        if phase == Phase::Greeting {
            return HEADER_BYTES;
        }
        self.recorded.as_deref().map_or(self.size_bytes, |recorded| {
            recorded.size_bytes(u64::from(sequence)) as usize
        })
    }

    /// The size of the message that begins with these bytes, for transports that don't keep messages apart by themselves;
    /// none where its header is not whole.
    #[must_use]
    #[inline]
    pub fn bytes_of(&self, begun: &[u8]) -> Option<usize> {
        let header: &[u8; HEADER_BYTES] = begun.first_chunk()?;
        let phase = match header[PHASE_AT] {
            greeting if greeting == Phase::Greeting as u8 => Phase::Greeting,
            _ => Phase::Window, // all others have one size
        };
        let sequence = header[SEQUENCE_AT..]
            .first_chunk()
            .map(|bytes| u32::from_le_bytes(*bytes))?;
        Some(self.message_bytes(phase, sequence))
    }

    /// How many messages of it may be queued or kept for one slow receiver, where a queue is counted in messages.
    #[must_use]
    pub fn queued_messages(&self) -> usize {
        self.qos.queued_messages(self.size_bytes as u64) as usize
    }

    /// How many bytes of it may be queued or kept for one slow receiver, where a queue is counted in bytes.
    #[must_use]
    pub fn queued_bytes(&self) -> usize {
        self.qos.queued_bytes(self.size_bytes as u64) as usize
    }

    /// The endpoint with this channel's own index.
    #[must_use]
    pub fn own(&self, role: Role) -> &ChannelEndpoint {
        match role {
            Role::Publisher => &self.publishers[usize::from(self.index)],
            Role::Subscriber => &self.subscribers[usize::from(self.index)],
        }
    }
}

fn scheduled_rate_hz(stream: &StreamSpec) -> f64 {
    match stream.pattern {
        PatternSpec::Periodic { rate_hz, .. }
        | PatternSpec::RequestResponse {
            pace: PaceSpec::Open { rate_hz, .. },
            ..
        } => rate_hz,
        PatternSpec::Burst { rate_hz, messages } => rate_hz * f64::from(messages),
        PatternSpec::Computed { rate_hz } => rate_hz.unwrap_or(f64::INFINITY),
        PatternSpec::Unthrottled { .. } | PatternSpec::PingPong { .. } | PatternSpec::RequestResponse { .. } => {
            f64::INFINITY
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::harness;

    fn ping_pong(name: &str) -> Value {
        let endpoint = json!({"application": "a", "address": "127.0.0.1"});
        json!({
            "name": name, "size_bytes": 64, "publishers": [endpoint], "subscribers": [endpoint],
            "pattern": {
                "kind": "ping_pong", "approach_hz": 1.0, "answer_bytes": 64, "interval_ns": 0, "patience_ns": 1, "messages": null,
            },
            "qos": Qos::RELIABLE,
        })
    }

    fn spec(streams: &[Value]) -> ApplicationSpec {
        let spec = json!({
            "contract_version": 2, "application": "a", "delivery": "own_thread", "address": "127.0.0.1", "interface": "lo",
            "rendezvous": {"name": "m", "token": 1, "domain": 0, "first_port": 1000, "ports": 100, "folder": "/"},
            "services": [], "profile": "default", "options": {}, "clock_offset_ns": 0, "verify": false,
            "streams": streams, "endpoints": [],
            "recording": {"samples": 0, "messages": 0, "late_after_ns": 0, "folder": "/"},
            "placement": {"cpus": [], "scheduling": {"kind": "other"}, "spin_ns": 0},
        });
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn every_channel_has_a_topic_of_its_own_however_streams_are_named() {
        let streams = ["x", "x_answers", "1_x", "0_x", "x_1"].map(ping_pong);
        let channels = Channel::of(&spec(&streams), PortHolders::Nothing).unwrap();
        let topics: BTreeSet<_> = channels.iter().map(|channel| &channel.topic).collect();
        assert_eq!((channels.len(), topics.len()), (10, 10), "{topics:?}");
    }

    fn begun(phase: Phase, sequence: u8) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        (header[SEQUENCE_AT], header[PHASE_AT]) = (sequence, phase as u8);
        header
    }

    #[test]
    fn a_greeting_is_the_header_alone_whatever_the_size_of_messages() {
        let fixed = harness::channel(1000);
        let recorded = Channel {
            recorded: Some(Arc::new(Recorded {
                offsets_ns: vec![0, 5],
                sizes_bytes: vec![400, 1000],
                period_ns: 10,
            })),
            ..fixed.clone()
        };
        for (channel, sizes) in [(fixed, [1000, 1000]), (recorded, [400, 1000])] {
            for (sequence, size_bytes) in (0..).zip(sizes) {
                assert_eq!(channel.bytes_of(&begun(Phase::Greeting, sequence)), Some(HEADER_BYTES));
                assert_eq!(channel.bytes_of(&begun(Phase::Approach, sequence)), Some(size_bytes));
                assert_eq!(channel.bytes_of(&begun(Phase::Window, sequence)), Some(size_bytes));
            }
            assert_eq!(channel.bytes_of(&[0; HEADER_BYTES - 1]), None);
        }
    }
}
