//! Cyclone DDS's own configuration, rendered for one trial: what an option leaves as shipped is not mentioned in it.
//!
//! It renders text and reads no file; `session` hands the text to the library, `description` says what each option means.

use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, History, Refusal, StreamSpec};
use middlemark_dds::Peers;
use middlemark_runtime::Options;

/// A size that Cyclone DDS lets itself be told.
pub(crate) struct Size {
    pub(crate) option: &'static str,
    /// Where it is in the configuration, below the domain.
    path: &'static str,
    /// As the library is shipped.
    pub(crate) shipped_bytes: i64,
    pub(crate) largest_bytes: i64,
    pub(crate) summary: &'static str,
}

/// All of them, with the values of `docs/manual/config/config_file_reference.rst`.
pub(crate) const SIZES: [Size; 6] = [
    Size {
        option: "max_message_size_bytes",
        path: "General/MaxMessageSize",
        shipped_bytes: 14_720,
        largest_bytes: 65_507,
        summary: "the largest UDP payload",
    },
    Size {
        option: "max_retransmit_message_size_bytes",
        path: "General/MaxRexmitMessageSize",
        shipped_bytes: 1456,
        largest_bytes: 65_507,
        summary: "the largest UDP payload of a retransmit",
    },
    Size {
        option: "fragment_size_bytes",
        path: "General/FragmentSize",
        shipped_bytes: 1344,
        largest_bytes: 65_000,
        summary: "larger samples are sent in pieces of this size",
    },
    Size {
        option: "socket_receive_buffer_bytes",
        path: "Internal/SocketReceiveBufferSize",
        shipped_bytes: 1 << 20,
        largest_bytes: 1 << 30,
        summary: "asked of the kernel, which grants at most rmem_max",
    },
    Size {
        option: "socket_send_buffer_bytes",
        path: "Internal/SocketSendBufferSize",
        shipped_bytes: 64 << 10,
        largest_bytes: 1 << 30,
        summary: "asked of the kernel, which grants at most wmem_max",
    },
    Size {
        option: WATERMARK,
        path: "Internal/Watermarks/WhcHigh",
        shipped_bytes: 500 << 10,
        largest_bytes: 1 << 30,
        summary: "unacknowledged bytes at which a reliable writer waits",
    },
];

impl Size {
    /// What the option does, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}.", self.path, self.summary)
    }

    fn element(&self, bytes: i64) -> String {
        let (parents, name) = self.path.rsplit_once('/').unwrap_or(("", self.path));
        let own = if name.starts_with("Socket") {
            // `max` asks for so much and takes what the kernel grants; `min` would refuse to start.
            format!(r#"<{name} min="default" max="{bytes}B"/>"#)
        } else {
            element(name, &format!("{bytes}B"))
        };
        parents
            .split('/')
            .rev()
            .fold(own, |inner, parent| element(parent, &inner))
    }
}

/// How many participants of a host a peer is looked for among, as shipped; a trial with more names its own number.
const PARTICIPANTS: usize = 10;

