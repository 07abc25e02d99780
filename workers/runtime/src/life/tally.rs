//! What the main thread of an application does with the notes of its other threads, and how a life can end early.
//!
//! It decides no order; `application` says what is waited for.

use std::process::ExitCode;

use middlemark_contract::{ApplicationCommand, ApplicationEvent, FirstArrival, PublisherCounts};

use crate::middleware::MiddlewareError;
use crate::process::inbox::Note;
use crate::process::wire::{self, Line};
use crate::receive::flow::First;

/// Why a life ended before it was done.
pub(crate) enum End {
    /// The front is gone.
    FrontGone,
    /// The front wants no more of it, in the middle of the window or of the drain.
    GivenUp,
    /// Something failed.
    Failed { doing: &'static str, causes: Vec<String> },
}

impl End {
    pub(crate) fn failed(doing: &'static str) -> impl FnOnce(MiddlewareError) -> End {
        move |error| End::Failed {
            doing,
            causes: wire::causes(&*error),
        }
    }

    /// The event that tells of it, where the front is still to be told.
    pub(crate) fn event(&self) -> Option<ApplicationEvent> {
        match self {
            End::Failed { doing, causes } => Some(ApplicationEvent::Failed {
                doing: (*doing).into(),
                causes: causes.clone(),
            }),
            End::FrontGone | End::GivenUp => None,
        }
    }

    pub(crate) fn report(&self) -> ExitCode {
        if let Some(event) = self.event() {
            wire::say(&event);
        }
        ExitCode::FAILURE
    }
}

/// What the publishers of the window have told so far.
pub(crate) struct Tally {
    pub(crate) publishers: Vec<PublisherCounts>,
    pub(crate) missing: usize,
}

impl Tally {
    pub(crate) fn of(publishers: usize) -> Tally {
        Tally {
            publishers: Vec::new(),
            missing: publishers,
        }
    }

    pub(crate) fn take(&mut self, note: Note) -> Result<(), End> {
        self.missing -= usize::from(matches!(note, Note::Finished(_)));
        self.publishers.extend(pass(note)?);
        Ok(())
    }
}

/// Handles whatever comes while no command is waited for.
pub(crate) fn pass(note: Note) -> Result<Option<PublisherCounts>, End> {
    match note {
        Note::First {
            kind,
            stream,
            answers,
            publisher,
            subscriber,
            received_ns,
        } => {
            let path = FirstArrival {
                stream,
                answers,
                publisher,
                subscriber,
                received_ns: received_ns as u64,
            };
            wire::say(&match kind {
                First::Message => ApplicationEvent::FirstMessage(path),
                First::FullMessage => ApplicationEvent::FirstFullMessage(path),
            });
            Ok(None)
        }
        Note::Matched(first) => {
            wire::say(&ApplicationEvent::Matched(first));
            Ok(None)
        }
        Note::Finished(counts) => Ok(counts),
        Note::Complete => Ok(None),
        Note::Line(Line::Value(ApplicationCommand::Stop)) => Err(End::GivenUp),
        Note::Line(Line::Value(command)) => Err(End::Failed {
            doing: "reading a command",
            causes: vec![format!("the command {command} came too early")],
        }),
        Note::Line(Line::Nonsense(reason)) => Err(End::Failed {
            doing: "reading a command",
            causes: vec![reason],
        }),
        Note::Line(Line::End) => Err(End::FrontGone),
    }
}

pub(crate) fn unexpected(waiting_for: &str) -> End {
    End::Failed {
        doing: "reading a command",
        causes: vec![format!("another command came instead of {waiting_for}")],
    }
}
