//! Atomics, by the names of the standard library; with the feature `loom` those of loom, which tries every order in which
//! threads can run and every value that the memory model lets a load return.
//!
//! The models are in `models.rs`.

#[cfg(feature = "loom")]
pub(crate) use loom::sync::atomic;
#[cfg(not(feature = "loom"))]
pub(crate) use std::sync::atomic;
