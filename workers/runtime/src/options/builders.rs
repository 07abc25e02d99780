//! Descriptions of options, one function a kind: what every worker states its options with.
//!
//! A default is the value as shipped; that it is one of those allowed is for the conformance suite to check.

use std::ops::RangeInclusive;

use middlemark_contract::{OptionDescription, OptionKind, OptionValue};

/// An option that is on or off.
#[must_use]
pub fn boolean(name: &str, default: bool, summary: &str) -> OptionDescription {
    described(name, OptionKind::Boolean, OptionValue::Boolean(default), summary)
}

/// An option with one of some names.
#[must_use]
pub fn choice(name: &str, choices: &[&str], default: &str, summary: &str) -> OptionDescription {
    let kind = OptionKind::Choice {
        choices: choices.iter().map(|&word| word.to_owned()).collect(),
    };
    described(name, kind, OptionValue::Text(default.into()), summary)
}

/// An option with a whole number within bounds.
#[must_use]
pub fn integer(name: &str, bounds: RangeInclusive<i64>, default: i64, summary: &str) -> OptionDescription {
    let (minimum, maximum) = bounds.into_inner();
    let kind = OptionKind::Integer { minimum, maximum };
    described(name, kind, OptionValue::Integer(default), summary)
}

fn described(name: &str, kind: OptionKind, default: OptionValue, summary: &str) -> OptionDescription {
    OptionDescription {
        name: name.into(),
        kind,
        default,
        summary: summary.into(),
    }
}
