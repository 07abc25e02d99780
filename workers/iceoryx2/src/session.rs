//! One application's node: its services, its receiving threads, its publishers and clients, and what is really in force.
//!
//! It opens and closes; `service` maps the QoS, `publisher`, `subscriber` and `exchange` move the messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use iceoryx2::node::{Node, NodeBuilder};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::{Service, SignalHandlingMode};
use middlemark_contract::{Delivery, Effective, MessagePath, SecurityLevel};
use middlemark_runtime::{
    Channel, Context, Exchange, Matched, MiddlewareError, Options, Publisher, Receiver, Server, Session,
};

use crate::description;
use crate::exchange::{self, Locking, client, server};
use crate::place::Place;
use crate::publisher::NotifyingPublisher;
use crate::receive_loop::{ReceiveLoop, Wake};
use crate::service::{self, Data, Demands, Events, Kind};
use crate::subscriber::Messages;

pub(crate) struct Iceoryx2Session {
    node: Arc<Node<Kind>>,
    /// The node of the clients, whose ports lock; none before the first.
    clients_node: Option<Node<Locking>>,
    options: Options,
    delivery: Delivery,
    place: Place,
    security: Option<SecurityLevel>,
    loops: Vec<ReceiveLoop>,
    /// What each service is made with, by name.
    services: BTreeMap<String, String>,
}

impl Iceoryx2Session {
    pub(crate) fn open(context: &Context<'_>) -> Result<Iceoryx2Session, MiddlewareError> {
        let place = Place::of(&context.spec.rendezvous);
        place.make()?;
        Ok(Iceoryx2Session {
            node: Arc::new(open_node(&place)?),
            clients_node: None,
            options: context.options.clone(),
            delivery: context.spec.delivery,
            place,
            security: context.spec.security_level(),
            loops: Vec::new(),
            services: BTreeMap::new(),
        })
    }

    fn services(&mut self, channel: &Channel) -> Result<(Data, Option<Events>, Demands), MiddlewareError> {
        let demands = Demands::of(channel);
        let data = service::data(&self.node, channel, &demands)?;
        let events = if self.polls() {
            None
        } else {
            Some(service::events(&self.node, channel)?)
        };
        self.services
            .insert(channel.topic.clone(), service::words(&data, &demands));
        Ok((data, events, demands))
    }

    /// What wakes a receiving thread by these events, and what ends it.
    fn wake(&self, events: Option<&Events>) -> Result<(Wake, Option<Notifier<Kind>>), MiddlewareError> {
        let Some(events) = events else {
            return Ok((Wake::Poll, None));
        };
        let listener = events.listener_builder().create()?;
        let bell = events.notifier_builder().create()?;
        let wake = match self.options.text("wake_by") {
            "waitset" => Wake::WaitSet(listener),
            _ => Wake::Listener(listener),
        };
        Ok((wake, Some(bell)))
    }

    fn calls_of_client(&mut self, exchange: &Exchange<'_>) -> Result<exchange::Calls<Locking>, MiddlewareError> {
        let node = match self.clients_node.take() {
            Some(node) => node,
            None => open_node(&self.place)?,
        };
        let calls = exchange::calls(self.clients_node.insert(node), exchange)?;
        self.services.insert(exchange.name(), exchange::words(&calls));
        Ok(calls)
    }

    fn polls(&self) -> bool {
        self.delivery == Delivery::Polling
    }

    fn writes_in_place(&self) -> bool {
        self.options.boolean("zero_copy")
    }
}

impl Session for Iceoryx2Session {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let (data, events, demands) = self.services(channel)?;
        let subscriber = data
            .subscriber_builder()
            .buffer_size(demands.buffer_messages)
            .create()?;
        let (wake, bell) = self.wake(events.as_ref())?;
        let messages = Messages::new(subscriber, receiver);
        self.loops.push(ReceiveLoop::start(messages, wake, bell));
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let (data, events, demands) = self.services(channel)?;
        let publisher = NotifyingPublisher::new(&self.node, &data, events.as_ref(), channel, &demands, matched)?;
        Ok(if self.writes_in_place() {
            Publisher::InPlace(Box::new(publisher))
        } else {
            Publisher::Copying(Box::new(publisher))
        })
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let calls = exchange::calls(&*self.node, exchange)?;
        self.services.insert(exchange.name(), exchange::words(&calls));
        let (events, bells) = if self.polls() {
            (None, BTreeMap::new())
        } else {
            let events = exchange::events_of_server(&self.node, exchange)?;
            (Some(events), server::bells(&self.node, exchange)?)
        };
        let (wake, bell) = self.wake(events.as_ref())?;
        let requests = server::Requests::new(&calls, bells, exchange, server, self.writes_in_place())?;
        self.loops.push(ReceiveLoop::start(requests, wake, bell));
        Ok(())
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let calls = self.calls_of_client(exchange)?;
        let events = if self.polls() {
            None
        } else {
            Some(exchange::events_of_client(
                &self.node,
                exchange,
                exchange.requests.index,
            )?)
        };
        let bells = match &events {
            None => None,
            Some(own) => Some(client::Bells::new(&self.node, exchange, own)?),
        };
        let (requests, responses) = client::open(&calls, bells, exchange, responses, found)?;
        let (wake, bell) = self.wake(events.as_ref())?;
        self.loops.push(ReceiveLoop::start(responses, wake, bell));
        Ok(if self.writes_in_place() {
            Publisher::InPlace(Box::new(requests))
        } else {
            Publisher::Copying(Box::new(requests))
        })
    }

    fn effective(&self) -> Effective {
        let global = &self.node.config().global;
        let mut settings = BTreeMap::from([
            ("service".into(), "ipc".into()),
            ("wake_by".into(), self.options.text("wake_by").to_owned()),
            ("global.root-path".into(), global.root_path().to_string()),
            ("global.prefix".into(), global.prefix.to_string()),
            (
                "loss".into(),
                "reliable; a message is lost only where a buffer overflows or discards".into(),
            ),
            (
                "allocation strategy".into(),
                "Static, initial_max_slice_len as the message".into(),
            ),
        ]);
        let services = self.services.iter();
        settings.extend(services.map(|(topic, words)| (format!("service {topic}"), words.clone())));
        Effective {
            transport: "shared memory".into(),
            paths: vec![MessagePath::SharedMemory],
            delivery: self.delivery,
            receive_mode: description::deliveries().how(self.delivery).unwrap_or_default().into(),
            zero_copy: self.options.boolean("zero_copy"),
            security: self.security,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let Iceoryx2Session {
            node,
            clients_node,
            place,
            loops,
            ..
        } = *self;
        // All are woken before any is waited for: one after the other, the threads of a hundred services would take longer
        // on a busy machine than closing may. A thread that could not be woken is not waited for.
        let woken: Vec<_> = loops.iter().map(ReceiveLoop::end).collect();
        let ended = loops.into_iter().zip(woken);
        let results: Vec<_> = ended.map(|(each, woken)| woken.and_then(|()| each.join())).collect();
        drop((node, clients_node));
        place.tidy();
        results.into_iter().collect()
    }
}

pub(crate) fn open_node<K: Service>(place: &Place) -> Result<Node<K>, MiddlewareError> {
    let node = NodeBuilder::new()
        .config(&place.configuration()?)
        // Signals are the worker's: iceoryx2 would take SIGINT and SIGTERM for itself.
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<K>()?;
    place.close_to_others()?;
    Ok(node)
}
