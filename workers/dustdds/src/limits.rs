//! What Dust DDS can't do with a trial's hosts and messages: it is refused here, before anything of it is made.

use std::net::IpAddr;

use middlemark_contract::{ApplicationSpec, PatternSpec, Refusal, StreamSpec};
use middlemark_dds::exchange::IDENTITY_BYTES;
use middlemark_runtime::Options;

/// The option behind `set_fragment_size`.
pub(crate) const FRAGMENT_BYTES: &str = "fragment_size_bytes";

/// As little as anyone would ask for.
pub(crate) const SMALLEST_FRAGMENT_BYTES: i64 = 64;

/// A reader that misses fragments asks for all of them in one bitmap of so many. `FragmentNumberSet::new` writes beyond it
/// otherwise, and the thread that does all of the library's work panics (`dust_dds` 0.16.0).
const MOST_FRAGMENTS: u64 = 256;

/// What a sample has beside its octets: four bytes that say how it is serialised, and the length.
const HEADER_BYTES: u64 = 8;

/// Refuses what the library has no socket for, and samples that it would end of if a fragment were lost.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    accept_host(spec.address)?;
    let fragment_bytes = options.integer(FRAGMENT_BYTES) as u64;
    let refused = spec.streams.iter().find_map(|stream| refusal(stream, fragment_bytes));
    refused.map_or(Ok(()), Err)
}

fn accept_host(address: IpAddr) -> Result<(), Refusal> {
    if address.is_ipv4() {
        return Ok(());
    }
    Err(Refusal {
        capability: "spec".into(),
        reason: format!("Dust DDS sends over IPv4 alone, the host's address is {address}"),
    })
}

fn refusal(stream: &StreamSpec, fragment_bytes: u64) -> Option<Refusal> {
    let most_bytes = (MOST_FRAGMENTS * fragment_bytes - HEADER_BYTES) & !3; // serialised it is a multiple of four
    let largest_bytes = largest_bytes(stream);
    (largest_bytes > most_bytes).then(|| Refusal {
        capability: "size_bytes".into(),
        reason: format!(
            "{largest_bytes} bytes of '{}' in fragments of {fragment_bytes}: Dust DDS asks for at most {MOST_FRAGMENTS} lost \
             ones at once and panics beyond; allowed: up to {most_bytes} bytes, or a larger {FRAGMENT_BYTES}",
            stream.name
        ),
    })
}

/// Of a stream's messages and their answers, with the identity that requests and responses have.
fn largest_bytes(stream: &StreamSpec) -> u64 {
    let answer_bytes = stream.pattern.answer_bytes().unwrap_or(0);
    let identity_bytes = match stream.pattern {
        PatternSpec::RequestResponse { .. } => IDENTITY_BYTES as u64,
        _ => 0,
    };
    stream.size_bytes.max(answer_bytes) + identity_bytes
}

#[cfg(test)]
mod tests {
    use dust_dds::rtps_messages::submessage_elements::FragmentNumberSet;
    use middlemark_contract::Qos;
    use middlemark_dds::ping_pong;

    use super::*;

    #[test]
    fn an_address_of_ipv6_is_refused() {
        let refusal = accept_host("fd00::1".parse().unwrap()).unwrap_err();
        assert!(refusal.reason.contains("fd00::1"), "{}", refusal.reason);
        assert_eq!(accept_host("127.0.0.1".parse().unwrap()), Ok(()));
    }

    #[test]
    fn a_sample_of_more_than_256_fragments_is_refused_whichever_way_it_goes() {
        let refused = |answer_bytes, fragment_bytes| refusal(&ping_pong(answer_bytes, Qos::RELIABLE), fragment_bytes);
        assert_eq!(refused(344_056, 1344), None);
        let refusal = refused(344_057, 1344).unwrap();
        assert_eq!(refusal.capability, "size_bytes");
        assert!(refusal.reason.contains("up to 344056 bytes"), "{}", refusal.reason);
        assert_eq!(refused(344_057, 1348), None);
    }

    #[test]
    fn a_sample_of_so_many_bytes_really_has_256_fragments() {
        let sample_bytes = |message_bytes: u64| (HEADER_BYTES + message_bytes).next_multiple_of(4);
        assert_eq!(sample_bytes(344_056).div_ceil(1344), 256);
        assert_eq!(sample_bytes(344_057).div_ceil(1344), 257);
    }
    #[test]
    fn the_library_asks_for_lost_fragments_within_256() {
        assert_eq!(FragmentNumberSet::new(1, [1, 256]).set().count(), 2);
    }

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn the_library_panics_where_they_are_further_apart() {
        let _ = FragmentNumberSet::new(1, [1, 257]);
    }
}
