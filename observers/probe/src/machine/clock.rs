//! What this machine's clocks say, answered at once: from many quick answers the requesting machine finds their offset.
//!
//! Neither the asker's clock nor any network is known here; the front estimates.

use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use middlemark_runtime::clock;
use serde::Serialize;

use crate::error::ProbeError;

/// One reading of the clocks.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "units end a name")]
struct Reading {
    monotonic_ns: i64,
    /// Read between two readings of the monotonic clock that lie `gap_ns` apart, of which `monotonic_ns` is the first.
    realtime_ns: i64,
    gap_ns: i64,
}

/// Answers each byte with one line, until there are no more.
pub(crate) fn tell(input: impl BufRead, mut output: impl Write) -> Result<(), ProbeError> {
    for asked in input.bytes() {
        asked.map_err(ProbeError::Front)?;
        answer(&mut output).map_err(ProbeError::Front)?;
    }
    Ok(())
}

fn answer(output: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *output, &read())?;
    output.write_all(b"\n")?;
    output.flush()
}

#[expect(clippy::disallowed_methods, reason = "the time of day is what PTP keeps")]
fn read() -> Reading {
    let monotonic_ns = clock::now_ns();
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Reading {
        monotonic_ns,
        realtime_ns: since_epoch.as_nanos() as i64,
        gap_ns: clock::now_ns() - monotonic_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::tell;

    #[test]
    fn each_byte_is_answered_with_a_later_reading() {
        let mut output = Vec::new();
        tell(&b"..."[..], &mut output).unwrap();
        let stamps: Vec<i64> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["monotonic_ns"]
                    .as_i64()
                    .unwrap()
            })
            .collect();
        assert_eq!(stamps.len(), 3);
        assert!(stamps.is_sorted());
        assert!(stamps[0] > 0);
    }
}
