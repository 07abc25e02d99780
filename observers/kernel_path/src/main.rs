//! `middlemark-kernel-path`: records what the kernel does for some processes, for the path of their messages.
//!
//! System calls, packets, wake-ups and switches go from BPF programs at tracepoints through a ring buffer into one `.npy`
//! file, until standard input ends. It knows no messages: which events are a message's, the front finds out afterwards.

mod command;
mod error;
mod event;
mod message;
mod process;
mod program;
mod recording;
mod witness;
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
#[allow(missing_docs, unreachable_pub, dead_code, reason = "generated")]
mod skeleton {
    include!(concat!(env!("OUT_DIR"), "/kernel_path.skel.rs"));
}

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::command::{Command, Heard, Lines, Spec, parse};
use crate::error::ObserverError;
use crate::message::{Lost, Message, print};
use crate::program::Program;
use crate::recording::Recording;
use crate::witness::Witness;

/// How often the ring buffer is emptied: it holds some 500 000 records.
const EMPTYING: Duration = Duration::from_millis(20);

/// Records what the kernel does for some processes; the spec is the first line of standard input.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Question>,
}

/// What else it can do.
#[derive(Subcommand)]
enum Question {
    /// Loads and attaches everything, records nothing, and ends: whether this machine lets the kernel be observed.
    Check,
}

fn main() -> ExitCode {
    let ended = match Arguments::parse().command {
        Some(Question::Check) => Program::load(&mut MaybeUninit::uninit()).map(|_| ()),
        None => record_as_told(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("middlemark-kernel-path: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn record_as_told() -> Result<(), ObserverError> {
    let front = std::io::stdin().as_fd().try_clone_to_owned();
    record(&mut Lines::new(front.map_err(ObserverError::Front)?))
}

fn record(lines: &mut Lines) -> Result<(), ObserverError> {
    let first = lines.first()?;
    let spec: Spec = parse(&first)?;
    let recording = Recording::create(&spec.recording)?;
    let mut place = MaybeUninit::uninit();
    let mut program = Program::load(&mut place)?;
    let unseen = follow_until_end(&mut program, &recording, &spec, lines)?;
    let lost = Lost {
        without_room: program.without_room(),
        nested: program.nested()?,
        unseen,
    };
    let (events, calls) = recording.finish()?;
    print(&Message::Done { events, lost, calls })
}

/// Gives how many packets no program was run for.
fn follow_until_end(
    program: &mut Program<'_>,
    recording: &Recording,
    spec: &Spec,
    lines: &mut Lines,
) -> Result<u64, ObserverError> {
    let ring = program.events(recording)?;
    program.follow_packets_of(&spec.forwarders)?;
    let processes = program.follow(&spec.processes)?;
    let mut witness = Witness::default();
    for senders in [&spec.processes, &spec.forwarders, &spec.switches] {
        witness.watch(senders, program)?;
    }
    print(&Message::Ready { processes })?;
    loop {
        match lines.next(EMPTYING)? {
            Heard::Line(line) => {
                let Command::Follow { processes } = parse(&line)? else {
                    break;
                };
                witness.watch(&processes, program)?;
                let processes = program.follow(&processes)?;
                print(&Message::Following { processes })?;
            }
            Heard::Nothing => {}
            Heard::End => break,
        }
        ring.consume()
            .map_err(ObserverError::kernel("emptying the ring buffer"))?;
    }
    let missed = witness.missed(program)?;
    program.detach();
    ring.consume()
        .map_err(ObserverError::kernel("emptying the ring buffer"))?;
    Ok(missed)
}
