//! Servers and clients by Zenoh's own means: a queryable that replies to each query, a querier whose gets are requests.
//!
//! Memory is moved to Zenoh, as a publisher's is; `session` declares and closes.

use std::time::Duration;

use middlemark_runtime::{
    Channel, Exchange, Matched, MiddlewareError, PublishError, PublishMoved, PublisherMut, Receiver, Server,
};
use zenoh::Wait;
use zenoh::matching::MatchingStatus;
use zenoh::query::{Querier, Query, Queryable};
use zenoh::{Session, qos};

use crate::session::{HandOver, congestion};

/// So much longer than the client does Zenoh wait for a reply, so that one which comes late is seen to.
const LATE: Duration = Duration::from_secs(10);

/// Declares a server's queryable; its replies go out on the thread that calls it with the query.
pub(crate) fn serve(
    session: &Session,
    exchange: &Exchange<'_>,
    server: Server,
) -> Result<Queryable<()>, MiddlewareError> {
    let answer = move |query: Query| {
        if let Some(payload) = query.payload() {
            server.serve(&payload.to_bytes(), PublisherMut::Moving(&mut Replying(&query)));
        }
    };
    session
        .declare_queryable(exchange.name())
        .complete(true)
        .callback(answer)
        .wait()
}

/// The reply to one query.
struct Replying<'a>(&'a Query);

impl PublishMoved for Replying<'_> {
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError> {
        let reply = self.0.reply(self.0.key_expr(), message);
        reply.wait().map_err(|_| PublishError::NotConnected)
    }
}

/// One client's requests.
pub(crate) struct Asking {
    /// Zenoh drops the replies that come once it is gone.
    querier: Querier<'static>,
    responses: Receiver,
    hand_over: HandOver,
}

impl Asking {
    pub(crate) fn new(
        session: &Session,
        exchange: &Exchange<'_>,
        express: bool,
        (responses, hand_over): (Receiver, HandOver),
        found: Matched,
    ) -> Result<Asking, MiddlewareError> {
        let querier = session
            .declare_querier(exchange.name())
            .congestion_control(congestion(exchange.requests))
            .express(express)
            .timeout(Duration::from_nanos(exchange.timeout_ns) + LATE)
            .wait()?;
        let on_status = move |status: MatchingStatus| {
            if status.matching() {
                found.now();
            }
        };
        querier.matching_listener().callback(on_status).background().wait()?;
        Ok(Asking {
            querier,
            responses,
            hand_over,
        })
    }
}

impl PublishMoved for Asking {
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError> {
        let (responses, hand_over) = (self.responses.clone(), self.hand_over);
        let get = self.querier.get().payload(message).callback(move |reply| {
            if let Ok(sample) = reply.result() {
                hand_over(sample, &responses);
            }
        });
        get.wait().map_err(|_| PublishError::NotConnected)
    }
}

/// What a server or a client is made with, in words.
pub(crate) fn words(channel: &Channel, express: bool) -> String {
    let congestion: qos::CongestionControl = congestion(channel);
    format!(
        "queryable and querier, target BestMatching, consolidation AUTO, {congestion:?}, express {express}, moved memory, \
         Zenoh's own timeout {} s beyond the client's",
        LATE.as_secs()
    )
}
