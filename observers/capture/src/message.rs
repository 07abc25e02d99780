//! What the front says and hears, one line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::CaptureError;

/// The first line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// Where the capture is written.
    pub(crate) file: PathBuf,
    /// How much of each frame is kept.
    pub(crate) snap_bytes: usize,
    /// No frame is kept that would make the file larger than this.
    pub(crate) most_bytes: u64,
    pub(crate) links: Vec<Link>,
}

/// One interface that is listened at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Link {
    /// Its name in the capture.
    pub(crate) name: String,
    /// The end of the link that is not the host's: what comes in here, the host has sent.
    pub(crate) interface: String,
}

/// Every other line.
#[derive(Debug, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Nothing more is captured.
    Stop {},
}

/// One line of what is said.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// All interfaces are listened at.
    Ready {},
    /// What became of the frames of one link.
    Link {
        name: &'a str,
        #[serde(flatten)]
        frames: Frames,
    },
    /// The last line: the file is whole.
    Done { file_bytes: u64 },
}

/// The frames of one link: all that passed are captured, beyond or lost.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Frames {
    /// In the file.
    pub(crate) captured: u64,
    /// Of these, the ones that were longer than what is kept of each.
    pub(crate) cut: u64,
    /// Came when the file had its size.
    pub(crate) beyond: u64,
    /// Came faster than they were taken from the kernel.
    pub(crate) lost: u64,
}

/// Reads a line as what it should be.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, CaptureError> {
    serde_json::from_str(line).map_err(|error| CaptureError::Nonsense {
        line: line.to_owned(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_and_nonsense_is_refused() {
        let links = r#"[{"name": "a/b", "interface": "mm0"}]"#;
        let told = format!(r#"{{"file": "/tmp/x", "snap_bytes": 96, "most_bytes": 1000, "links": {links}}}"#);
        let spec: Spec = parse(&told).unwrap();
        assert_eq!((spec.snap_bytes, spec.links[0].interface.as_str()), (96, "mm0"));
        assert!(parse::<Spec>(r#"{"file": "/tmp/x"}"#).is_err());
        assert!(parse::<Command>(r#"{"command": "dance"}"#).is_err());
    }

    #[test]
    fn frames_are_told_beside_their_link() {
        let frames = Frames {
            captured: 3,
            cut: 1,
            beyond: 2,
            lost: 0,
        };
        let said = serde_json::to_string(&Event::Link { name: "a/b", frames }).unwrap();
        assert_eq!(
            said,
            r#"{"event":"link","name":"a/b","captured":3,"cut":1,"beyond":2,"lost":0}"#
        );
    }
}
