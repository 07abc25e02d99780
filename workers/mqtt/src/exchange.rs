//! Requests and responses by MQTT 5's own means: a request names the topic of its response and has data that tells it from
//! its client's others; the response goes to that topic with these data.
//!
//! `link` delivers both, `publisher` sends the requests. Every server has a topic for its requests and every client one for
//! its responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use middlemark_runtime::{PublishError, PublishMoved, PublisherMut, Receiver, Server};
use rumqttc::QoS;

use crate::protocol::{Delivered, Message, Properties};

/// Where the requests to a server go.
pub(crate) fn requests_topic(requests: &str, server: u16) -> String {
    format!("{requests}/{server}")
}

/// Where the responses to a client go.
pub(crate) fn responses_topic(responses: &str, client: u16) -> String {
    format!("{responses}/{client}")
}

/// The topics of the responses to all clients.
pub(crate) fn all_responses_topics(responses: &str) -> String {
    format!("{responses}/+")
}

/// The server of one topic.
pub(crate) struct Serving {
    pub(crate) server: Server,
    /// Of its responses.
    pub(crate) level: QoS,
}

impl Serving {
    /// Takes a request on the connection's own thread, from which `publish` sends the response.
    pub(crate) fn serve(&self, received_ns: i64, request: &Delivered, publish: impl Fn(Message) + Send) {
        let Some(topic) = request.response_topic() else {
            return; // nobody asks so
        };
        let mut responding = Responding {
            publish,
            level: self.level,
            topic,
            correlation_data: request.correlation_data(),
        };
        self.server
            .serve_at(received_ns, request.payload(), PublisherMut::Moving(&mut responding));
    }
}

/// The response to one request.
struct Responding<'a, P> {
    publish: P,
    level: QoS,
    topic: &'a str,
    correlation_data: Option<&'a [u8]>,
}

impl<P: Fn(Message) + Send> PublishMoved for Responding<'_, P> {
    fn publish_moved(&mut self, payload: Vec<u8>) -> Result<(), PublishError> {
        let response = Message {
            topic: self.topic.to_owned(),
            level: self.level,
            retain: false,
            payload,
            properties: Properties {
                response_topic: None,
                correlation_data: self.correlation_data.map(<[u8]>::to_vec),
            },
        };
        (self.publish)(response);
        Ok(())
    }
}

/// How a client asks: what each of its requests has beside the message.
#[derive(Clone)]
pub(crate) struct Asking {
    response_topic: Arc<str>,
    /// How many requests it has made.
    asked: Arc<AtomicU64>,
}

impl Asking {
    pub(crate) fn new(response_topic: &str) -> Asking {
        Asking {
            response_topic: response_topic.into(),
            asked: Arc::default(),
        }
    }

    /// The properties of the next request.
    pub(crate) fn next(&self) -> Properties {
        let number = self.asked.fetch_add(1, Relaxed);
        Properties {
            response_topic: Some((*self.response_topic).to_owned()),
            correlation_data: Some(number.to_be_bytes().to_vec()),
        }
    }

    /// Whether these are the correlation data of a request of this client.
    fn has_asked(&self, correlation_data: Option<&[u8]>) -> bool {
        let number = correlation_data
            .and_then(|data| data.try_into().ok())
            .map(u64::from_be_bytes);
        number.is_some_and(|number| number < self.asked.load(Relaxed))
    }
}

/// Who waits for a client's responses.
pub(crate) struct Awaiting {
    pub(crate) asking: Asking,
    pub(crate) responses: Receiver,
}

impl Awaiting {
    /// Takes a response; one to no request of this client is none.
    pub(crate) fn take(&self, received_ns: i64, response: &Delivered) {
        if self.asking.has_asked(response.correlation_data()) {
            self.responses.receive_at(received_ns, response.payload());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_knows_its_requests_by_their_correlation_data() {
        let asking = Asking::new("r");
        let requests = [asking.next(), asking.next()];
        assert_ne!(requests[0].correlation_data, requests[1].correlation_data);
        for request in requests {
            assert_eq!(request.response_topic.as_deref(), Some("r"));
            assert!(asking.has_asked(request.correlation_data.as_deref()));
        }
        let not_asked = Asking::new("r").next().correlation_data;
        assert!(!Asking::new("r").has_asked(not_asked.as_deref()));
        assert!(!asking.has_asked(None) && !asking.has_asked(Some(&[0])));
    }
}
