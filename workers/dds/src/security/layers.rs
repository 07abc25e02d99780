//! Which layers of a message are protected: each one that the standard has, or the outermost, which holds all others.
//!
//! An option of the workers; `governance` renders what it says.

use middlemark_contract::OptionDescription;
use middlemark_runtime::Options;
use middlemark_runtime::options::choice;

/// The option's name.
pub(super) const PROTECTION: &str = "protection";

const NAMES: [&str; 2] = ["every_layer", "rtps"];

/// What is protected at a level of security.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// Discovery, liveliness, RTPS messages, submessages and payloads.
    Every,
    /// RTPS messages, with all that they hold.
    Rtps,
}

impl Layers {
    #[cfg(test)]
    pub(super) const ALL: [Layers; 2] = [Layers::Every, Layers::Rtps];

    /// As the option says.
    #[must_use]
    pub fn of(options: &Options) -> Layers {
        Layers::named(options.text(PROTECTION))
    }

    /// By a value of the option.
    pub(super) fn named(name: &str) -> Layers {
        if name == NAMES[1] { Layers::Rtps } else { Layers::Every }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Layers::Every => "discovery, liveliness, RTPS messages, submessages and payloads",
            Layers::Rtps => "RTPS messages with all that they hold",
        }
    }
}

/// Which layers are protected, as an option.
#[must_use]
pub fn option() -> OptionDescription {
    choice(
        PROTECTION,
        &NAMES,
        NAMES[0],
        "With security: every layer that the standard has, as SROS 2 does by default, so that a message is protected three times; or RTPS messages alone.",
    )
}
