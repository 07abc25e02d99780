//! The traits that a middleware implements: everything a worker crate has to write.
//!
//! Nothing here acts; the life of an application (`application`) calls these in a fixed order and from known threads.
//!
//! ```text
//! Middleware ── describe()                       any time, pure
//!            ── accept(&ApplicationSpec)         before anything is initialised: what can't be done is refused here
//!            ── open(&Context) ── Session        at T0, on the main thread
//!            ── serve(&ServiceSpec) ── Service   in a process of its own
//! Session    ── subscriber(&Channel, Inlet)      all subscribers first, then the publishers, on the main thread
//!            ── publisher(&Channel) ── Publisher moved to a thread of its own
//!            ── effective()                      once all endpoints exist
//!            ── close()                          after every Publisher is dropped
//! ```
//!
//! Why push (the worker calls [`Inlet::receive`]) and not pull: every middleware can deliver by push without loss of
//! speed, from its callback, from a wait set or from a polling thread of the worker, and the receive stamp is then taken
//! at the same place for all of them.

use std::mem::MaybeUninit;

use middlemark_contract::{ApplicationSpec, Description, Effective, Refusal, ServiceSpec};

use crate::channel::Channel;
use crate::inlet::Inlet;
use crate::options::Options;

/// Whatever went wrong inside a middleware, with its chain of causes.
pub type MiddlewareError = Box<dyn std::error::Error + Send + Sync>;

/// One middleware, known to one worker crate only.
pub trait Middleware {
    /// What the worker says of itself; initialises nothing that outlives the call.
    fn describe(&self) -> Description;

    /// Says, before anything is initialised, whether this middleware can do all that the spec asks.
    ///
    /// The runtime has already compared the spec with [`Self::describe`] (sizes, pattern, reliability, durability,
    /// congestion, options, hosts); only what depends on several of these together is left to be judged here.
    ///
    /// # Errors
    /// The refusal that becomes the outcome `not_applicable`.
    fn accept(&self, spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal>;

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
    /// Subscribes to a channel; from its return on messages may come into `inlet`.
    ///
    /// [`Inlet::receive`] may publish (a ping-pong's answer), so it must be called on a thread from which the
    /// middleware allows that and where its own protocol does not wait for the call to return.
    ///
    /// # Errors
    /// What the middleware reported.
    fn subscriber(&mut self, channel: &Channel, inlet: Inlet) -> Result<(), MiddlewareError>;

    /// Makes a publisher on a channel. It need not be connected to anyone when this returns.
    ///
    /// # Errors
    /// What the middleware reported.
    fn publisher(&mut self, channel: &Channel) -> Result<Publisher, MiddlewareError>;

    /// The configuration really applied, read back from the middleware where it lets itself be read.
    fn effective(&self) -> Effective;

    /// Closes everything: when it returns no [`Inlet`] is called any more, all threads of the worker are joined, and
    /// nothing of the session is left on the machine.
    ///
    /// # Errors
    /// What the middleware reported.
    fn close(self: Box<Self>) -> Result<(), MiddlewareError>;
}

/// How an application hands its messages over.
pub enum Publisher {
    /// The application's buffer is copied, or sent from, by the publish call.
    Copying(Box<dyn Publish>),
    /// The application writes into memory of the middleware, or memory that is moved to it.
    InPlace(Box<dyn PublishInPlace>),
}

/// Publishing from the application's own buffer.
pub trait Publish: Send {
    /// Hands one whole message to the middleware. Hot path: the stamp has just been written into `message`.
    ///
    /// # Errors
    /// The message was not accepted.
    fn publish(&mut self, message: &[u8]) -> Result<(), PublishError>;
}

/// Publishing by writing in place.
pub trait PublishInPlace: Send {
    /// Gets memory for `size_bytes`, calls `write` with it once (which fills all of it, the stamp last), and hands it over.
    ///
    /// The time to get the memory is the middleware's and charged to it; the time that `write` takes is not.
    ///
    /// # Errors
    /// No memory was to be had (then `write` was not called), or the message was not accepted.
    fn publish_in_place(
        &mut self,
        size_bytes: usize,
        write: &mut dyn FnMut(&mut [MaybeUninit<u8>]),
    ) -> Result<(), PublishError>;
}

/// Why a message was not accepted; holds no allocated memory, as it occurs on the hot path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The middleware's queue, window or pool is full.
    #[error("the middleware did not accept the message: its queue or pool is full")]
    Full,
    /// The call waited as long as the middleware lets it and gave up.
    #[error("the publish call timed out inside the middleware")]
    TimedOut,
    /// There is no connection to send over yet, or no longer.
    #[error("not connected")]
    NotConnected,
    /// Any other failure: what was called, and the middleware's or the system's error number.
    #[error("{call} failed with {code}")]
    Failed {
        /// The function that failed.
        call: &'static str,
        /// Its error number.
        code: i64,
    },
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
