//! One application's Zenoh session: its subscribers, its publishers, and what is really in force.
//!
//! It opens what `configuration` says and closes all of it; the publish calls themselves are in `publisher`.

use std::sync::Arc;
use std::thread::JoinHandle;

use middlemark_contract::{Delivery, Effective, SecurityLevel};
use middlemark_runtime::{
    Channel, Context, Exchange, Matched, MiddlewareError, Options, Publisher, Receiver, Server, Session,
};
use zenoh::Wait;
use zenoh::handlers::FifoChannel;
use zenoh::matching::MatchingStatus;
use zenoh::pubsub::Subscriber;
use zenoh::query::Queryable;
use zenoh::sample::Sample;
use zenoh::shm::ShmProviderBuilder;

use crate::configuration;
use crate::description;
use crate::exchange::channel::{self, CHANNEL_MESSAGES};
use crate::exchange::{self, Asking, Served};
use crate::leftovers;
use crate::pieces::{self, HandOver};
use crate::places::Places;
use crate::publisher::loans;
use crate::publisher::{Loaning, Moving, Pool, congestion, reliability};
use crate::security::{self, Secured};
use crate::settings::{self, Messages};

pub(crate) struct ZenohSession {
    session: zenoh::Session,
    options: Options,
    level: Option<SecurityLevel>,
    /// What its links speak, by Zenoh's name.
    protocol: String,
    delivery: Delivery,
    messages: Vec<Messages>,
    hand_over: HandOver,
    /// What Zenoh's own threads call.
    subscribers: Vec<Subscriber<()>>,
    servers: Vec<Queryable<()>>,
    /// The threads that read Zenoh's channels, until the session's end closes those.
    readers: Vec<JoinHandle<()>>,
    /// What each publisher of this application was declared with.
    publishers: Vec<String>,
    /// The pools of those that loan, kept until the session's end for the messages still under way.
    pools: Vec<Arc<Pool>>,
}

impl ZenohSession {
    pub(crate) fn open(context: &Context<'_>) -> Result<ZenohSession, MiddlewareError> {
        let (spec, places) = (context.spec, Places::of(context.spec, context.channels));
        let level = spec.security.as_ref().map(|security| security.level);
        let options =
            security::kept(level, context.options, &spec.profile, &spec.options).map_err(|refusal| refusal.reason)?;
        let secured = Secured::application(spec, &options)?;
        let config = configuration::of_application(spec, &options, &places, &secured)?;
        Ok(ZenohSession {
            session: zenoh::open(config).wait()?,
            level,
            protocol: secured.protocol.clone(),
            delivery: spec.delivery,
            messages: Messages::of(spec, &options),
            hand_over: if options.boolean("contiguous") {
                pieces::joined
            } else {
                pieces::as_they_lie
            },
            subscribers: Vec::new(),
            servers: Vec::new(),
            readers: Vec::new(),
            publishers: Vec::new(),
            pools: Vec::new(),
            options,
        })
    }

    fn pool(&mut self, pool_bytes: usize) -> Result<Arc<Pool>, MiddlewareError> {
        let pool = ShmProviderBuilder::default_backend(pool_bytes)
            .wait()
            .map_err(|error| format!("zenoh could not make a pool of {pool_bytes} bytes of shared memory: {error}"))?;
        self.pools.push(Arc::new(pool));
        Ok(Arc::clone(&self.pools[self.pools.len() - 1]))
    }
}

impl Session for ZenohSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let declared = self.session.declare_subscriber(channel.topic.clone());
        let hand_over = self.hand_over;
        let take = move |sample: Sample| hand_over(&sample, &receiver);
        if self.delivery == Delivery::LibraryThread {
            self.subscribers.push(declared.callback(take).wait()?);
            return Ok(());
        }
        let subscriber = declared
            .with(FifoChannel::new(CHANNEL_MESSAGES.min(channel.queued_messages())))
            .wait()?;
        self.readers.push(channel::read(subscriber, self.delivery, take));
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let (congestion, reliability) = (congestion(channel), reliability(channel));
        let express = self.options.boolean("express");
        let publisher = self
            .session
            .declare_publisher(channel.topic.clone())
            .congestion_control(congestion)
            .reliability(reliability)
            .express(express)
            .wait()?;
        let on_status = move |status: MatchingStatus| {
            if status.matching() {
                matched.now();
            }
        };
        publisher.matching_listener().callback(on_status).background().wait()?;
        let pool_bytes = loans::pool_bytes(channel, &self.options);
        self.publishers.push(format!(
            "{}: {congestion:?}, {reliability:?}, express {express}, {}",
            channel.topic,
            pool_bytes.map_or("moved memory".into(), |bytes| format!("loan from a pool of {bytes} B"))
        ));
        Ok(match pool_bytes {
            Some(bytes) => {
                let loaning = Loaning::new(publisher, self.pool(bytes)?, &channel.qos);
                Publisher::InPlace(Box::new(loaning))
            }
            None => Publisher::Moving(Box::new(Moving(publisher))),
        })
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        match exchange::serve(&self.session, exchange, server, self.delivery)? {
            Served::ByZenoh(queryable) => self.servers.push(queryable),
            Served::ByThread(reader) => self.readers.push(reader),
        }
        Ok(())
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let express = self.options.boolean("express");
        let (responses, found) = ((responses, self.hand_over), (found, self.delivery));
        let (asking, reader) = Asking::new(&self.session, exchange, express, responses, found)?;
        self.readers.extend(reader);
        let words = exchange::words(exchange.requests, express);
        self.publishers.push(format!("client of {}: {words}", exchange.name()));
        Ok(Publisher::Moving(Box::new(asking)))
    }

    fn effective(&self) -> Effective {
        let mut settings = settings::read_back(&self.session, self.level);
        settings.extend(security::stated(self.level, &self.protocol));
        settings.insert("links".into(), settings::links(&self.session, &self.options));
        settings.insert("publishers".into(), self.publishers.join("; "));
        let payload = if self.options.boolean("contiguous") {
            "one buffer: pieces are joined (ZBytes::to_bytes) before they are stamped"
        } else {
            "its pieces, read where they lie"
        };
        settings.insert("a subscriber's payload".into(), payload.into());
        settings.insert(
            "history".into(),
            "Zenoh queues batches for a link; a reader's channel alone holds messages".into(),
        );
        Effective {
            transport: settings::transport(&self.session, &self.options, &self.protocol),
            paths: settings::paths(&self.session, &self.options, &self.messages),
            delivery: self.delivery,
            receive_mode: description::deliveries().how(self.delivery).unwrap_or_default().into(),
            zero_copy: !self.pools.is_empty(),
            security: self.level,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let ZenohSession {
            session,
            subscribers,
            servers,
            readers,
            pools,
            ..
        } = *self;
        let served = servers.into_iter();
        let mut ended: Vec<_> = served
            .map(|server| server.undeclare().wait_callbacks().wait())
            .collect();
        let subscribed = subscribers.into_iter();
        ended.extend(subscribed.map(|subscriber| subscriber.undeclare().wait_callbacks().wait()));
        ended.push(session.close().wait());
        ended.extend(readers.into_iter().map(|reader| {
            let joined = reader.join();
            joined.map_err(|_| "a thread that reads a channel panicked".into())
        }));
        drop((session, pools));
        ended.push(leftovers::remove().map_err(MiddlewareError::from));
        // Whatever failed, all else is closed; the first failure is told.
        ended.into_iter().collect()
    }
}
