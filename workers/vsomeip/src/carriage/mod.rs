//! Which way a channel's messages go, and what can't go that way.
//!
//! Pure: it reads the channel and the options. vSomeIP itself decides between local and remote, by host alone; between hosts
//! the reliability of event or request decides between TCP and UDP, and this is where that is chosen.

use std::collections::BTreeSet;
use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, MessagePath, PatternSpec, Refusal, Reliability, StreamSpec};
use middlemark_runtime::{Channel, Options};

/// The largest payload of a UDP message that is not segmented: `VSOMEIP_MAX_UDP_MESSAGE_SIZE` (1416, from the SOME/IP
/// specification) less the header of 16 bytes.
pub(crate) const LARGEST_UDP_BYTES: usize = 1400;

/// How an event reaches its subscribers, and a request its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Carriage {
    /// Over Unix sockets, from application to application.
    Local,
    /// Over TCP, from routing manager to routing manager.
    Tcp,
    /// Over UDP, from routing manager to routing manager.
    Udp,
}

impl Carriage {
    /// In the words of the option `transport`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Carriage::Local => "local",
            Carriage::Tcp => "tcp",
            Carriage::Udp => "udp",
        }
    }

    pub(crate) fn path(self) -> MessagePath {
        match self {
            Carriage::Local => MessagePath::LocalSocket,
            Carriage::Tcp | Carriage::Udp => MessagePath::Network,
        }
    }
}

/// Decides the way of a channel.
///
/// # Errors
/// The refusal of a transport that vSomeIP would not take, or of a message that does not fit into it.
pub(crate) fn accept(channel: &Channel, options: &Options) -> Result<Carriage, Refusal> {
    let carriage = choose(channel, options.text("transport"))?;
    let is_limited = carriage == Carriage::Udp && !options.boolean("someip_tp");
    if is_limited && channel.size_bytes > LARGEST_UDP_BYTES {
        return Err(refusal(
            "size_bytes",
            format!(
                "{} bytes on '{}': a SOME/IP message over UDP carries at most {LARGEST_UDP_BYTES} bytes unless the option \
                 someip_tp segments it",
                channel.size_bytes,
                stream_of(channel)
            ),
        ));
    }
    Ok(carriage)
}

/// Refuses one-way messages to several, where they are requests: a request goes to one server.
///
/// # Errors
/// The refusal, with the stream.
pub(crate) fn accept_calls(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let takers = |stream: &StreamSpec| match stream.pattern {
        PatternSpec::RequestResponse { .. } => 1,
        PatternSpec::PingPong { .. } => stream.subscribers.len().max(stream.publishers.len()),
        _ => stream.subscribers.len(),
    };
    let spread = spec.streams.iter().find(|stream| takers(stream) > 1);
    match spread.filter(|_| options.text("one_way") == "method") {
        None => Ok(()),
        Some(stream) => Err(refusal(
            "option",
            format!(
                "one_way 'method' for '{}', which goes to {}: a request without a response goes to one server; ask for event",
                stream.name,
                takers(stream)
            ),
        )),
    }
}

/// Beyond which vSomeIP drops messages, of all streams alike; none where one blocks, as nothing that was accepted may be
/// dropped then, and no publisher can be held back.
pub(crate) fn queue_limit_bytes(channels: &[Channel]) -> Option<u64> {
    let blocks = channels.iter().any(|channel| channel.qos.blocks());
    let most = channels.iter().map(|channel| channel.queued_bytes() as u64).max();
    most.filter(|_| !blocks)
}

/// Whether the trial's applications live on more than one host.
pub(crate) fn is_between_hosts(spec: &ApplicationSpec) -> bool {
    let endpoints = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
    endpoints.into_iter().any(|endpoint| endpoint.address != spec.address)
}

fn choose(channel: &Channel, transport: &str) -> Result<Carriage, Refusal> {
    let publishing = hosts(&channel.publishers);
    let subscribing = hosts(&channel.subscribers);
    let crosses = publishing.union(&subscribing).count() > 1;
    let stays = publishing.intersection(&subscribing).next().is_some();
    let reliability = channel.qos.reliability;
    match (transport, crosses) {
        ("default" | "local", false) => Ok(Carriage::Local),
        ("local", true) => Err(refusal(
            "option",
            format!(
                "transport 'local' does not leave a host, and '{}' goes to another",
                stream_of(channel)
            ),
        )),
        ("default", true) => Ok(match reliability {
            Reliability::Reliable => Carriage::Tcp,
            Reliability::BestEffort => Carriage::Udp,
        }),
        (named, _) if stays => Err(refusal(
            "option",
            format!(
                "transport needs two hosts: applications of one host always speak over local sockets, and '{}' has a \
                 publisher and a subscriber on one; '{named}' can't be had there",
                stream_of(channel)
            ),
        )),
        ("udp", true) if reliability == Reliability::Reliable => Err(refusal(
            "reliability",
            format!(
                "reliable over 'udp' on '{}': SOME/IP does not send lost messages again; use tcp",
                stream_of(channel)
            ),
        )),
        ("udp", true) => Ok(Carriage::Udp),
        _ => Ok(Carriage::Tcp),
    }
}

/// The stream's name as its user wrote it: a topic is the trial's name, the channel's number and that.
fn stream_of(channel: &Channel) -> &str {
    let before = format!("_{}_", channel.number);
    channel
        .topic
        .split_once(&before)
        .map_or(&channel.topic, |(_, stream)| stream)
}

fn hosts(endpoints: &[middlemark_runtime::ChannelEndpoint]) -> BTreeSet<IpAddr> {
    endpoints.iter().map(|endpoint| endpoint.socket.ip()).collect()
}

fn refusal(capability: &str, reason: String) -> Refusal {
    Refusal {
        capability: capability.into(),
        reason,
    }
}

#[cfg(test)]
mod tests;
