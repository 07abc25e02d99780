//! A publisher that stamps: it fills a message, stamps it, and hands it to the middleware, in this order.
//!
//! Filling is timed, so that it can be taken off; what a middleware's memory takes to get is charged, by stamping that
//! much earlier. It neither paces (`sender`) nor records.

use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::clock;
use crate::message::header::{HEADER_BYTES, Header};
use crate::message::payload::{Identity, Pool};
use crate::message::typed::{Form, Maker};
use crate::send::pages::{self, LentMemory};
use crate::send::publish::{PublishError, Publisher, PublisherMut};

/// One publisher with what stamps its messages.
pub(crate) struct StampingPublisher {
    publisher: Publisher,
    stamper: Stamper,
}

/// Fills and stamps the messages of one endpoint, with the application's own buffer for them.
pub(crate) struct Stamper {
    pool: Arc<Pool>,
    /// Of typed messages; none where bodies are octets.
    maker: Option<Box<Maker>>,
    /// The application's buffer; empty where messages are written into other memory.
    buffer: Box<[u8]>,
    lent: Box<LentMemory>,
}

/// When a message was handed over, when the call came back, and by how much filling had delayed it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handed {
    pub(crate) sent_ns: i64,
    pub(crate) returned_ns: i64,
    pub(crate) fill_ns: i64,
    /// The part of filling in which this message was serialised.
    pub(crate) serialise_ns: u32,
    pub(crate) result: Result<(), PublishError>,
}

impl StampingPublisher {
    /// One for messages of up to `largest_bytes`, typed where they have a form.
    pub(crate) fn new(
        publisher: Publisher,
        largest_bytes: usize,
        form: Option<Form>,
        pool: Arc<Pool>,
    ) -> StampingPublisher {
        StampingPublisher {
            stamper: Stamper::of(&publisher, largest_bytes, form, pool),
            publisher,
        }
    }

    /// See [`Stamper::send`].
    #[inline]
    pub(crate) fn send(&mut self, header: Header, size_bytes: usize, delayed_ns: i64) -> Handed {
        self.stamper
            .send(self.publisher.as_mut(), header, size_bytes, delayed_ns)
    }

    /// See [`Publisher::flush`].
    pub(crate) fn flush(&mut self) {
        self.publisher.flush();
    }
}

impl Stamper {
    /// One for a publisher's messages of up to `largest_bytes`.
    pub(crate) fn of(publisher: &Publisher, largest_bytes: usize, form: Option<Form>, pool: Arc<Pool>) -> Stamper {
        match publisher {
            Publisher::Copying(_) => Stamper::new(largest_bytes, form, pool),
            Publisher::InPlace(_) | Publisher::Moving(_) => Stamper::new(0, form, pool),
        }
    }

    /// One whose buffer takes so many bytes: as many as the largest message that is copied has.
    pub(crate) fn new(buffer_bytes: usize, form: Option<Form>, pool: Arc<Pool>) -> Stamper {
        Stamper {
            pool,
            maker: form.map(|form| Box::new(Maker::new(form))),
            buffer: vec![0xA5; buffer_bytes].into_boxed_slice(),
            lent: Box::new(LentMemory::new()),
        }
    }

    /// Fills a message, stamps it and hands it over; filling those before it has already delayed it by `delayed_ns`.
    #[inline]
    pub(crate) fn send(
        &mut self,
        publisher: PublisherMut<'_>,
        header: Header,
        size_bytes: usize,
        delayed_ns: i64,
    ) -> Handed {
        let asked_ns = clock::now_ns();
        let mut message = Message {
            pool: &self.pool,
            maker: self.maker.as_deref_mut(),
            header: Header {
                sent_ns: asked_ns,
                ..header
            },
            fill_ns: delayed_ns,
            serialise_ns: 0,
        };
        let result = match publisher {
            PublisherMut::Copying(publisher) => {
                message.write(uninit(&mut self.buffer[..size_bytes]), asked_ns, 0);
                publisher.publish(&self.buffer[..size_bytes])
            }
            PublisherMut::InPlace(publisher) => publisher.publish_in_place(size_bytes, &mut |memory| {
                self.lent.touch_new(memory);
                let got_ns = clock::now_ns();
                message.write(memory, got_ns, got_ns - asked_ns);
            }),
            PublisherMut::Moving(publisher) => {
                let mut memory = pages::fresh(size_bytes);
                let got_ns = clock::now_ns();
                message.write(
                    &mut memory.spare_capacity_mut()[..size_bytes],
                    got_ns,
                    got_ns - asked_ns,
                );
                // SAFETY: the capacity is at least `size_bytes`, all of which have just been written.
                unsafe { memory.set_len(size_bytes) };
                publisher.publish_moved(memory)
            }
        };
        Handed {
            sent_ns: message.header.sent_ns,
            returned_ns: clock::now_ns(),
            fill_ns: message.fill_ns,
            serialise_ns: message.serialise_ns,
            result,
        }
    }
}

/// A message that is being made.
struct Message<'a> {
    pool: &'a Pool,
    maker: Option<&'a mut Maker>,
    header: Header,
    fill_ns: i64,
    serialise_ns: u32,
}

