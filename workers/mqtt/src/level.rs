//! MQTT's QoS level: which one a stream gets.
//!
//! Pure. The level decides acknowledgements on each of the two ways, publisher to broker and broker to subscriber; what
//! the broker drops when a subscriber is slow is decided by the broker's own limits, whatever the level.

use middlemark_contract::{Qos, Refusal, Reliability};
use rumqttc::QoS;

/// The level that a stream asks for: its own, or 0 for best effort and 1 for reliable.
pub(crate) fn of(qos: &Qos) -> QoS {
    match (qos.level, qos.reliability) {
        (Some(0), _) | (None, Reliability::BestEffort) => QoS::AtMostOnce,
        (Some(1), _) | (None, Reliability::Reliable) => QoS::AtLeastOnce,
        (Some(_), _) => QoS::ExactlyOnce,
    }
}

/// Refuses a level that is less than the reliability asked for.
pub(crate) fn check(qos: &Qos) -> Result<(), Refusal> {
    if qos.reliability == Reliability::Reliable && qos.level == Some(0) {
        return Err(Refusal {
            capability: "level".into(),
            reason: "level 0 sends nothing again, so it is not reliable; allowed: 1, 2".into(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qos(reliability: Reliability, level: Option<u8>) -> Qos {
        Qos {
            reliability,
            level,
            ..Qos::BEST_EFFORT
        }
    }

    #[test]
    fn the_level_follows_reliability_unless_it_is_named() {
        assert_eq!(of(&qos(Reliability::BestEffort, None)), QoS::AtMostOnce);
        assert_eq!(of(&qos(Reliability::Reliable, None)), QoS::AtLeastOnce);
        assert_eq!(of(&qos(Reliability::Reliable, Some(2))), QoS::ExactlyOnce);
        assert_eq!(of(&qos(Reliability::BestEffort, Some(1))), QoS::AtLeastOnce);
    }

    #[test]
    fn reliable_at_level_0_is_refused() {
        assert_eq!(
            check(&qos(Reliability::Reliable, Some(0))).unwrap_err().capability,
            "level"
        );
        assert!(check(&qos(Reliability::BestEffort, Some(0))).is_ok());
    }
}
