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
    use proptest::collection::btree_map;
    use proptest::prelude::*;
    use proptest::sample::select;
    use serde_json::{Value, json};

    use super::*;
    use crate::front::command::Command;
    use crate::link::trace::Trace;

    /// All fields of an impairment, and one that it does not have.
    fn fields() -> Vec<String> {
        let Ok(Value::Object(impairment)) = serde_json::to_value(Impairment::default()) else {
            panic!("an impairment is a mapping")
        };
        impairment
            .into_iter()
            .map(|(field, _)| field)
            .chain(["at_ns".to_owned()])
            .collect()
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => (0..3u64).prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => any::<u64>().prop_map(Value::from),
            1 => any::<f64>().prop_map(Value::from),
            1 => select(vec![Value::Null, json!(true), json!("uniform"), json!(""), json!([]), json!({})]),
        ]
    }

    fn impairment() -> impl Strategy<Value = Value> {
        btree_map(select(fields()), value(), 0..4).prop_map(|fields| json!(fields))
    }

    proptest! {
        #[test]
        fn whatever_the_front_says_is_a_spec_and_a_command_within_bounds_or_refused(
            (outgoing, incoming, point) in (impairment(), impairment(), impairment()),
            (at_ns, begin_ns, now_ns) in (prop_oneof![0..9i64, any::<i64>()], any::<i64>(), any::<i64>()),
            extra in any::<String>(),
        ) {
            let spec = json!({
                "host_side": "a", "network_side": "b", "seed": 1, "outgoing": outgoing, "incoming": {},
                "trace": [{"at_ns": at_ns, "outgoing": point}],
            });
            if let Ok(spec) = Spec::parse(&spec.to_string()) {
                let mut trace = Trace::new(spec.trace);
                trace.begin(begin_ns);
                let due = trace.step(now_ns).is_some();
                prop_assert_eq!(due, i128::from(begin_ns) + i128::from(at_ns) <= i128::from(now_ns));
            }
            let set = json!({"command": "set", "outgoing": outgoing, "incoming": incoming});
            if let Ok(Command::Set { outgoing: Some(set), .. }) = Command::parse(&set.to_string()) {
                prop_assert!(set.check("outgoing").is_ok());
            }
            prop_assert!(Spec::parse(&extra).is_err() && Command::parse(&extra).is_err());
        }
    }

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
