//! Servers and clients by Zenoh's own means: a queryable that replies to each query, a querier whose gets are requests.
//!
//! Memory is moved to Zenoh, as a publisher's is; `session` declares and closes, `channel` reads where Zenoh's threads don't call.

pub(crate) mod channel;

use std::thread::JoinHandle;
use std::time::Duration;

use middlemark_contract::Delivery;
use middlemark_runtime::{
    Channel, Exchange, Matched, MiddlewareError, PublishError, PublishMoved, PublisherMut, Receiver, Server,
};
use zenoh::Wait;
use zenoh::handlers::{Callback, FifoChannel, IntoHandler};
use zenoh::matching::MatchingStatus;
use zenoh::query::{Querier, Query, Queryable, Reply};
use zenoh::{Session, qos};

use self::channel::CHANNEL_MESSAGES;
use crate::pieces::HandOver;
use crate::publisher::congestion;

/// So much longer than the client does Zenoh wait for a reply, so that one which comes late is seen to.
const LATE: Duration = Duration::from_secs(10);

/// Who calls a server with its queries.
pub(crate) enum Served {
    /// Zenoh's own threads.
    ByZenoh(Queryable<()>),
    /// A thread of the worker's that reads the queryable's channel, until the session's end closes it.
    ByThread(JoinHandle<()>),
}

/// Declares a server's queryable; its replies go out on the thread that calls it with the query.
pub(crate) fn serve(
    session: &Session,
    exchange: &Exchange<'_>,
    server: Server,
    delivery: Delivery,
) -> Result<Served, MiddlewareError> {
    let answer = move |query: Query| {
        if let Some(payload) = query.payload() {
            server.serve(&payload.to_bytes(), PublisherMut::Moving(&mut Replying(&query)));
        }
    };
    let declared = session.declare_queryable(exchange.name()).complete(true);
    if delivery == Delivery::LibraryThread {
        return Ok(Served::ByZenoh(declared.callback(answer).wait()?));
    }
    let queryable = declared.with(FifoChannel::new(CHANNEL_MESSAGES)).wait()?;
    Ok(Served::ByThread(channel::read(queryable, delivery, answer)))
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
    replies: Replies,
}

/// Where the reply to a get goes.
enum Replies {
    /// To the receiver, on Zenoh's own thread.
    Received(Receiver, HandOver),
    /// Into the channel of all of the client's gets.
    Queued(Callback<Reply>),
}

impl Asking {
    pub(crate) fn new(
        session: &Session,
        exchange: &Exchange<'_>,
        express: bool,
        (responses, hand_over): (Receiver, HandOver),
        (found, delivery): (Matched, Delivery),
    ) -> Result<(Asking, Option<JoinHandle<()>>), MiddlewareError> {
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
        if delivery == Delivery::LibraryThread {
            let replies = Replies::Received(responses, hand_over);
            return Ok((Asking { querier, replies }, None));
        }
        let (callback, channel) = FifoChannel::new(CHANNEL_MESSAGES).into_handler();
        let take = move |reply: Reply| receive(&reply, &responses, hand_over);
        let reader = channel::read(Box::new(channel), delivery, take);
        let replies = Replies::Queued(callback);
        Ok((Asking { querier, replies }, Some(reader)))
    }
}

fn receive(reply: &Reply, responses: &Receiver, hand_over: HandOver) {
    if let Ok(sample) = reply.result() {
        hand_over(sample, responses);
    }
}

impl PublishMoved for Asking {
    fn publish_moved(&mut self, message: Vec<u8>) -> Result<(), PublishError> {
        let get = self.querier.get().payload(message);
        let asked = match &self.replies {
            Replies::Queued(callback) => get.with((callback.clone(), ())).wait(),
            Replies::Received(responses, hand_over) => {
                let (responses, hand_over) = (responses.clone(), *hand_over);
                get.callback(move |reply| receive(&reply, &responses, hand_over)).wait()
            }
        };
        asked.map_err(|_| PublishError::NotConnected)
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
