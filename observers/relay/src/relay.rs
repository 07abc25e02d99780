//! The life of the relay: receive, release what is due, obey the front, sleep until something is to be done.
//!
//! One thread serves both directions; it takes turns in small portions, so that neither direction nor the front starves.

use std::io::{self, Read};
use std::os::fd::AsRawFd;

use middlemark_runtime::clock::now_ns;

use crate::error::RelayError;
use crate::front::command::{Command, Lines};
use crate::front::event::{self, Account, Event, Summary};
use crate::front::spec::Spec;
use crate::link::chance::{Chance, GENERATOR};
use crate::link::impairment::Impairment;
use crate::link::path::Path;
use crate::link::serialiser::OVERHEAD_BYTES;
use crate::link::trace::Trace;
use crate::network::interface::Interface;
use crate::network::port::{Arrival, Port};

/// Frames that are received or released before the next turn.
const PORTION: usize = 64;
/// How long a busy relay may leave the front unheard.
const FRONT_EVERY_NS: i64 = 1_000_000;
/// Addresses, type and a VLAN tag.
const ETHERNET_BYTES: usize = 18;

pub(crate) struct Relay {
    host: Port,
    network: Port,
    outgoing: Path,
    incoming: Path,
    trace: Trace,
    spin_ns: i64,
    heard_ns: i64,
}

impl Relay {
    /// Opens both interfaces; the event says that it did.
    pub(crate) fn open(spec: Spec) -> Result<(Self, Event), RelayError> {
        let interfaces = [Interface::find(&spec.host_side)?, Interface::find(&spec.network_side)?];
        let largest_frame_bytes = interfaces.iter().map(|one| one.mtu_bytes).max().unwrap_or(0) + ETHERNET_BYTES;
        let trace = Trace::new(spec.trace);
        let first = trace.first();
        let outgoing = first.and_then(|point| point.outgoing.clone()).unwrap_or(spec.outgoing);
        let incoming = first.and_then(|point| point.incoming.clone()).unwrap_or(spec.incoming);
        let path = |impairment, direction| {
            Path::new(
                impairment,
                Chance::new(spec.seed, direction),
                spec.frames_in_flight,
                largest_frame_bytes,
            )
        };
        let relay = Self {
            host: Port::open(&interfaces[0], largest_frame_bytes)?,
            network: Port::open(&interfaces[1], largest_frame_bytes)?,
            outgoing: path(outgoing, 0),
            incoming: path(incoming, 1),
            trace,
            spin_ns: spec.spin_ns,
            heard_ns: now_ns(),
        };
        let ready = Event::Ready {
            generator: GENERATOR,
            wire_overhead_bytes: OVERHEAD_BYTES,
            largest_frame_bytes,
            warnings: interfaces.iter().flat_map(Interface::warnings).collect(),
        };
        Ok((relay, ready))
    }

    /// Carries frames until the front says stop or is gone; gives the last event.
    pub(crate) fn run<R: Read + AsRawFd>(&mut self, lines: &mut Lines<R>) -> Result<Event, RelayError> {
        loop {
            while let Some(line) = lines.next() {
                if self.obey(&line)? {
                    return Ok(Event::Done(self.summary()));
                }
            }
            let received = receive(&mut self.host, &mut self.outgoing) + receive(&mut self.network, &mut self.incoming);
            self.follow_trace();
            let released = release(&mut self.outgoing, &self.network) + release(&mut self.incoming, &self.host);
            if !self.wait(lines, received + released > 0)? {
                return Ok(Event::Done(self.summary()));
            }
        }
    }

    /// Does what a line says; true when it says stop.
    fn obey(&mut self, line: &str) -> Result<bool, RelayError> {
        match Command::parse(line) {
            Ok(Command::Set { outgoing, incoming }) => {
                self.change(outgoing, incoming);
                self.trace = Trace::new(Vec::new());
                event::print(&Event::Applied { at_ns: now_ns() })?;
            }
            Ok(Command::Begin { at_ns }) => {
                self.trace.begin(at_ns);
                event::print(&Event::Applied { at_ns: now_ns() })?;
            }
            Ok(Command::Report {}) => {
                let summary = self.summary();
                event::print(&Event::Report(summary))?;
            }
            Ok(Command::Stop {}) => return Ok(true),
            Err(reason) => event::print(&Event::Refused { reason })?,
        }
        Ok(false)
    }

