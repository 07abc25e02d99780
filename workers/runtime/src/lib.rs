//! What every worker shares: clock, pacing, payload, recorder, and the life of an application and of a service.
//!
//! A worker crate implements [`Middleware`] and calls [`run`]; the runtime names no middleware and knows neither suites
//! nor topologies. It speaks the contract (`middlemark-contract`) over standard input and output.

mod acceptance;
mod answer;
mod application;
mod channel;
pub mod clock;
mod compute;
mod counts;
mod feed;
mod files;
mod flow;
mod gate;
#[cfg(any(test, feature = "harness"))]
pub mod harness;
mod header;
mod inlet;
mod journal;
mod life;
mod message;
mod middleware;
mod node;
mod options;
mod output;
mod payload;
mod placement;
mod recorder;
mod reserve;
mod run;
mod running;
mod schedule;
mod sender;
mod service;
mod sockets;
mod usage;
mod wire;

pub use channel::{Channel, ChannelEndpoint};
pub use header::{Header, Phase};
pub use inlet::Inlet;
pub use middleware::{
    Context, Middleware, MiddlewareError, Publish, PublishError, PublishInPlace, Publisher, Service, Session,
};
pub use options::Options;
pub use run::run;