impl Message<'_> {
    /// Writes it into memory that took `memory_ns` to get and was there at `begin_ns`: the body, then the stamp.
    #[inline]
    fn write(&mut self, memory: &mut [MaybeUninit<u8>], begin_ns: i64, memory_ns: i64) {
        let identity = Identity::of(&self.header);
        match &mut self.maker {
            Some(maker) if memory.len() > HEADER_BYTES => {
                self.serialise_ns = maker.make(identity, self.pool, &mut memory[HEADER_BYTES..]);
            }
            // A greeting is the header alone, whatever the others are.
            _ => self.pool.fill(identity, memory),
        }
        let filled_ns = clock::now_ns();
        self.fill_ns += filled_ns - begin_ns;
        self.header.sent_ns = filled_ns - memory_ns;
        self.header.intended_ns += self.fill_ns;
        for (place, byte) in memory.iter_mut().zip(self.header.encode()) {
            place.write(byte);
        }
    }
}

fn uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both have the same layout, and only `Message::write` gets it, which leaves every byte initialised.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

#[cfg(test)]
mod tests {
    use middlemark_contract::{PayloadKind, Serialisation};

    use super::*;
    use crate::message::header::Phase;
    use crate::send::fake_publishers::{LOAN_NS, one_of_each};

    /// Large enough to take far longer to fill than to stamp.
    const SIZE_BYTES: usize = 4 << 20;
    const DELAYED_NS: i64 = 5;

    fn header(sequence: u32, intended_ns: i64) -> Header {
        Header {
            sent_ns: 0,
            intended_ns,
            sequence,
            token: 7,
            channel: 1,
            publisher: 2,
            asker: 0,
            phase: Phase::Window,
        }
    }

    #[test]
    fn filling_is_timed_and_taken_off_the_intended_instant_whoever_has_the_memory() {
        for (kind, publisher, notes) in one_of_each() {
            let pool = Arc::new(Pool::new(7, SIZE_BYTES));
            let mut publisher = StampingPublisher::new(publisher, SIZE_BYTES, None, pool);
            let due_ns = clock::now_ns();
            let handed = publisher.send(header(3, due_ns), SIZE_BYTES, DELAYED_NS);
            let call = &notes.calls()[0];
            assert_eq!(
                (call.header.sent_ns, call.header.intended_ns),
                (handed.sent_ns, due_ns + handed.fill_ns),
                "{kind}"
            );
            assert!(handed.fill_ns > DELAYED_NS, "{kind}: {handed:?}");
            // Without filling it would have been sent when the publisher was called: after its instant, before the call.
            let asked_ns = handed.sent_ns - (handed.fill_ns - DELAYED_NS);
            assert!(due_ns <= asked_ns, "{kind}: {handed:?}");
            let fills_first = kind != "in place";
            assert!(
                asked_ns <= call.began_ns && (handed.sent_ns <= call.began_ns || !fills_first),
                "{kind}: {handed:?}"
            );
        }
    }

    #[test]
    fn every_message_is_filled_anew_whoever_has_the_memory() {
        for (kind, publisher, notes) in one_of_each() {
            let pool = Arc::new(Pool::new(7, 1000));
            let mut publisher = StampingPublisher::new(publisher, 1000, None, Arc::clone(&pool));
            for (sequence, size_bytes) in [(0, 1000), (1, 32), (2, 500)] {
                publisher.send(header(sequence, 0), size_bytes, 0);
            }
            for (call, size_bytes) in notes.calls().iter().zip([1000, 32, 500]) {
                assert_eq!(call.body, pool.body(Identity::of(&call.header), size_bytes), "{kind}");
            }
        }
    }

    #[test]
    fn serialising_is_a_part_of_filling_and_told_apart_whoever_has_the_memory() {
        let pool = Arc::new(Pool::new(7, SIZE_BYTES));
        for serialisation in [Serialisation::Cdr, Serialisation::Plain] {
            let form = Form::of(PayloadKind::Image, serialisation, SIZE_BYTES).unwrap();
            for (kind, publisher, notes) in one_of_each() {
                let mut publisher = StampingPublisher::new(publisher, SIZE_BYTES, Some(form), Arc::clone(&pool));
                let handed = publisher.send(header(3, 0), SIZE_BYTES, 0);
                let call = &notes.calls()[0];
                let read = form.read(&call.body).unwrap();
                assert!(form.is_right(read, Identity::of(&call.header), &pool), "{kind}");
                assert_eq!(
                    handed.serialise_ns > 0,
                    serialisation == Serialisation::Cdr,
                    "{kind}: {handed:?}"
                );
                assert!(handed.fill_ns > i64::from(handed.serialise_ns), "{kind}: {handed:?}");
            }
        }
    }

    #[test]
    fn what_a_loan_takes_is_charged() {
        let [_, (_, lending, _), _] = one_of_each();
        let mut publisher = StampingPublisher::new(lending, 64, None, Arc::new(Pool::new(7, 64)));
        let handed = publisher.send(header(0, 0), 64, 0);
        assert!(handed.returned_ns - handed.sent_ns >= LOAN_NS, "{handed:?}");
    }
}
