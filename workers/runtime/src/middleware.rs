//! The traits that a middleware implements: everything a worker crate has to write.
//!
//! Nothing here acts; the life of an application (`application`) calls these in a fixed order and from known threads.
//!
//! ```text
//! Middleware ── describe()                       any time, pure
//!            ── accept(&ApplicationSpec)         before anything is initialised: what can't be done is refused here
//!            ── credentials(&CredentialsRequest) before a trial that requests security, in a process of its own
//!            ── open(&Context) ── Session        at T0, on the main thread
//!            ── serve(&ServiceSpec) ── Service   in a process of its own
//! Session    ── subscriber(&Channel, Receiver)   all subscribers first, then the publishers, on the main thread
//!            ── publisher(&Channel, Matched) ── Publisher moved to a thread of its own
//!            ── server(&Exchange, Server), client(&Exchange, Receiver, Matched): the same of requests and responses
//!            ── complete(), effective()          once all endpoints are made
//!            ── counterparts()                   before the end, where first messages did not come
//!            ── close()                          after every Publisher is dropped
//! ```
//!
//! Why push (the worker calls [`Receiver::receive`]) and not pull: every middleware can deliver by push without loss of
//! speed, from its callback, from a wait set or from a polling thread of the worker, and the receive stamp is then taken
//! at the same place for all of them.

use middlemark_contract::{
    ApplicationSpec, CredentialsRequest, CredentialsSet, Description, Effective, Identity, Refusal,
    SecurityDescription, ServiceSpec,
};

use crate::message::channel::Channel;
use crate::message::exchange::Exchange;
use crate::options::Options;
use crate::process::user;
use crate::receive::receiver::{Receiver, Server};
use crate::send::matched::Matched;
use crate::send::publish::Publisher;

/// Whatever went wrong inside a middleware, with its chain of causes.
pub type MiddlewareError = Box<dyn std::error::Error + Send + Sync>;

/// Why there are no credentials for a trial.
#[derive(Debug)]
pub enum CredentialsError {
    /// The level can't be had under these options.
    Refused(Refusal),
    /// They could not be made.
    Failed(MiddlewareError),
}

impl From<MiddlewareError> for CredentialsError {
    fn from(error: MiddlewareError) -> CredentialsError {
        CredentialsError::Failed(error)
    }
}

/// One middleware, known to one worker crate only.
pub trait Middleware {
    /// What the worker says of itself; initialises nothing that outlives the call.
    fn describe(&self) -> Description;

    /// Says, before anything is initialised, whether this middleware can do all that the spec requests.
    ///
    /// The runtime has already compared the spec with [`Self::describe`] (sizes, pattern, reliability, durability,
    /// congestion, options, hosts); only what depends on several of these together is left to be judged here.
    ///
    /// # Errors
    /// The refusal that becomes the outcome `not_applicable`.
    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal>;

    /// Makes the credentials with which each application and service of one trial proves its identity, anew at each call.
    ///
    /// The runtime has already refused a level that [`Self::describe`] doesn't have. A middleware without any, or one whose
    /// applications show nothing but the user that they run as, need not implement this.
    ///
    /// # Errors
    /// The refusal of a level that is not possible under these options, or what kept the credentials from being made.
    fn credentials(
        &self,
        request: &CredentialsRequest,
        _options: &Options,
    ) -> Result<CredentialsSet, CredentialsError> {
        let is_by_user =
            |described: &SecurityDescription| described.level == request.level && described.identity == Identity::User;
        if self.describe().capabilities.security.iter().any(is_by_user) {
            return Ok(user::credentials(request));
        }
        Err(CredentialsError::Refused(Refusal {
            capability: "security".into(),
            reason: format!("its worker makes no credentials for `{}`", request.level),
        }))
    }

