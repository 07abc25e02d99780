//! Options: how a worker describes them, and what their values come to for one application or service.
//!
//! It knows no option's meaning.

mod builders;
mod resolved;

pub use builders::{boolean, choice, integer};
pub use resolved::Options;
