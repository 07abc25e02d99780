//! Certificates, keys and passwords of one trial: made by an authority of its own, given to each process, never reused.
//!
//! It knows no middleware: what a certificate has to say, and which file a library wants it in, is for a worker.
//! `authority` makes, `folder` lays on disk what a library can't be given in memory, `tls` is for who speaks TLS by rustls.

mod authority;
mod folder;
pub mod secret;
#[cfg(feature = "tls")]
pub mod tls;

pub use authority::{ALGORITHM, Authority, AuthorityError, Identity, VALID_FOR, validity};
pub use folder::SecretFolder;
