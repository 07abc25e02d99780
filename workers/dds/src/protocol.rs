//! What all implementations put on the wire alike, so that one understands the other.

use middlemark_contract::Protocol;

/// RTPS with the workers' own type. Whoever changes one of its words changes what other workers expect.
#[must_use]
pub fn protocol() -> Protocol {
    Protocol {
        name: "rtps".into(),
        message: format!("a sequence of octets of the type {SEQUENCE}<size>, in plain CDR (XCDR1), little endian"),
        topics: "the stream's topic; of requests and responses `<topic>_<server>_Request` and `_Reply`".into(),
    }
}

/// How the names of sequences' types begin.
const SEQUENCE: &str = "middlemark::Sequence";

/// The name of the type of messages of at most so many bytes: the bound is part of a type, so it is of the name.
#[must_use]
pub fn sequence_type(size_bytes: usize) -> String {
    format!("{SEQUENCE}{size_bytes}")
}
