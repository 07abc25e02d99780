//! What a connection is opened with: its options for the client, and all that is in force in words.
//!
//! Pure, but for the kernel's sizes; `session` opens it.

use std::collections::BTreeMap;

use middlemark_contract::{ApplicationSpec, Congestion, PatternSpec, Security, SecurityLevel};
use middlemark_credentials::tls::{CIPHER_SUITE, Certificates, KEY_EXCHANGE};
use middlemark_runtime::{Channel, Context};
use rumqttc::{NetworkOptions, QoS, TlsConfiguration, Transport};

use crate::protocol::Options;
use crate::session::{SessionError, send_buffer};
use crate::{configuration, credentials, level};

/// Fixed header, remaining length, topic's length and packet identifier: at most so much beside topic and message.
const PACKET_OVERHEAD_BYTES: usize = 16;

/// The properties of MQTT 5 with their lengths beside the response topic, and what a topic has beside the channel's.
const PROPERTIES_BYTES: usize = 64;

/// What is offered of TLS, and so negotiated.
const TLS: [(&str, &str); 3] = [
    (
        "tls",
        "1.3, both ends with certificates (rustls on ring, OpenSSL at the broker); no resumption, no early data",
    ),
    ("tls cipher suite", CIPHER_SUITE),
    ("tls key exchange", KEY_EXCHANGE),
];

/// Whether this application asks or answers, which only MQTT 5 has means for.
pub(super) fn speaks_5(spec: &ApplicationSpec) -> bool {
    let asks = |stream: &str| {
        let mut streams = spec.streams.iter();
        streams.any(|each| each.name == stream && matches!(each.pattern, PatternSpec::RequestResponse { .. }))
    };
    spec.endpoints.iter().any(|endpoint| asks(&endpoint.stream))
}

/// The options of the client that the application needs.
pub(super) fn of_client(context: &Context<'_>) -> Result<Options, SessionError> {
    let rendezvous = &context.spec.rendezvous;
    let name = format!("{}_{}", rendezvous.name, context.spec.application);
    let (place, port, transport) = place(context)?;
    let packet_bytes = largest_packet_bytes(context.channels);
    let inflight = inflight_messages(context) as u16;
    let login = password(context)?.map(|password| (&context.spec.application, password));
    Ok(if speaks_5(context.spec) {
        let mut options = rumqttc::v5::MqttOptions::new(name, place, port);
        options.set_transport(transport);
        options.set_max_packet_size(Some(u32::try_from(packet_bytes).unwrap_or(u32::MAX)));
        options.set_outgoing_inflight_upper_limit(inflight);
        options.set_network_options(network(context));
        if let Some((user, password)) = login {
            options.set_credentials(user, password);
        }
        Options::V5(Box::new(options))
    } else {
        let mut options = rumqttc::MqttOptions::new(name, place, port);
        options.set_transport(transport);
        options.set_max_packet_size(packet_bytes, packet_bytes);
        options.set_inflight(inflight);
        if let Some((user, password)) = login {
            options.set_credentials(user, password);
        }
        Options::V311(Box::new(options), network(context))
    })
}

/// Where its broker is, and by which transport.
fn place(context: &Context<'_>) -> Result<(String, u16, Transport), SessionError> {
    let rendezvous = &context.spec.rendezvous;
    let (address, index) = configuration::index_for(context.spec).expect("accepted: there is a broker");
    if context.options.text("transport") == "unix" {
        let path = configuration::socket(rendezvous, index);
        return Ok((path.to_string_lossy().into_owned(), 0, Transport::unix()));
    }
    let port = configuration::port(rendezvous, index);
    Ok(match encrypts_with(context) {
        None => (host(address), port, Transport::tcp()),
        Some(security) => {
            let client = Certificates::of(&security.files).and_then(|certificates| certificates.client());
            let tls = TlsConfiguration::Rustls(client.map_err(SessionError::Credentials)?);
            // The broker's certificate has to be of this very text, which in brackets would be no address.
            (address.to_string(), port, Transport::tls_with_config(tls))
        }
    })
}

/// The certificates, where messages are encrypted.
fn encrypts_with<'a>(context: &Context<'a>) -> Option<&'a Security> {
    let security = context.spec.security.as_ref();
    security.filter(|security| security.level == SecurityLevel::Encrypted)
}

fn network(context: &Context<'_>) -> NetworkOptions {
    let mut network = NetworkOptions::new();
    network.set_tcp_nodelay(context.options.boolean("client_tcp_nodelay"));
    if let Some(bytes) = send_buffer_bytes(context) {
        network.set_tcp_send_buffer_size(bytes);
    }
    network
}

/// What it proves with who it is; none where it needs no password.
fn password<'a>(context: &Context<'a>) -> Result<Option<&'a str>, SessionError> {
    let given = context.spec.security.as_ref().map(credentials::password).transpose();
    given
        .map(Option::flatten)
        .map_err(|reason| SessionError::Credentials(reason.into()))
}

