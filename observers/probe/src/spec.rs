//! What to measure, to where, and how long at most. A part that is left out is not measured.

use std::io::Read;
use std::net::IpAddr;

use serde::Deserialize;

use crate::error::ProbeError;
use crate::wire::datagram::{HEADER_BYTES, LARGEST_BYTES};

/// The JSON on standard input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// Where `middlemark-probe answer` answers.
    pub(crate) to: IpAddr,
    pub(crate) port: u16,
    /// How long nothing may come back before the link counts as dead, and how long stragglers are waited for.
    #[serde(default = "patience_ns")]
    pub(crate) patience_ns: i64,
    #[serde(default)]
    pub(crate) round_trip: Option<RoundTripSpec>,
    #[serde(default)]
    pub(crate) loss: Option<LossSpec>,
    #[serde(default)]
    pub(crate) rate: Option<RateSpec>,
}

/// The kernel asks for a neighbour's address once a second, and the link may lose the question or the answer.
fn patience_ns() -> i64 {
    5_000_000_000
}

/// Small datagrams, answered one by one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RoundTripSpec {
    pub(crate) pings: u32,
    pub(crate) interval_ns: i64,
    /// UDP payload.
    pub(crate) size_bytes: usize,
}

impl Default for RoundTripSpec {
    fn default() -> Self {
        Self {
            pings: 200,
            interval_ns: 5_000_000,
            size_bytes: 64,
        }
    }
}

/// Numbered datagrams in each direction, never closer together than the interval.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LossSpec {
    pub(crate) packets: u32,
    pub(crate) interval_ns: i64,
    /// UDP payload.
    pub(crate) size_bytes: usize,
}

impl Default for LossSpec {
    fn default() -> Self {
        Self {
            packets: 5000,
            interval_ns: 200_000,
            size_bytes: 64,
        }
    }
}

/// Datagrams that fill a frame, in each direction.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RateSpec {
    pub(crate) duration_ns: i64,
    /// On the wire; none: as fast as the socket takes them. A little above the rate that the link should have.
    pub(crate) offered_bits_per_s: Option<u64>,
    /// The largest IP packet.
    pub(crate) mtu_bytes: usize,
}

impl Default for RateSpec {
    fn default() -> Self {
        Self {
            duration_ns: 500_000_000,
            offered_bits_per_s: None,
            mtu_bytes: 1500,
        }
    }
}

impl Spec {
    pub(crate) fn read(mut input: impl Read) -> Result<Self, ProbeError> {
        let mut json = String::new();
        input.read_to_string(&mut json).map_err(ProbeError::Front)?;
        let spec: Self = serde_json::from_str(&json).map_err(|error| ProbeError::Spec(error.to_string()))?;
        spec.check().map_err(ProbeError::Spec)?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), String> {
        within("patience_ns", self.patience_ns, 1_000_000, 60_000_000_000)?;
        if let Some(part) = &self.round_trip {
            within("round_trip.pings", part.pings.into(), 1, 1_000_000)?;
            within("round_trip.interval_ns", part.interval_ns, 1000, 10_000_000_000)?;
            size("round_trip.size_bytes", part.size_bytes)?;
        }
        if let Some(part) = &self.loss {
            within("loss.packets", part.packets.into(), 1, 10_000_000)?;
            within("loss.interval_ns", part.interval_ns, 1000, 10_000_000_000)?;
            size("loss.size_bytes", part.size_bytes)?;
        }
        if let Some(part) = &self.rate {
            within("rate.duration_ns", part.duration_ns, 1_000_000, 60_000_000_000)?;
            within("rate.mtu_bytes", part.mtu_bytes as i64, 128, LARGEST_BYTES as i64)?;
            if part.offered_bits_per_s == Some(0) {
                return Err("`rate.offered_bits_per_s` is 0: leave it out for as fast as possible".to_owned());
            }
        }
        Ok(())
    }
}

fn size(name: &str, bytes: usize) -> Result<(), String> {
    within(name, bytes as i64, HEADER_BYTES as i64, 1472)
}

fn within(name: &str, value: i64, least: i64, most: i64) -> Result<(), String> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("`{name}` is {value}: from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_left_out_is_not_measured() {
        let spec = Spec::read(&br#"{"to": "10.0.0.1", "port": 7, "loss": {}}"#[..]).unwrap();
        assert!(spec.round_trip.is_none() && spec.rate.is_none());
        assert_eq!(spec.loss.unwrap().packets, 5000);
    }

    #[test]
    fn a_spec_that_cannot_be_meant_is_an_error_of_usage() {
        for json in [
            "",
            r#"{"to": "nowhere", "port": 7}"#,
            r#"{"to": "10.0.0.1", "port": 7, "ping": {}}"#,
            r#"{"to": "10.0.0.1", "port": 7, "round_trip": {"size_bytes": 8}}"#,
            r#"{"to": "10.0.0.1", "port": 7, "loss": {"packets": 0}}"#,
            r#"{"to": "10.0.0.1", "port": 7, "rate": {"offered_bits_per_s": 0}}"#,
        ] {
            assert_eq!(Spec::read(json.as_bytes()).unwrap_err().exit_code(), 2, "{json}");
        }
    }
}
