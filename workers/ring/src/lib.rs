//! A broadcast ring in shared memory: one writer, several readers in other processes, messages of one size, no copies.
//!
//! Whoever comes first creates the [`Segment`], whoever goes last removes it; a peer that is killed is noticed by the
//! kernel letting go of its lock. It knows no middleware and no clock: `shm` and `synthetic` are built on it.
//!
//! ```text
//! segment   written | attached, taken of reader 0 | of reader 1 | … | slot 0 | slot 1 | … | slot 2^k - 1
//! writer    fills the slot at `written`, then advances `written`;  never passes the slowest attached reader
//! reader i  takes the slot at its `taken`, then advances `taken`;  never passes `written`
//! ```
//!
//! `written` and `taken` are [`Position`]s: who waits for one says so in the position itself, so that a system call is
//! made only where someone sleeps, and no wake-up can be lost.

mod futex;
mod layout;
#[cfg(feature = "loom")]
mod models;
mod position;
#[cfg(not(feature = "loom"))]
mod presence;
mod reader;
#[cfg(not(feature = "loom"))]
mod segment;
mod sync;
mod writer;

pub use layout::Layout;
#[cfg(feature = "loom")]
use models::segment;
pub use reader::{Reader, Waker};
#[cfg(not(feature = "loom"))]
pub use segment::FOLDER;
pub use segment::Segment;
pub use writer::{Full, WhenFull, Writer};

use position::Position;
