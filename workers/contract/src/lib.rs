//! The worker contract as types: descriptions, specs, commands and events, and nothing that acts.
//!
//! It holds no clock, no I/O and no middleware; it is what a worker and the front must agree on, word for word.
//! `middlemark-runtime` speaks it for the workers, `bin/export-schemas` renders it as JSON Schemas for the front.
//!
//! Every worker is one executable with four commands:
//!
//! ```text
//! describe      prints a Description, one line of JSON
//! credentials   reads a CredentialsRequest; prints a CredentialsEvent
//! service       reads a ServiceSpec,     then ServiceCommands;     writes ServiceEvents
//! application   reads an ApplicationSpec, then ApplicationCommands; writes ApplicationEvents
//! ```
//!
//! Specs and commands are one line of JSON each on standard input, events one line of JSON each on standard output.
//! The end of standard input means that the front is gone: a worker then ends at once.
//! All instants are nanoseconds of the front's `CLOCK_MONOTONIC`, names end in their unit.

mod command;
mod delivery;
mod description;
mod event;
mod node;
mod record;
mod resources;
mod spec;
mod stream;

pub use command::{ApplicationCommand, ExpectedMessages, ServiceCommand};
pub use delivery::{Deliveries, Delivery, DeliveryDescription, LackingDelivery};
pub use description::{
    Axis, Capabilities, DELIVERY, Description, Dissector, Library, Matching, OptionDescription, OptionKind,
    OptionValue, Pattern, Per, PortHolders, Profile, Protocol, ServiceNeed, Tuning, When,
};
pub use event::{
    ApplicationEvent, Effective, FirstArrival, FirstMatch, MessagePath, PublisherCounts, Refusal, ServiceEvent,
    SubscriberCounts,
};
pub use node::{
    ComputeSpec, InputCounts, NodeCounts, NodeInput, NodeOutput, NodeSpec, Readiness, TakeSpec, TriggerSpec,
};
pub use record::{Execution, ExecutionInput, ExecutionOutput, Published, Received, Trigger};
pub use resources::{InterfaceTraffic, MappedSegment, PathProof, Resources, SocketProtocol, SocketUse};
pub use spec::{
    ApplicationSpec, CredentialsEvent, CredentialsRequest, CredentialsSet, Endpoint, Identity, LackingSecurity,
    Placement, Reach, Recording, Rendezvous, Role, Scheduling, SecretFiles, SecuredApplication, SecuredService,
    Security, SecurityDescription, SecurityLevel, ServiceAddress, ServiceCredentials, ServiceSpec,
};
pub use stream::{
    Arrival, Congestion, Durability, EndpointAddress, History, HistoryKind, PaceSpec, PatternSpec, PayloadKind,
    PayloadSpec, Qos, Recorded, Reliability, Serialisation, StreamSpec,
};

/// The version of this contract; a worker of another version is refused before it gets a spec.
pub const CONTRACT_VERSION: u32 = 3;

/// A publisher that can't keep its schedule goes on until so many times the window's length have passed since its opening:
/// an overload down to a quarter of its rate is seen to its end, and any is over in time.
pub const PUBLISHING_WINDOWS: i64 = 4;

/// How many greetings a second each publisher sends from `start` to `approach`, where the trial has few.
pub const GREETINGS_HZ: f64 = 1000.0;

/// How many greetings a second all publishers of a trial send at most: of many, each greets more seldom, so that what is
/// measured is how they find each other and not how they cope with greetings.
pub const GREETINGS_OF_TRIAL_HZ: f64 = 16_000.0;

/// An application with so many publishers or fewer has a thread for each.
pub const OWN_THREADS: usize = 16;

/// How many publishers with a schedule share a thread at most, where an application has more than [`OWN_THREADS`].
pub const SHARED_THREAD_PUBLISHERS: usize = 64;

/// How many messages a second such a thread sends at most; a publisher of more has a thread to itself.
pub const SHARED_THREAD_HZ: f64 = 1000.0;

/// The smallest message: the header that each message carries.
pub const SMALLEST_MESSAGE_BYTES: u64 = 32;
