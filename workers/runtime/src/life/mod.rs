//! The lives of a worker's processes, an application's and a service's, from the spec to the end.
//!
//! `run` picks one by the command line; what a process is made of stands in the rooms beside this one.

mod acceptance;
mod application;
mod counts;
mod credentials;
mod reserve;
pub(crate) mod run;
mod running;
mod service;
mod tally;
