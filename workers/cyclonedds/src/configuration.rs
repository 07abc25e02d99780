//! Cyclone DDS's own configuration, rendered for one trial: what an option leaves as shipped is not mentioned in it.
//!
//! It renders text and reads no file; `session` hands the text to the library, `description` says what each option means.

use std::net::IpAddr;

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
        option: "writer_high_watermark_bytes",
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

/// The XML of a domain that uses the trial's interface alone.
pub(crate) fn render(options: &Options, address: IpAddr) -> String {
    let mut general = format!(r#"<Interfaces><NetworkInterface address="{address}"/></Interfaces>"#);
    if address.is_ipv6() {
        general += &element("UseIPv6", "true");
    }
    if options.text("allow_multicast") != "default" {
        general += &element("AllowMulticast", options.text("allow_multicast"));
    }
    let sizes: String = SIZES
        .iter()
        .filter(|size| options.integer(size.option) != size.shipped_bytes)
        .map(|size| size.element(options.integer(size.option)))
        .collect();
    let domain = element("General", &general) + &sizes;
    format!(r#"<CycloneDDS><Domain Id="any">{domain}</Domain></CycloneDDS>"#)
}

fn element(name: &str, content: &str) -> String {
    format!("<{name}>{content}</{name}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::net::Ipv4Addr;

    fn rendered(profile: &str) -> String {
        let options = Options::resolve(&crate::description::describe(), profile, &BTreeMap::new()).unwrap();
        render(&options, Ipv4Addr::LOCALHOST.into())
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
