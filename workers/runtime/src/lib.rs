//! What every worker shares: clock, pacing, payload, recorder, and the life of an application and of a service.
//!
//! A worker crate implements [`Middleware`] and calls [`run`]; the runtime names no middleware and knows neither suites
//! nor topologies. It speaks the contract (`middlemark-contract`) over standard input and output.

mod answer;
mod channel;
pub mod clock;
mod flow;
mod header;
mod inlet;
mod message;
mod middleware;
mod options;
mod payload;
mod recorder;
mod schedule;
mod sender;

pub use channel::{Channel, ChannelEndpoint};
pub use inlet::Inlet;
pub use middleware::{
    Context, Middleware, MiddlewareError, Publish, PublishError, PublishInPlace, Publisher, Service, Session,
};
pub use options::Options;
