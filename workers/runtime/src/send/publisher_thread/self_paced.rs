//! The window of a publisher without a schedule: as fast as calls return, by its answers, or by its requests.
//!
//! It only decides what paces the publisher; `sender` sends each message, `client` keeps the questions and the requests.

use std::thread;

use middlemark_contract::PatternSpec;

use crate::clock;
use crate::send::client::Client;
use crate::send::client::requests::Requests;
use crate::send::client::turn::Questions;
use crate::send::gate::Window;
use crate::send::sender::{Done, Finished, Sender};

/// Publishes until the window has closed or the trial is given up.
pub(crate) fn publish(mut sender: Sender, client: Option<Client>, window: Window) -> Finished {
    match sender.pattern {
        PatternSpec::Unthrottled { messages, .. } => {
            let messages = bound(messages, sender.messages);
            let done = flood(&mut sender, window, messages);
            sender.finish(&done)
        }
        PatternSpec::PingPong {
            interval_ns,
            patience_ns,
            messages,
            ..
        } => {
            let Some(Client::Turn(turn)) = client else {
                unreachable!("a ping-pong's publisher has a turn");
            };
            let messages = bound(messages, sender.messages);
            let questions = Questions::new(sender, window, messages, interval_ns as i64, patience_ns as i64);
            let asked = turn.ask_all(questions);
            let done = asked.done();
            asked.sender.finish(&done)
        }
        PatternSpec::RequestResponse { pace, .. } => {
            let Some(Client::Calls(calls)) = client else {
                unreachable!("who sends requests knows which are under way");
            };
            Requests { sender, calls, window }.send_all(pace)
        }
        PatternSpec::Periodic { .. } | PatternSpec::Burst { .. } | PatternSpec::Computed { .. } => {
            unreachable!("these are sent when they are due")
        }
    }
}

/// Sends as fast as calls return. Who is refused lets the threads go on that wait for its CPU: the middleware's own that
/// makes room may be one of them.
pub(crate) fn flood(sender: &mut Sender, window: Window, messages: u32) -> Done {
    let first = window.first_number(sender.messages);
    let end = first.saturating_add(messages).min(sender.messages);
    let (mut due_ns, mut returned_ns) = (window.joined_ns, window.joined_ns);
    let mut sequence = first;
    if sender.gate.rest_before(window.joined_ns) {
        clock::wait_until(window.joined_ns, sender.spin_ns);
    }
    while sequence < end && due_ns < window.end_ns && !sender.gate.is_abandoned() {
        let handed = sender.send_when_due(sequence, due_ns);
        returned_ns = handed.returned_ns;
        due_ns = match handed.result {
            Ok(()) => returned_ns,
            Err(_) => after_others_ns(),
        };
        sequence += 1;
    }
    sender.publisher.flush();
    Done::tried(sequence - first, returned_ns)
}

/// The time once the threads that wait for this CPU have had it.
#[cold]
fn after_others_ns() -> i64 {
    thread::yield_now();
    clock::now_ns()
}

fn bound(messages: Option<u64>, most: u32) -> u32 {
    messages.map_or(most, |messages| messages.min(u64::from(most)) as u32)
}
