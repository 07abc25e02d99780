//! The worker's side of the pipes: lines of JSON in, lines of JSON out, and nothing else on either.
//!
//! A thread reads standard input so that the life of an application can wait for commands and for its own threads in
//! one place; it interprets nothing beyond the types of the contract.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::Sender;
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::process::closing;

/// The longest line that is read: no spec of a sensible trial comes near it.
const LONGEST_LINE_BYTES: u64 = 4 << 20;

/// What standard input held.
#[derive(Debug)]
pub(crate) enum Line<T> {
    /// One value of the type that was waited for.
    Value(T),
    /// Something else: what was wrong with it.
    Nonsense(String),
    /// The front is gone.
    End,
}

/// Reads one line. Fails only into [`Line`]: whatever comes is data.
pub(crate) fn read_line<T: DeserializeOwned>() -> Line<T> {
    let mut line = Vec::new();
    let read = io::Read::take(io::stdin().lock(), LONGEST_LINE_BYTES).read_until(b'\n', &mut line);
    match read {
        Ok(0) => Line::End,
        Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST_LINE_BYTES => {
            Line::Nonsense(format!("a line of more than {LONGEST_LINE_BYTES} bytes"))
        }
        Ok(_) => match serde_json::from_slice(&line) {
            Ok(value) => Line::Value(value),
            Err(error) => Line::Nonsense(error.to_string()),
        },
        Err(error) => Line::Nonsense(error.to_string()),
    }
}

/// Reads lines on a thread of its own and passes each on, until the end: then the process ends, at last by itself.
pub(crate) fn read_lines<T, M>(inbox: Sender<M>, wrap: fn(Line<T>) -> M)
where
    T: DeserializeOwned + Send + 'static,
    M: Send + 'static,
{
    thread::spawn(move || {
        loop {
            let line = read_line();
            let last = !matches!(line, Line::Value(_));
            if let Line::End = line {
                closing::end_at_last("standard input has ended", || ());
            }
            if inbox.send(wrap(line)).is_err() || last {
                return;
            }
        }
    });
}

/// Writes an event. A front that no longer reads is noticed by the end of standard input, not here.
pub(crate) fn say<T: Serialize>(event: &T) {
    let mut line = serde_json::to_vec(event).expect("an event of the contract is always JSON");
    line.push(b'\n');
    let mut out = io::stdout().lock();
    let _ = out.write_all(&line).and_then(|()| out.flush());
}

/// An error and its causes, outermost first.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect()
}
