//! Sockets as the baselines use them: datagrams, packets and streams, with no more code than they need.
//!
//! A worker says what its family of sockets is ([`Family`]) and gets a [`SocketSession`]; nothing here knows whether
//! it is UDP, TCP or a Unix domain socket, and nothing here stamps, paces or records (`middlemark-runtime`).
//!
//! Every subscriber has one address. A publisher holds one connected socket for each subscriber and hands a message to
//! one after the other; it connects to those that are not there yet in the background ([`connector`]). A client does the
//! same with its one server, and what the server responds comes back on the connection ([`client`]).

mod client;
mod connection;
mod connector;
mod family;
mod guard;
mod paths;
mod publisher;
mod receive;
mod session;
mod settings;
mod tuning;

pub use connection::Kind;
pub use family::{Buffered, Family};
pub use guard::{BothWays, Guard, GuardedWriter};
pub use receive::Incoming;
pub use session::SocketSession;
pub use settings::queue::accept_queues;
pub use settings::{Buffers, deliveries, kernel_release, shared_options};
pub use tuning::{NO_ZERO_COPY, tuned};
