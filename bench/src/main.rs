//! Prints what the harness itself costs, as a table: minimum, median and maximum over repetitions.
//!
//! Figures of one machine at one time, to be read side by side and never asserted. `harness` measures our own code,
//! `streams` with many streams, `sockets` the socket baselines beside bare loops, `ring` the shared-memory ring; what is
//! compared runs in turn. With a piece's name and a number it does that piece so often instead (`counted`).

mod counted;
mod harness;
mod pinned;
mod ring;
mod sockets;
mod spread;
mod streams;

use std::io::{self, Write};

use spread::Spread;

/// One line of the table.
struct Figure {
    name: String,
    unit: &'static str,
    goal: &'static str,
    spread: Spread,
}

fn main() -> io::Result<()> {
    if let [piece, messages] = &std::env::args().skip(1).collect::<Vec<_>>()[..] {
        let messages = messages.parse().map_err(io::Error::other)?;
        return counted::run(piece, messages);
    }
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<58} {:>10} {:>10} {:>10}  {:<4} goal",
        "figure", "minimum", "median", "maximum", "unit"
    )?;
    for figures in [
        || Ok(harness::figures()),
        || Ok(streams::figures()),
        sockets::figures,
        ring::figures,
    ] {
        for figure in figures()? {
            print(&mut out, &figure)?;
        }
    }
    Ok(())
}

fn print(out: &mut impl Write, figure: &Figure) -> io::Result<()> {
    let Spread {
        minimum,
        median,
        maximum,
    } = figure.spread;
    let (name, unit, goal) = (&figure.name, figure.unit, figure.goal);
    writeln!(
        out,
        "{name:<58} {minimum:>10.2} {median:>10.2} {maximum:>10.2}  {unit:<4} {goal}"
    )
}
