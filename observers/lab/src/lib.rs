//! What the observers' tests share: processes spoken to by lines, network namespaces, and checks that need a laboratory.
//!
//! Which namespaces are joined how, and what runs in them, each observer's own tests say.

pub mod check;
pub mod namespace;
pub mod speaker;