/// Each host by its address. Whoever is to be found so needs a port that can be guessed.
fn discovery(peers: &Peers) -> String {
    let peer = |host| format!(r#"<Peer address="{host}"/>"#);
    let addresses: String = peers.hosts.iter().map(peer).collect();
    let last = peers.applications.max(PARTICIPANTS) - 1;
    element(
        "Discovery",
        &(element("ParticipantIndex", "auto")
            + &element("MaxAutoParticipantIndex", &last.to_string())
            + &element("Peers", &addresses)),
    )
}

/// The option behind `Internal/Watermarks/WhcHigh`.
const WATERMARK: &str = "writer_high_watermark_bytes";

/// The least that it may be: `Internal/Watermarks/WhcHighInit`, where it begins.
const LEAST_WATERMARK_BYTES: u64 = 30 << 10;

/// Refuses a queue that a writer can't be held to.
///
/// # Errors
/// The refusal, with the least that there is.
pub(crate) fn accept(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let room = |stream: &&StreamSpec| stream.qos.queued_bytes(stream.size_bytes);
    let keep_all = spec
        .streams
        .iter()
        .filter(|stream| stream.qos.history == History::KeepAll);
    match keep_all.min_by_key(room) {
        Some(stream) if room(&stream) < LEAST_WATERMARK_BYTES => Err(Refusal {
            capability: "queue".into(),
            reason: format!(
                "{} bytes for '{}': a reliable writer waits from {LEAST_WATERMARK_BYTES} unacknowledged bytes on (WhcHighInit)",
                room(&stream),
                stream.name
            ),
        }),
        _ => Ok(()),
    }
}

/// What a size is in a domain whose writers may keep no more than `queue_bytes` for a slow reader: a writer of Cyclone
/// DDS has no limit of samples, it waits by this watermark alone.
fn bytes(size: &Size, options: &Options, queue_bytes: i64) -> i64 {
    let asked = options.integer(size.option);
    if size.option == WATERMARK {
        asked.min(queue_bytes)
    } else {
        asked
    }
}

/// The XML of a domain that uses the trial's interface alone and has no queue beyond `queue_bytes`.
pub(crate) fn render(options: &Options, address: IpAddr, peers: &Peers, queue_bytes: i64) -> String {
    let given = options.text("discovery") == "peers";
    let mut general = format!(r#"<Interfaces><NetworkInterface address="{address}"/></Interfaces>"#);
    if address.is_ipv6() {
        general += &element("UseIPv6", "true");
    }
    match options.text("allow_multicast") {
        "default" if given => general += &element("AllowMulticast", "false"),
        "default" => {}
        allowed => general += &element("AllowMulticast", allowed),
    }
    let sizes: String = SIZES
        .iter()
        .map(|size| (size, bytes(size, options, queue_bytes)))
        .filter(|(size, bytes)| *bytes != size.shipped_bytes)
        .map(|(size, bytes)| size.element(bytes))
        .collect();
    let discovery = if given { discovery(peers) } else { String::new() };
    let domain = element("General", &general) + &discovery + &sizes;
    format!(r#"<CycloneDDS><Domain Id="any">{domain}</Domain></CycloneDDS>"#)
}

fn element(name: &str, content: &str) -> String {
    format!("<{name}>{content}</{name}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use middlemark_contract::OptionValue;
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    fn rendered(profile: &str) -> String {
        rendered_with(profile, &BTreeMap::new())
    }

    fn rendered_with(profile: &str, set: &BTreeMap<String, OptionValue>) -> String {
        let options = Options::resolve(&crate::description::describe(), profile, set).unwrap();
        let peers = Peers {
            hosts: [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from).into(),
            applications: 12,
        };
        render(&options, Ipv4Addr::LOCALHOST.into(), &peers, 16 << 20)
    }

    #[test]
    fn a_writer_waits_no_later_than_its_queue_is_full() {
        let options = Options::resolve(&crate::description::describe(), "default", &BTreeMap::new()).unwrap();
        let peers = Peers {
            hosts: [].into(),
            applications: 1,
        };
        let text = render(&options, Ipv4Addr::LOCALHOST.into(), &peers, 100_000);
        assert!(text.contains("<WhcHigh>100000B</WhcHigh>"), "{text}");
    }

    #[test]
    fn given_peers_are_looked_for_by_address_and_without_multicast() {
        let set = [("discovery".to_owned(), OptionValue::Text("peers".into()))];
        let text = rendered_with("default", &set.into());
        let discovery = r#"<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>11</MaxAutoParticipantIndex><Peers><Peer address="10.0.0.1"/><Peer address="10.0.0.2"/></Peers></Discovery>"#;
        assert!(text.contains(discovery), "{text}");
        assert!(text.contains("<AllowMulticast>false</AllowMulticast>"), "{text}");
    }

    #[test]
    fn the_default_profile_names_nothing_but_the_interface() {
        assert_eq!(
            rendered("default"),
            r#"<CycloneDDS><Domain Id="any"><General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General></Domain></CycloneDDS>"#
        );
    }

    #[test]
    fn the_tuned_profile_sets_sizes_and_buffers() {
        let text = rendered("tuned");
        assert!(
            text.contains("<General><MaxMessageSize>65500B</MaxMessageSize></General>"),
            "{text}"
        );
        assert!(
            text.contains(r#"<SocketReceiveBufferSize min="default" max="10485760B"/>"#),
            "{text}"
        );
    }
}
