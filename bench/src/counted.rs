//! One piece of our own code, so many times and nothing else: what `bench/instructions.py` has counted.
//!
//! It times nothing; a second count with twice the messages tells what each message takes.

use std::hint::black_box;
use std::io;

use middlemark_runtime::clock;
use middlemark_runtime::harness::{self, PingPong};

use crate::harness::{SIZE_BYTES, message, publisher, receive};

/// The most messages: memory for them is reserved whatever is asked for, so that two counts differ by their messages alone.
const MOST: u32 = 100_000;

/// Does `piece` for so many messages.
pub(crate) fn run(piece: &str, messages: u32) -> io::Result<()> {
    match piece {
        "clock" => (0..messages).for_each(|_| {
            black_box(clock::now_ns());
        }),
        "receive" => {
            let receiver = harness::receiver(SIZE_BYTES, MOST);
            let mut message = message();
            (0..messages).for_each(|sequence| receive(&receiver, &mut message, sequence));
        }
        "publish" => {
            let mut publisher = publisher(MOST);
            (0..messages).for_each(|sequence| publisher.send(sequence));
        }
        "round_trip" => {
            let mut ends = PingPong::new(SIZE_BYTES, MOST);
            (0..messages).for_each(|_| ends.round_trip());
        }
        _ => {
            return Err(io::Error::other(format!(
                "'{piece}' is none of clock, receive, publish, round_trip"
            )));
        }
    }
    Ok(())
}
