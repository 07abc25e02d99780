//! What is refused of a transport: one that the library lacks, hosts that it doesn't reach, messages that it would lose.

use middlemark_contract::{ApplicationSpec, Refusal};
use middlemark_runtime::Options;

use crate::transport::{Transport, available};

/// Refuses what a transport can't carry.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    is_there(options.text("transport"))?;
    let transport = Transport::of(options);
    reaches(transport, spec, options.text("transport"))?;
    if transport == Transport::DataSharing {
        shares(spec)?;
    }
    Ok(())
}

fn is_there(transport: &str) -> Result<(), Refusal> {
    let available = available();
    if available.contains(&transport) {
        return Ok(());
    }
    refuse(
        "option",
        format!(
            "transport '{transport}' is Fast DDS's LARGE_DATA, which came with version 2.13; the library here is {}; allowed: {}",
            middlemark_dds::version(),
            available.join(", ")
        ),
    )
}

fn reaches(transport: Transport, spec: &ApplicationSpec, name: &str) -> Result<(), Refusal> {
    if transport.has_udp() && !spec.address.is_ipv4() {
        let reason = format!(
            "UDP is configured for IPv4 alone, the host's address is {}",
            spec.address
        );
        return refuse("spec", reason);
    }
    let mut endpoints = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
    if transport.is_within_host() && endpoints.any(|endpoint| endpoint.address != spec.address) {
        let reason = format!(
            "transport '{name}' reaches one host only; between hosts: default, udp, and large_data where the library has it"
        );
        return refuse("between_hosts", reason);
    }
    Ok(())
}

/// Data sharing has a type of one size, and a writer that does not wait for a slow reader. As tried with 2.9.1: of 1500
/// messages of 16 kB, while the subscriber was stopped for a second, 26 to 43 never arrived.
fn shares(spec: &ApplicationSpec) -> Result<(), Refusal> {
    if let Some(stream) = spec.streams.iter().find(|stream| stream.qos.blocks()) {
        let reason = format!(
            "data sharing loses accepted messages of '{}' where its subscriber is slow, which block rules out; allowed: \
             drop, keep_last, or transport default, udp or shm",
            stream.name
        );
        return refuse("congestion", reason);
    }
    if spec.streams.iter().any(|stream| stream.recorded.is_some()) {
        let reason = "messages of recorded sizes: data sharing takes a type of one size; allowed: default, udp, shm";
        return refuse("size_bytes", reason.into());
    }
    Ok(())
}

fn refuse(capability: &str, reason: String) -> Result<(), Refusal> {
    Err(Refusal {
        capability: capability.into(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shim;

    #[test]
    fn large_data_is_refused_with_the_version_where_the_library_lacks_it() {
        let refused = is_there("large_data").err().map(|refusal| refusal.reason);
        let expected = format!(
            "transport 'large_data' is Fast DDS's LARGE_DATA, which came with version 2.13; the library here is {}; \
             allowed: default, udp, shm, data_sharing",
            middlemark_dds::version()
        );
        assert_eq!(refused, (!shim::has_large_data()).then_some(expected));
    }
}
