//! The spec: which interfaces, and what the link between them does.
//!
//! Parsed once and checked here; nothing behind it meets a figure that can't be meant.

use serde::Deserialize;

use crate::error::RelayError;
use crate::link::impairment::Impairment;
use crate::link::trace::Point;

/// The first line of standard input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// The interface towards the host.
    pub(crate) host_side: String,
    /// The interface towards the network's switch.
    pub(crate) network_side: String,
    /// Seeds both directions' random numbers.
    pub(crate) seed: u64,
    /// From the host to the network.
    #[serde(default)]
    pub(crate) outgoing: Impairment,
    /// From the network to the host.
    #[serde(default)]
    pub(crate) incoming: Impairment,
    /// Impairments that follow one another.
    #[serde(default)]
    pub(crate) trace: Vec<Point>,
    /// How long before a due instant to stop sleeping and spin instead.
    #[serde(default)]
    pub(crate) spin_ns: i64,
    /// A priority of `SCHED_FIFO`; none: the scheduler's default.
    #[serde(default)]
    pub(crate) priority: Option<i32>,
    /// Frames that one direction can hold at once, those that are delayed included.
    #[serde(default = "frames_in_flight")]
    pub(crate) frames_in_flight: usize,
}

fn frames_in_flight() -> usize {
    65_536
}

impl Spec {
    /// Reads and checks a spec.
    pub(crate) fn parse(line: &str) -> Result<Self, RelayError> {
        let spec: Self = serde_json::from_str(line).map_err(|error| RelayError::Spec(error.to_string()))?;
        spec.check().map_err(RelayError::Spec)?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), String> {
        self.outgoing.check("outgoing")?;
        self.incoming.check("incoming")?;
        crate::link::trace::check(&self.trace)?;
        if self.host_side == self.network_side {
            return Err(format!("`host_side` and `network_side` are both `{}`", self.host_side));
        }
        if !(0..=10_000_000).contains(&self.spin_ns) {
            return Err(format!("`spin_ns` is {}: from 0 to 10000000", self.spin_ns));
        }
        if self.priority.is_some_and(|priority| !(1..=99).contains(&priority)) {
            return Err("`priority` is a priority of SCHED_FIFO, from 1 to 99".to_owned());
        }
        if !(1..=1 << 22).contains(&self.frames_in_flight) {
            return Err(format!(
                "`frames_in_flight` is {}: from 1 to {}",
                self.frames_in_flight,
                1 << 22
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_needs_only_its_interfaces_and_a_seed() {
        let spec = Spec::parse(r#"{"host_side": "a", "network_side": "b", "seed": 1}"#).unwrap();
        assert_eq!(spec.outgoing, Impairment::default());
        assert_eq!(spec.priority, None);
    }

    #[test]
    fn a_spec_that_cannot_be_meant_is_an_error_of_usage() {
        for line in [
            "",
            "{}",
            r#"{"host_side": "a", "network_side": "a", "seed": 1}"#,
            r#"{"host_side": "a", "network_side": "b", "seed": 1, "priority": 100}"#,
            r#"{"host_side": "a", "network_side": "b", "seed": 1, "incoming": {"loss": 2}}"#,
            r#"{"host_side": "a", "network_side": "b", "seed": 1, "delay_ns": 2}"#,
        ] {
            assert_eq!(Spec::parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }
}
