//! Requests and responses over two topics, as the basic service mapping of DDS-RPC has them (OMG formal/17-04-01, 7.5.1): a
//! request has its identity, the GUID of its writer and the number of the sample, and its response repeats that.
//!
//! Both lie before the message in one type of octets, as the workers' types are. Responses of a server go to all of its
//! clients, each of which takes its own. The workers make writers and readers of these channels; `reader` has who takes.

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use middlemark_runtime::{
    Channel, Exchange, Publish, PublishError, PublishInPlace, Publisher, PublisherMut, Receiver, Server,
};

/// A writer's GUID.
pub type Guid = [u8; 16];

/// What stands before each request and response: a GUID and the number of a sample.
pub const IDENTITY_BYTES: usize = size_of::<Guid>() + size_of::<i64>();

/// The topics of a server's requests and of its responses, given the stream's topic.
#[must_use]
pub fn topics(requests: &str, server: u16) -> [String; 2] {
    ["Request", "Reply"].map(|kind| format!("{requests}_{server}_{kind}"))
}

/// The channels of a server's requests and of its responses, with room for identities.
#[must_use]
pub fn channels(exchange: &Exchange<'_>) -> [Channel; 2] {
    let [requests, responses] = topics(&exchange.requests.topic, exchange.server);
    [(exchange.requests, requests), (exchange.responses, responses)].map(|(channel, topic)| Channel {
        topic,
        size_bytes: channel.size_bytes + IDENTITY_BYTES,
        recorded: None,
        ..channel.clone()
    })
}

/// Messages behind an identity. The application writes them where they are sent from.
struct Identified {
    writer: Box<dyn Publish>,
    /// The identity, then room for the largest message.
    sample: Box<[u8]>,
}

impl Identified {
    /// `channel` is one of [`channels`].
    fn new(writer: Box<dyn Publish>, channel: &Channel) -> Identified {
        Identified {
            writer,
            sample: vec![0; channel.size_bytes].into(),
        }
    }
}

impl PublishInPlace for Identified {
    #[inline]
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let end = IDENTITY_BYTES + size_bytes;
        let message = std::ptr::from_mut(&mut self.sample[IDENTITY_BYTES..end]);
        // SAFETY: it is exclusively borrowed for this call, and `write` only initialises bytes, all of them.
        write(unsafe { &mut *(message as *mut [MaybeUninit<u8>]) });
        self.writer.publish(&self.sample[..end])
    }
}

/// The requests of one client.
struct Requests {
    identified: Identified,
    /// How many samples its writer has written.
    written: i64,
}

impl PublishInPlace for Requests {
    #[inline]
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError> {
        let number = self.written + 1;
        self.identified.sample[size_of::<Guid>()..IDENTITY_BYTES].copy_from_slice(&number.to_le_bytes());
        self.identified.publish_in_place(size_bytes, write)?;
        self.written = number;
        Ok(())
    }
}

/// What sends a client's requests by its writer, which has this GUID; `requests` is of [`channels`].
#[must_use]
pub fn requests(writer: Box<dyn Publish>, guid: Guid, requests: &Channel) -> Publisher {
    let mut identified = Identified::new(writer, requests);
    identified.sample[..guid.len()].copy_from_slice(&guid);
    Publisher::InPlace(Box::new(Requests { identified, written: 0 }))
}

/// A server, which answers each request by its writer of responses.
pub struct Serving {
    server: Server,
    responses: Mutex<Identified>,
}

impl Serving {
    /// `responses` is of [`channels`].
    #[must_use]
    pub fn new(server: Server, writer: Box<dyn Publish>, responses: &Channel) -> Serving {
        Serving {
            server,
            responses: Mutex::new(Identified::new(writer, responses)),
        }
    }

    /// Takes a request; of a type of one size, it may be shorter than the sample.
    #[inline]
    pub(crate) fn take(&self, sample: &[u8]) {
        let received_ns = Receiver::stamp();
        let Some((identity, request)) = sample.split_at_checked(IDENTITY_BYTES) else {
            return; // nobody asks so
        };
        let request = &request[..self.server.request_bytes(request)];
        // Several threads of a library may have requests at once; a server computes for one after the other anyway.
        let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
        responses.sample[..IDENTITY_BYTES].copy_from_slice(identity);
        self.server
            .serve_at(received_ns, request, PublisherMut::InPlace(&mut *responses));
    }
}

/// A client that waits for the responses to the requests of its writer.
pub struct Awaiting {
    /// The writer's.
    pub guid: Guid,
    /// Who takes its responses.
    pub responses: Receiver,
}

impl Awaiting {
    /// Takes a response, unless it is another client's.
    #[inline]
    pub(crate) fn take(&self, sample: &[u8]) {
        match sample.split_at_checked(IDENTITY_BYTES) {
            Some((identity, response)) if identity.starts_with(&self.guid) => self.responses.receive_slot(response),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use middlemark_runtime::harness;

    use super::*;

    const GUID: Guid = [7; 16];

    /// Keeps what is written, and refuses every second sample.
    #[derive(Clone, Default)]
    struct Notes(Arc<Mutex<Vec<Vec<u8>>>>);

    impl Publish for Notes {
        fn publish(&mut self, sample: &[u8]) -> Result<(), PublishError> {
            let mut samples = self.0.lock().unwrap();
            samples.push(sample.to_vec());
            if samples.len().is_multiple_of(2) {
                return Err(PublishError::Full);
            }
            Ok(())
        }
    }

    #[test]
    fn a_request_stands_behind_its_writers_guid_and_the_number_of_the_sample_that_is_written() {
        let notes = Notes::default();
        let channel = Channel {
            size_bytes: IDENTITY_BYTES + 8,
            ..harness::channel(8)
        };
        let Publisher::InPlace(mut publisher) = requests(Box::new(notes.clone()), GUID, &channel) else {
            panic!("requests are written in place");
        };
        let outcomes = [b"one.....", b"refused.", b"three..."].map(|request| {
            publisher.publish_in_place(8, &mut |place| {
                for (place, byte) in place.iter_mut().zip(request) {
                    place.write(*byte);
                }
            })
        });
        assert_eq!(outcomes, [Ok(()), Err(PublishError::Full), Ok(())]);
        let sample = |number: i64, request: &[u8]| [&GUID, number.to_le_bytes().as_slice(), request].concat();
        assert_eq!(
            *notes.0.lock().unwrap(),
            [sample(1, b"one....."), sample(2, b"refused."), sample(2, b"three...")]
        );
    }

    #[test]
    fn every_server_has_two_topics_of_its_own() {
        let all = [topics("s", 0), topics("s", 1), topics("s_1", 0)].concat();
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (6, 6), "{all:?}");
    }
}
