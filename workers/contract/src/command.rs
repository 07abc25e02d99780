//! What the front says to a worker while a trial runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command to an application, in the order in which they come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "command", deny_unknown_fields)]
pub enum ApplicationCommand {
    /// Initialise the middleware at this instant, create all endpoints, greet at once: each publisher sends the header
    /// alone, [`crate::GREETINGS_HZ`] times a second ([`crate::GREETINGS_OF_TRIAL_HZ`] all together), however rarely its
    /// stream has a message and however large it is.
    Start {
        /// T0, the same for all applications that start together.
        at_ns: u64,
    },
    /// Every subscriber has heard every publisher: publish messages of the full size from now on, by the stream's own
    /// schedule, the first of it at once. An application that joins an open window is not told this.
    Approach,
    /// Measure over this window. For an application that joins a trial whose window is open already `begin_ns` has
    /// passed; it then publishes from its schedule's next instant on, and its resources are those from now on.
    ///
    /// A publisher that has fallen behind its schedule goes on after the window, until [`crate::PUBLISHING_WINDOWS`]
    /// times its length have passed since its opening; what it has not offered by then is `unsent`.
    Measure {
        /// The common instant at which the window opens.
        begin_ns: u64,
        /// The instant at which it closes.
        end_ns: u64,
    },
    /// The window is over and the publishers have told their counts: wait for what is still under way, then report `done`.
    Drain {
        /// What each publisher sent within the window.
        expected: Vec<ExpectedMessages>,
        /// When to stop waiting.
        until_ns: u64,
    },
    /// Close the middleware and exit, whatever is under way.
    Stop,
}

/// Its name, as the front spells it.
impl fmt::Display for ApplicationCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ApplicationCommand::Start { .. } => "start",
            ApplicationCommand::Approach => "approach",
            ApplicationCommand::Measure { .. } => "measure",
            ApplicationCommand::Drain { .. } => "drain",
            ApplicationCommand::Stop => "stop",
        })
    }
}

/// What one publisher sent within the window: the sequence numbers 0 to `intended - 1`, less the refused ones and, at the
/// end, the unsent; higher ones where it joined when the window was open already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedMessages {
    /// The stream's name.
    pub stream: String,
    /// The publisher's index.
    pub publisher: u16,
    /// Messages that the publisher tried to send.
    pub intended: u32,
    /// Messages that the middleware accepted.
    pub sent: u32,
}

/// A command to a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "command", deny_unknown_fields)]
pub enum ServiceCommand {
    /// Report the resources spent over this window when it is over.
    Measure {
        /// When the window opens.
        begin_ns: u64,
        /// When it closes.
        end_ns: u64,
    },
    /// Shut down and exit.
    Stop,
}

/// Its name, as the front spells it.
impl fmt::Display for ServiceCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            ServiceCommand::Measure { .. } => "measure",
            ServiceCommand::Stop => "stop",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<T: Serialize + fmt::Display>(command: &T) {
        let json = serde_json::to_value(command).unwrap();
        assert_eq!(json["command"], command.to_string());
    }

    #[test]
    fn a_command_is_shown_as_the_front_spells_it() {
        let (begin_ns, end_ns) = (1, 2);
        named(&ApplicationCommand::Start { at_ns: 1 });
        named(&ApplicationCommand::Approach);
        named(&ApplicationCommand::Measure { begin_ns, end_ns });
        named(&ApplicationCommand::Drain {
            expected: Vec::new(),
            until_ns: 1,
        });
        named(&ApplicationCommand::Stop);
        named(&ServiceCommand::Measure { begin_ns, end_ns });
        named(&ServiceCommand::Stop);
    }
}
