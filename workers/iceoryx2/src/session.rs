//! One application's node: its services, its subscribers' threads, its publishers, and what is really in force.
//!
//! It opens and closes; `service` maps the QoS, `publisher` and `receive_loop` move the messages.

use std::collections::BTreeMap;
use std::sync::Arc;

use iceoryx2::node::{Node, NodeBuilder};
use iceoryx2::prelude::SignalHandlingMode;
use middlemark_contract::{Delivery, Effective, MessagePath, Rendezvous};
use middlemark_runtime::{Channel, Context, Matched, MiddlewareError, Options, Publisher, Receiver, Session};

use crate::description;
use crate::place;
use crate::publisher::NotifyingPublisher;
use crate::receive_loop::{ReceiveLoop, Wake};
use crate::service::{self, Data, Demands, Events, Kind};

pub(crate) struct Iceoryx2Session {
    node: Arc<Node<Kind>>,
    options: Options,
    delivery: Delivery,
    rendezvous: Rendezvous,
    loops: Vec<ReceiveLoop>,
    /// What each service is made with, by topic.
    services: BTreeMap<String, String>,
}

impl Iceoryx2Session {
    pub(crate) fn open(context: &Context<'_>) -> Result<Iceoryx2Session, MiddlewareError> {
        let rendezvous = context.spec.rendezvous.clone();
        let node = NodeBuilder::new()
            .config(&place::configuration(&rendezvous)?)
            // Signals are the worker's: iceoryx2 would take SIGINT and SIGTERM for itself.
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Kind>()?;
        place::close_to_others(&rendezvous)?;
        Ok(Iceoryx2Session {
            node: Arc::new(node),
            options: context.options.clone(),
            delivery: context.spec.delivery,
            rendezvous,
            loops: Vec::new(),
            services: BTreeMap::new(),
        })
    }

    fn services(&mut self, channel: &Channel) -> Result<(Data, Option<Events>, Demands), MiddlewareError> {
        let demands = Demands::of(channel);
        let data = service::data(&self.node, channel, &demands)?;
        let events = match self.delivery {
            Delivery::Polling => None,
            _ => Some(service::events(&self.node, channel)?),
        };
        self.services
            .insert(channel.topic.clone(), service::words(&data, &demands));
        Ok((data, events, demands))
    }
}

impl Session for Iceoryx2Session {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let (data, events, demands) = self.services(channel)?;
        let subscriber = data
            .subscriber_builder()
            .buffer_size(demands.buffer_messages)
            .create()?;
        let (wake, bell) = match events {
            None => (Wake::Poll, None),
            Some(events) => {
                let listener = events.listener_builder().create()?;
                let bell = events.notifier_builder().create()?;
                let wake = match self.options.text("wake_by") {
                    "waitset" => Wake::WaitSet(listener),
                    _ => Wake::Listener(listener),
                };
                (wake, Some(bell))
            }
        };
        self.loops.push(ReceiveLoop::start(subscriber, wake, bell, receiver));
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let (data, events, demands) = self.services(channel)?;
        let publisher = NotifyingPublisher::new(&self.node, &data, events.as_ref(), channel, &demands, matched)?;
        Ok(if self.options.boolean("zero_copy") {
            Publisher::InPlace(Box::new(publisher))
        } else {
            Publisher::Copying(Box::new(publisher))
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
            security: None,
            settings,
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        let Iceoryx2Session {
            node,
            rendezvous,
            loops,
            ..
        } = *self;
        // A thread that could not be woken is not waited for.
        let end = |each: ReceiveLoop| each.end().and_then(|()| each.join());
        let results: Vec<_> = loops.into_iter().map(end).collect();
        drop(node);
        place::tidy(&rendezvous);
        results.into_iter().collect()
    }
}