/// The client's queue: as long for each stream that the application publishes as is asked for, or as that stream lets it be.
pub(super) fn queue_messages(context: &Context<'_>) -> usize {
    let asked = context.options.integer("client_queue_messages_per_stream") as usize;
    shared_queue(asked, published(context).map(Channel::queued_messages))
}

/// Room for all streams of one client, by what each has room for: those that are due at one instant don't take each other's.
fn shared_queue(asked: usize, queued: impl Iterator<Item = usize>) -> usize {
    let shares: usize = queued.map(|messages| messages.min(asked)).sum();
    if shares == 0 { asked } else { shares }
}

/// How many messages may be unacknowledged, which those of level 0 never are.
fn inflight_messages(context: &Context<'_>) -> usize {
    let acknowledged = published(context).filter(|channel| level::of(&channel.qos) != QoS::AtMostOnce);
    at_most_queued(context.options.integer("client_inflight_messages"), acknowledged)
}

fn at_most_queued<'a>(asked: i64, channels: impl Iterator<Item = &'a Channel>) -> usize {
    let queued = channels.map(Channel::queued_messages).min();
    (asked as usize).min(queued.unwrap_or(usize::MAX))
}

/// What passes the client on its way out: a large stream of another application says nothing of it.
fn published<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a Channel> {
    let own = &context.spec.application;
    let channels = context.channels.iter();
    channels.filter(move |channel| channel.publishers.iter().any(|each| each.application == *own))
}

/// Room in the kernel, where it is not the kernel that sizes it; rumqttc sets it for TCP alone.
fn send_buffer_bytes(context: &Context<'_>) -> Option<u32> {
    let asked_bytes = context.options.integer("client_send_buffer_bytes") as u64;
    let is_tcp = context.options.text("transport") == "tcp";
    is_tcp
        .then(|| send_buffer::bytes(asked_bytes, published(context)))
        .flatten()
}

/// The client joins host and port by a colon and has them looked up.
fn host(address: std::net::IpAddr) -> String {
    match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The client's limit, 10 KiB as shipped, refuses larger messages: it is raised to what the trial's streams need.
fn largest_packet_bytes(channels: &[Channel]) -> usize {
    let largest = channels
        .iter()
        .map(|channel| channel.size_bytes + 2 * channel.topic.len() + PACKET_OVERHEAD_BYTES + PROPERTIES_BYTES)
        .max();
    largest.unwrap_or_default().max(10 * 1024)
}

/// All that is in force, by name.
pub(super) fn in_force(context: &Context<'_>) -> BTreeMap<String, String> {
    let mut settings = context.options.words();
    settings.insert("client_queue_messages".into(), queue_messages(context).to_string());
    settings.insert(
        "client_inflight_messages".into(),
        inflight_messages(context).to_string(),
    );
    let send_buffer = send_buffer_bytes(context).map_or("as the kernel sizes it".into(), |bytes| bytes.to_string());
    settings.insert("client_send_buffer_bytes".into(), send_buffer);
    let protocol = if speaks_5(context.spec) { "MQTT 5" } else { "MQTT 3.1.1" };
    settings.insert("protocol".into(), protocol.into());
    let packet_bytes = largest_packet_bytes(context.channels);
    settings.insert("client_max_packet_bytes".into(), packet_bytes.to_string());
    settings.insert("client_clean_session".into(), "true".into());
    if encrypts_with(context).is_some() {
        settings.extend(TLS.map(|(name, value)| (name.into(), value.into())));
    }
    settings.insert("connections".into(), "one for each application".into());
    settings.insert(
        "publish".into(),
        "buffer moved to the client, copied once into its send buffer".into(),
    );
    for channel in context.channels {
        let level = level::of(&channel.qos) as u8;
        settings.insert(format!("level of {}", channel.topic), level.to_string());
        let waits = match channel.qos.congestion {
            Congestion::Block => format!(
                "the publish call waits {} ms for the client's queue; the broker queues all that comes",
                channel.qos.patience_ns / 1_000_000
            ),
            Congestion::Drop => "the publish call does not wait; the broker drops beyond max_queued_bytes".into(),
        };
        settings.insert(format!("queue of {}", channel.topic), waits);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_adds_its_room_to_the_clients_queue_and_no_more_than_its_own_queue_has() {
        let of_streams = |queued: &[usize]| shared_queue(10, queued.iter().copied());
        assert_eq!(
            [of_streams(&[4096]), of_streams(&[4]), of_streams(&[4096, 4, 4096])],
            [10, 4, 24]
        );
    }

    #[test]
    fn an_application_that_publishes_nothing_has_the_queue_that_is_asked_for() {
        assert_eq!(shared_queue(10, std::iter::empty()), 10);
    }
}
