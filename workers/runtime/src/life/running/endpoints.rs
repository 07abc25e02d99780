//! One endpoint of an application, made by its session: a publisher or client, a subscriber or server.
//!
//! `reserve` has got the memory for it; in which order endpoints are made, and their threads, are for `running`.

use std::sync::Arc;

use middlemark_contract::{ApplicationSpec, FirstMatch};

use crate::life::reserve::{Publication, Subscription};
use crate::message::channel::Channel;
use crate::message::exchange::Exchange;
use crate::message::payload::Pool;
use crate::middleware::{MiddlewareError, Session};
use crate::process::inbox::{Note, Notes};
use crate::receive::receiver::state::{Part, ReceiverState};
use crate::receive::receiver::{Receiver, Server};
use crate::send::answer::Answerer;
use crate::send::matched::Matched;
use crate::send::publish::Publisher;

/// Makes a publisher, or a client with what its responses come into.
pub(super) fn publisher(
    spec: &ApplicationSpec,
    session: &mut dyn Session,
    publication: &Publication,
    responses: Option<&(Channel, Arc<ReceiverState>)>,
    notes: &Notes,
) -> Result<Publisher, MiddlewareError> {
    let (pattern, requests) = (&publication.stream.pattern, &publication.channel);
    let matched = matched(spec, requests, notes);
    let server = usize::from(requests.index) % requests.subscribers.len().max(1);
    match responses {
        Some((channel, state)) => match Exchange::of(pattern, requests, channel, server as u16) {
            Some(exchange) => session.client(&exchange, Receiver::new(Arc::clone(state)), matched),
            None => session.publisher(requests, matched),
        },
        None => session.publisher(requests, matched),
    }
}

/// Makes a subscriber, or a server, with what answers its messages where they are answered.
pub(super) fn subscriber(
    spec: &ApplicationSpec,
    session: &mut dyn Session,
    subscription: Subscription,
    pool: &Arc<Pool>,
    notes: &Notes,
) -> Result<Arc<ReceiverState>, MiddlewareError> {
    let Subscription {
        channel,
        answers,
        answers_form,
        computation,
        mut receiver,
    } = subscription;
    let (token, pool) = (spec.rendezvous.token, Arc::clone(pool));
    if let (Some(computation), Some(answers)) = (computation, &answers) {
        let pattern = &spec.streams[channel.stream()].pattern;
        let answerer = Answerer::server(computation, answers.clone(), answers_form, token, pool);
        receiver.part = Part::Responder(answerer);
        let receiver = Arc::new(receiver);
        if let Some(exchange) = Exchange::of(pattern, &channel, answers, channel.index) {
            session.server(&exchange, Server::new(Arc::clone(&receiver)))?;
        }
        return Ok(receiver);
    }
    if let Some(answers) = answers {
        let publisher = session.publisher(&answers, matched(spec, &answers, notes))?;
        let answerer = Answerer::responder(publisher, answers, answers_form, token, pool);
        receiver.part = Part::Responder(answerer);
    }
    let receiver = Arc::new(receiver);
    session.subscriber(&channel, Receiver::new(Arc::clone(&receiver)))?;
    Ok(receiver)
}

/// Where the publisher on this channel tells that it has found a subscriber.
fn matched(spec: &ApplicationSpec, channel: &Channel, notes: &Notes) -> Matched {
    let (stream, notes) = (spec.streams[channel.stream()].name.clone(), notes.clone());
    let (answers, publisher) = (channel.carries_answers(), channel.index);
    Matched::new(move |found| {
        let _ = notes.send(Note::Matched(FirstMatch {
            stream: stream.clone(),
            answers,
            publisher,
            since_ns: found.since_ns as u64,
            handshake_ns: found.handshake_ns.map(|duration_ns| duration_ns as u64),
        }));
    })
}
