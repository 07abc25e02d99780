//! The watch itself: a sample of every process at every instant of a schedule, until the front asks for all of them.

use std::io::Write;

use middlemark_runtime::clock;

use crate::command::{Command, Lines, Pids, Spec, parse};
use crate::error::WatchError;
use crate::machine;
use crate::process::{Unavailable, Watched};
use crate::sample::{Event, MachineSample, ProcessSample};

/// All that was seen so far.
#[derive(Default)]
struct Seen {
    processes: Vec<ProcessSample>,
    machine: Vec<MachineSample>,
    missed: u64,
    unavailable: Unavailable,
}

/// Watches as the front says, and tells it everything in the end.
pub(crate) fn watch(lines: &Lines, output: &mut impl Write) -> Result<(), WatchError> {
    let first = lines.next()?;
    let spec: Spec = parse(&first)?;
    if spec.period_ns <= 0 {
        let reason = "period_ns must be positive".to_owned();
        return Err(WatchError::Nonsense { line: first, reason });
    }
    let mut watched = Vec::new();
    name(&mut watched, spec.processes);
    let mut seen = Seen::default();
    let mut next_ns = clock::now_ns();
    seen.sample(&mut watched);
    tell(output, &Event::Ready {})?;
    loop {
        next_ns += spec.period_ns;
        let late_ns = clock::now_ns() - next_ns;
        if late_ns > 0 {
            let missed = late_ns / spec.period_ns;
            seen.missed += missed as u64;
            next_ns += missed * spec.period_ns;
        }
        while let Some(line) = lines.next_until(next_ns)? {
            match parse(&line)? {
                Command::Watch { processes } => name(&mut watched, processes),
                Command::Stop {} => {
                    seen.sample(&mut watched);
                    return seen.tell(output);
                }
            }
        }
        seen.sample(&mut watched);
    }
}

/// Takes more processes under watch, each in the place of the last of its name.
fn name(watched: &mut Vec<Watched>, processes: Pids) {
    for (name, pid) in processes {
        watched.retain(|each| !each.is_called(&name));
        watched.push(Watched::new(name, pid));
    }
}

impl Seen {
    fn sample(&mut self, watched: &mut [Watched]) {
        for each in watched {
            self.processes.extend(each.read(&mut self.unavailable));
        }
        self.machine.push(machine::read(&mut self.unavailable));
    }

    fn tell(&self, output: &mut impl Write) -> Result<(), WatchError> {
        let mut output = std::io::BufWriter::new(output);
        for sample in &self.processes {
            tell_unflushed(&mut output, &Event::Process(sample))?;
        }
        for sample in &self.machine {
            tell_unflushed(&mut output, &Event::Machine(sample))?;
        }
        let done = Event::Done {
            missed: self.missed,
            unavailable: &self.unavailable,
        };
        tell(&mut output, &done)
    }
}

fn tell(output: &mut impl Write, event: &Event) -> Result<(), WatchError> {
    tell_unflushed(output, event)?;
    output.flush().map_err(WatchError::Front)
}

fn tell_unflushed(output: &mut impl Write, event: &Event) -> Result<(), WatchError> {
    let line = serde_json::to_string(event).expect("an event is made of numbers and words");
    writeln!(output, "{line}").map_err(WatchError::Front)
}
