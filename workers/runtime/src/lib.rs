//! What every worker shares: clock, pacing, payload, recorder, and the life of an application and of a service.
//!
//! A worker crate implements [`Middleware`] and calls [`run`]; the runtime names no middleware and knows neither suites
//! nor topologies. It speaks the contract (`middlemark-contract`) over standard input and output.

pub mod clock;
#[cfg(any(test, feature = "harness"))]
pub mod harness;
mod life;
mod message;
mod middleware;
mod node;
pub mod options;
mod process;
mod receive;
mod recorder;
mod send;

pub use life::run::run;
pub use message::channel::Channel;
pub use message::exchange::Exchange;
pub use message::header::{Header, Phase};
pub use message::ports::ChannelEndpoint;
pub use middleware::{Context, CredentialsError, Middleware, MiddlewareError, Service, Session};
pub use options::Options;
pub use process::placement::pin;
pub use process::{system_package, user};
pub use receive::idle::Idle;
pub use receive::receiver::{Receiver, Server};
pub use send::matched::Matched;
pub use send::publish::{Publish, PublishError, PublishInPlace, PublishMoved, Publisher, PublisherMut};