    fn change(&mut self, outgoing: Option<Impairment>, incoming: Option<Impairment>) {
        if let Some(outgoing) = outgoing {
            self.outgoing.change(outgoing);
        }
        if let Some(incoming) = incoming {
            self.incoming.change(incoming);
        }
    }

    fn follow_trace(&mut self) {
        if self.trace.next_ns().is_none() {
            return;
        }
        while let Some(point) = self.trace.step(now_ns()).cloned() {
            self.change(point.outgoing, point.incoming);
        }
    }

    /// Sleeps, spins or goes on at once; false when the front is gone.
    fn wait<R: Read + AsRawFd>(&mut self, lines: &mut Lines<R>, is_busy: bool) -> Result<bool, RelayError> {
        let now_ns = now_ns();
        let next_ns = [self.outgoing.next_ns(), self.incoming.next_ns(), self.trace.next_ns()]
            .into_iter()
            .flatten()
            .min();
        let left_ns = if is_busy {
            Some(0)
        } else {
            next_ns.map(|next_ns| (next_ns - now_ns - self.spin_ns).max(0))
        };
        if left_ns == Some(0) && now_ns - self.heard_ns < FRONT_EVERY_NS {
            std::hint::spin_loop();
            return Ok(true);
        }
        self.heard_ns = now_ns;
        let [host, network, front] = poll(
            [self.host.descriptor(), self.network.descriptor(), lines.descriptor()],
            left_ns,
        )?;
        for (port, ready) in [(&self.host, host), (&self.network, network)] {
            if ready & libc::POLLERR != 0 {
                port.clear_error();
            }
        }
        if front == 0 { Ok(true) } else { lines.read() }
    }

    fn summary(&mut self) -> Summary {
        let account = |path: &Path, port: &mut Port| Account {
            counts: path.counts(),
            in_flight: path.in_flight(),
            dropped_by_kernel: port.kernel_drops(),
            lateness: path.lateness(),
        };
        Summary {
            at_ns: now_ns(),
            outgoing: account(&self.outgoing, &mut self.host),
            incoming: account(&self.incoming, &mut self.network),
        }
    }
}

fn receive(port: &mut Port, path: &mut Path) -> usize {
    port.receive(PORTION, |arrival| match arrival {
        Arrival::Frame {
            frame,
            arrived_ns,
            has_unfinished_checksum,
        } => {
            if has_unfinished_checksum {
                path.note_unfinished_checksum();
            }
            path.accept(frame, arrived_ns);
        }
        Arrival::TooLong { frame_bytes } => path.refuse_too_long(frame_bytes),
    })
}

fn release(path: &mut Path, port: &Port) -> usize {
    (0..PORTION)
        .take_while(|_| path.next_ns().is_some() && path.release(now_ns(), |frame| port.send(frame)))
        .count()
}

/// What is ready among the descriptors, waiting no longer than `left_ns` (none: until something is).
fn poll(descriptors: [i32; 3], left_ns: Option<i64>) -> Result<[i16; 3], RelayError> {
    let mut polled = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    let time = left_ns.map(|left_ns| libc::timespec {
        tv_sec: left_ns / 1_000_000_000,
        tv_nsec: left_ns % 1_000_000_000,
    });
    let timeout = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `polled` holds three descriptors, `timeout` is null or valid, and no signal mask is given.
    let status = unsafe { libc::ppoll(polled.as_mut_ptr(), 3, timeout, std::ptr::null()) };
    if status == -1 {
        let source = io::Error::last_os_error();
        if source.kind() == io::ErrorKind::Interrupted {
            return Ok([0; 3]);
        }
        return Err(RelayError::Machine {
            doing: "waiting for frames".to_owned(),
            source,
        });
    }
    Ok(polled.map(|one| one.revents))
}
