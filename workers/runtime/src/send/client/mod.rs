//! What a client waits for answers with: its turn in a ping-pong, or the places of its requests under way.
//!
//! It only passes answers on; `turn` and `calls` know what follows from one.

pub(crate) mod calls;
pub(crate) mod requests;
pub(crate) mod turn;

use std::sync::Arc;

use crate::message::header::Header;
use crate::send::client::calls::Calls;
use crate::send::client::turn::Turn;

/// One client.
#[derive(Clone)]
pub(crate) enum Client {
    /// Of a ping-pong: every subscriber answers its question before the next.
    Turn(Arc<Turn>),
    /// Of one server, with several requests under way.
    Calls(Arc<Calls>),
}

impl Client {
    /// Notes an answer.
    #[inline]
    pub(crate) fn answered(&self, answer: &Header) {
        match self {
            Client::Turn(turn) => turn.answered(answer),
            Client::Calls(calls) => calls.answered(answer),
        }
    }
}
