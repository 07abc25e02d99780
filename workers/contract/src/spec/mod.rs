//! What a process of a trial is told before it does anything: its spec, with what keeps strangers out.

mod application;
mod reach;
mod security;
mod service;

pub use application::{ApplicationSpec, Endpoint, Placement, Recording, Rendezvous, Role, Scheduling, ServiceAddress};
pub use reach::Reach;
pub use security::{
    CredentialsEvent, CredentialsRequest, CredentialsSet, Identity, LackingSecurity, SecretFiles, SecuredApplication,
    SecuredService, Security, SecurityDescription, SecurityLevel, ServiceCredentials,
};
pub use service::ServiceSpec;
