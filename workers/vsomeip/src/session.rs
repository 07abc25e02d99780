//! An application of a trial as an application of vSomeIP.
//!
//! It joins channels and services and holds no socket of its own; `configuration` says how it is set up, `shim` acts.

use std::collections::{BTreeMap, BTreeSet};

use middlemark_contract::{Delivery, Effective, Role, SecurityLevel};
use middlemark_runtime::{
    Channel, Context, Exchange, Matched, MiddlewareError, Options, Publisher, Receiver, Server, Session,
};

use crate::carriage::{self, Carriage};
use crate::configuration::{self, Node, policy};
use crate::description;
use crate::shim::{self, Application};

/// One opened application.
pub(crate) struct VsomeipSession {
    application: Application,
    rendezvous: middlemark_contract::Rendezvous,
    queue_limit_bytes: Option<u64>,
    security: Option<SecurityLevel>,
    options: Options,
    /// The ways that this application's channels go.
    carriages: BTreeSet<Carriage>,
}

impl VsomeipSession {
    /// Renders the configuration and starts the application; it registers with the routing manager in its own time, and what
    /// is offered and requested meanwhile is sent then.
    pub(crate) fn open(context: &Context<'_>) -> Result<VsomeipSession, MiddlewareError> {
        let spec = context.spec;
        let node = Node {
            name: &spec.application,
            address: spec.address,
            rendezvous: &spec.rendezvous,
            is_between_hosts: carriage::is_between_hosts(spec),
            is_secured: spec.security.is_some(),
            broadcast: None,
            host: None,
            queue_limit_bytes: carriage::queue_limit_bytes(context.channels),
            options: context.options,
        };
        node.apply()?;
        Ok(VsomeipSession {
            application: Application::open(node.name, None)?,
            rendezvous: spec.rendezvous.clone(),
            queue_limit_bytes: node.queue_limit_bytes,
            security: spec.security_level(),
            options: context.options.clone(),
            carriages: BTreeSet::new(),
        })
    }

    fn carriage(&mut self, channel: &Channel) -> Result<Carriage, MiddlewareError> {
        let carriage = carriage::accept(channel, &self.options).map_err(|refusal| refusal.reason)?;
        self.carriages.insert(carriage);
        Ok(carriage)
    }

    /// Whether one-way messages are requests without a response; the service that a publisher's events would have is its
    /// subscriber's then.
    fn calls(&self) -> bool {
        self.options.text("one_way") == "method"
    }

    fn service(&self, exchange: &Exchange<'_>) -> u16 {
        let server = &exchange.responses.publishers[usize::from(exchange.server)];
        configuration::service(&self.rendezvous, server.socket.port())
    }
}

impl Session for VsomeipSession {
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError> {
        let carriage = self.carriage(channel)?;
        for publisher in &channel.publishers {
            let service = configuration::service(&self.rendezvous, publisher.socket.port());
            if self.calls() {
                self.application.take(service, receiver.clone())?;
            } else {
                self.application.subscribe(service, carriage, receiver.clone())?;
            }
        }
        Ok(())
    }

    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError> {
        let carriage = self.carriage(channel)?;
        let service = configuration::service(&self.rendezvous, channel.own(Role::Publisher).socket.port());
        Ok(Publisher::Copying(if self.calls() {
            Box::new(self.application.call(service, carriage, matched)?)
        } else {
            Box::new(self.application.offer(service, carriage, matched)?)
        }))
    }

    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        self.carriage(exchange.requests)?;
        Ok(self.application.serve(self.service(exchange), server)?)
    }

    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let carriage = self.carriage(exchange.requests)?;
        let service = self.service(exchange);
        let client = self.application.ask(service, carriage, responses, found)?;
        Ok(Publisher::Copying(Box::new(client)))
    }

    fn effective(&self) -> Effective {
        let transports: Vec<_> = self
            .carriages
            .iter()
            .map(|carriage| describe(*carriage, &self.options))
            .collect();
        Effective {
            transport: transports.join(" + "),
            paths: self.carriages.iter().map(|carriage| carriage.path()).collect(),
            delivery: Delivery::LibraryThread,
            receive_mode: description::deliveries()
                .how(Delivery::LibraryThread)
                .unwrap_or_default()
                .into(),
            zero_copy: false,
            security: self.security,
            settings: settings(&self.options, self.queue_limit_bytes, self.security.is_some()),
        }
    }

    fn close(self: Box<Self>) -> Result<(), MiddlewareError> {
        Ok(self.application.close()?)
    }
}

/// What is in effect beyond the transport; shared with the routing manager, which reads the same options.
pub(crate) fn settings(
    options: &Options,
    queue_limit_bytes: Option<u64>,
    is_secured: bool,
) -> BTreeMap<String, String> {
    let mut settings = options.words();
    if is_secured {
        settings.insert("security".into(), policy::words());
    }
    let limit = queue_limit_bytes.map_or("none: 'block' keeps all that comes".into(), |bytes| {
        format!("{bytes} bytes")
    });
    settings.extend(
        [
            ("library", shim::VERSION.into()),
            (
                "mapping",
                match options.text("one_way") {
                    "method" => "one service a publisher, offered by its subscriber, one method (MT_REQUEST_NO_RETURN); one service \
                                 a server, one method",
                    _ => "one service a publisher, one event of type ET_EVENT, one eventgroup; one service a server, one method",
                }
                .into(),
            ),
            (
                "payload",
                "set_data copies the message, notify or send copies it again".into(),
            ),
            (
                "congestion",
                "notify and send never wait: they queue, and drop beyond the limit".into(),
            ),
            ("endpoint-queue-limit-local, -external", limit),
            (
                "max-payload-size-local, -reliable, -unreliable",
                "unlimited, as shipped".into(),
            ),
            (
                "logging.console",
                "false, necessary: standard output is the worker's protocol".into(),
            ),
            (
                "shutdown_timeout",
                "1500 ms, necessary: closing has a deadline (as shipped: 5000 ms)".into(),
            ),
        ]
        .map(|(name, value): (_, String)| (name.to_owned(), value)),
    );
    settings
}

fn describe(carriage: Carriage, options: &Options) -> String {
    match carriage {
        Carriage::Local => "local (Unix sockets)".into(),
        Carriage::Udp if options.boolean("someip_tp") => "udp (SOME/IP-TP above 1400 bytes)".into(),
        Carriage::Tcp | Carriage::Udp => carriage.word().into(),
    }
}
