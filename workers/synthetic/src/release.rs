//! Release: a thread on each link that takes messages from the ring and releases each at its due time.
//!
//! It sleeps until shortly before the next release and spins from there, or looks all the time; it keeps how late it was all the same.

use std::thread::JoinHandle;
use std::time::Duration;

use middlemark_ring::{Reader, Waker};
use middlemark_runtime::{Channel, Header, Idle, Phase, Publish, PublisherMut, Receiver, Server, clock};

use crate::fate::Identity;
use crate::lateness::Lateness;
use crate::link::Link;

/// One link being served.
pub(crate) struct Releases {
    waker: Waker,
    thread: JoinHandle<Lateness>,
}

/// Everything that its thread owns.
pub(crate) struct Postman {
    pub(crate) reader: Reader,
    pub(crate) link: Link,
    /// At the subscriber's index.
    pub(crate) channel: Channel,
    pub(crate) publisher: u16,
    pub(crate) spin_ns: i64,
    /// Whether its thread never sleeps.
    pub(crate) is_polling: bool,
    pub(crate) taker: Taker,
}

/// Who takes what is released.
pub(crate) enum Taker {
    Receiver(Receiver),
    /// A server, with what carries its responses to the link's client.
    Server(Server, Box<dyn Publish>),
}

impl Taker {
    fn take(&mut self, released_ns: i64, message: &[u8]) {
        match self {
            Taker::Receiver(receiver) => receiver.receive_at(released_ns, message),
            Taker::Server(server, responding) => server.serve(message, PublisherMut::Copying(&mut **responding)),
        }
    }
}

impl Releases {
    pub(crate) fn start(postman: Postman) -> std::io::Result<Releases> {
        let waker = postman.reader.waker();
        let thread = std::thread::Builder::new()
            .name("release".into())
            .spawn(move || postman.run())?;
        Ok(Releases { waker, thread })
    }

    /// Ends the thread; what is still under way is dropped. Tells how late its releases were.
    pub(crate) fn stop(self) -> Option<Lateness> {
        self.waker.stop();
        self.thread.join().ok()
    }
}

impl Postman {
    fn run(mut self) -> Lateness {
        let (mut lateness, mut idle) = (Lateness::new(), Idle::default());
        while !self.reader.is_stopping() {
            let mut has_found = false;
            while self.link.has_room() && self.take_in() {
                has_found = true;
            }
            let next_due_ns = self.release_due(&mut lateness);
            if self.is_polling {
                idle.after_look(has_found);
            } else {
                self.wait(next_due_ns);
            }
        }
        lateness
    }

    fn take_in(&mut self) -> bool {
        let (link, channel, publisher) = (&mut self.link, &self.channel, self.publisher);
        self.reader.take(|slot| {
            let Some(header) = slot.first_chunk().and_then(Header::decode) else {
                return; // only this project's publishers write into the ring
            };
            let identity = Identity {
                channel: channel.number,
                publisher,
                subscriber: channel.index,
                sequence: header.sequence,
            };
            link.take_in(
                identity,
                header.sent_ns,
                header.phase == Phase::Greeting,
                &slot[..channel.message_bytes(header.phase, header.sequence)],
            );
        })
    }

    /// Releases all that is due; tells when the next is.
    fn release_due(&mut self, lateness: &mut Lateness) -> Option<i64> {
        while let Some(due_ns) = self.link.next_due_ns() {
            let now_ns = Receiver::stamp();
            if now_ns < due_ns {
                return Some(due_ns);
            }
            let taker = &mut self.taker;
            self.link.release(|message| taker.take(now_ns, message));
            lateness.record(now_ns - due_ns);
        }
        None
    }

    fn wait(&self, next_due_ns: Option<i64>) {
        let Some(due_ns) = next_due_ns else {
            return self.reader.wait(None);
        };
        let rest_ns = due_ns - self.spin_ns - clock::now_ns();
        if rest_ns <= 0 {
            std::hint::spin_loop();
        } else if self.link.has_room() {
            self.reader.wait(Some(Duration::from_nanos(rest_ns as u64)));
        } else {
            clock::sleep_until(due_ns - self.spin_ns);
        }
    }
}

/// How late this machine is when it sleeps until `spin_ns` before an instant and spins from there.
pub(crate) fn timer_error(spin_ns: i64) -> Lateness {
    const INSTANTS: usize = 200;
    const DISTANCE_NS: i64 = 100_000;
    let mut lateness = Lateness::new();
    // As with releases: a longer spin is the same as never sleeping.
    let spin_ns = spin_ns.min(1_000_000);
    for _ in 0..INSTANTS {
        let due_ns = clock::now_ns() + spin_ns + DISTANCE_NS;
        clock::wait_until(due_ns, spin_ns);
        lateness.record(clock::now_ns() - due_ns);
    }
    lateness
}
