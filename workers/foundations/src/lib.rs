//! No code: the crates that all executables are made of, with the same features in each, so that each is built once.
//!
//! `Cargo.toml` names them, and says which may be named.