    /// Initialises the middleware for this application: session, participant, node.
    ///
    /// # Errors
    /// What the middleware reported.
    fn open(&self, context: &Context<'_>) -> Result<Box<dyn Session>, MiddlewareError>;

    /// Starts the service named in the spec and returns once it accepts applications.
    ///
    /// # Errors
    /// What kept it from starting, with the last lines of its log.
    fn serve(&self, spec: &ServiceSpec, options: &Options) -> Result<Box<dyn Service>, MiddlewareError>;
}

/// What a session is opened with.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The application's spec, whole.
    pub spec: &'a ApplicationSpec,
    /// The options after defaults, profile and suite.
    pub options: &'a Options,
    /// Every channel of the trial (a stream, or a ping-pong's answers), whether or not this application uses it.
    pub channels: &'a [Channel],
}

/// An initialised middleware within one application.
pub trait Session {
    /// Subscribes to a channel; from its return on messages may come into `receiver`.
    ///
    /// [`Receiver::receive`] may publish (a ping-pong's answer), so it must be called on a thread from which the
    /// middleware allows that and where its own protocol does not wait for the call to return.
    ///
    /// # Errors
    /// What the middleware reported.
    fn subscriber(&mut self, channel: &Channel, receiver: Receiver) -> Result<(), MiddlewareError>;

    /// Makes a publisher on a channel. It need not be connected to anyone when this returns; when its middleware lets it
    /// know that a subscriber is there, `matched` is told, from whichever thread that comes.
    ///
    /// # Errors
    /// What the middleware reported.
    fn publisher(&mut self, channel: &Channel, matched: Matched) -> Result<Publisher, MiddlewareError>;

    /// Offers a server by the middleware's own means of asking and answering; from its return on requests may come into
    /// `server`, which answers each before it returns.
    ///
    /// # Errors
    /// What the middleware reported; that it has no such means, where its description doesn't name the pattern.
    fn server(&mut self, exchange: &Exchange<'_>, server: Server) -> Result<(), MiddlewareError> {
        let _ = server;
        Err(unsupported(exchange))
    }

    /// Makes a client of the server that `exchange` names; the publisher sends its requests, `responses` gets what the
    /// middleware hands over as their responses. The server need not be there when this returns; once the middleware lets it
    /// be known that it is, `found` is told.
    ///
    /// The runtime keeps this publisher until the drain is over, as responses are still to come when the last request has been
    /// sent, and drops it before [`Self::close`]: a worker has nothing to keep for that.
    ///
    /// # Errors
    /// As [`Self::server`].
    fn client(
        &mut self,
        exchange: &Exchange<'_>,
        responses: Receiver,
        found: Matched,
    ) -> Result<Publisher, MiddlewareError> {
        let _ = (responses, found);
        Err(unsupported(exchange))
    }

    /// Waits, once all endpoints are made, for what their making has left open: a worker need not wait for each by itself.
    ///
    /// # Errors
    /// What the middleware reported.
    fn complete(&mut self) -> Result<(), MiddlewareError> {
        Ok(())
    }

    /// The configuration really applied, read back from the middleware where it lets itself be read.
    fn effective(&self) -> Effective;

    /// What each endpoint knows of those whom it should have met, a sentence each, where the middleware lets it know: asked
    /// before the end of a trial whose first messages did not all come, so that it can be seen why.
    fn counterparts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Closes everything: when it returns no [`Receiver`] is called any more, all threads of the worker are joined, and
    /// nothing of the session is left on the machine.
    ///
    /// # Errors
    /// What the middleware reported.
    fn close(self: Box<Self>) -> Result<(), MiddlewareError>;
}

fn unsupported(exchange: &Exchange<'_>) -> MiddlewareError {
    format!("{}: this worker has no servers and clients", exchange.name()).into()
}

/// A running service process of a middleware.
pub trait Service {
    /// The version that the service reports.
    fn version(&self) -> String;

    /// The configuration really applied.
    fn settings(&self) -> std::collections::BTreeMap<String, String>;

    /// The child process that does the work; none where the service runs inside this process.
    fn child(&self) -> Option<u32>;

    /// Whether it still runs.
    ///
    /// # Errors
    /// How it ended, with the last lines of its log.
    fn check(&mut self) -> Result<(), MiddlewareError>;

    /// Shuts it down and waits until it is gone.
    ///
    /// # Errors
    /// It had to be killed, or left something behind.
    fn stop(self: Box<Self>) -> Result<(), MiddlewareError>;
}
