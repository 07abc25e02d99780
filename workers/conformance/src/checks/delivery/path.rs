//! Whether messages take the paths that a worker states, by what its applications tell of segments and sockets.
//!
//! Bytes on interfaces are left out, as others on the machine send some too.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{MappedSegment, MessagePath, PathProof, SocketProtocol, SocketUse};

use crate::case::{Answer, Case};
use crate::checks::delivery::check;
use crate::place::Place;
use crate::request::Request;
use crate::trial::Trial;

/// Large enough for a middleware that keeps small messages out of shared memory.
const SIZE_BYTES: u64 = 16_000;

const TRIES: usize = 3;

pub(crate) fn is_as_stated(case: &Case) -> Result<Answer> {
    let request = Request::new(case).size(case.fitting(SIZE_BYTES));
    let is_apart = judged(case, &request).context("in two processes")?;
    let is_together = case.worker.description.capabilities.same_process
        && judged(case, &request.together()).context("in one process")?;
    if is_apart || is_together {
        return Ok(Answer::Passed);
    }
    Ok(Answer::Lacks("it tells neither segments nor sockets".into()))
}

/// Whether a trial of this request could be judged: who learns of the window when it is about to begin has not looked, or not
/// to the end, as may be on a busy machine.
fn judged(case: &Case, request: &Request) -> Result<bool> {
    for _ in 0..TRIES {
        if let Some(seen) = seen(case, request.clone())?.filter(Seen::is_whole) {
            return seen.check().map(|()| true);
        }
    }
    Ok(false)
}

/// What was seen of the applications of a trial, all together.
struct Seen {
    stated: BTreeSet<MessagePath>,
    segments: Vec<MappedSegment>,
    sockets: Vec<SocketUse>,
}

/// Leads a trial through its life; none where an application doesn't tell what it has.
fn seen(case: &Case, request: Request) -> Result<Option<Seen>> {
    let place = Place::claim()?;
    let mut trial = Trial::prepare(case, &place, request)?;
    trial.arm_all()?;
    trial.start_all()?;
    trial.meet()?;
    check(&trial.measure()?)?;
    let mut seen = Some(Seen {
        stated: BTreeSet::new(),
        segments: Vec::new(),
        sockets: Vec::new(),
    });
    for application in trial.applications.values() {
        let effective = application.effective.as_ref().context("it said no effective")?;
        let path = application.path.clone().context("it said no path")?;
        seen = seen.and_then(|seen| seen.with(&effective.paths, path));
    }
    trial.stop()?;
    Ok(seen)
}

impl Seen {
    fn with(mut self, stated: &[MessagePath], path: PathProof) -> Option<Seen> {
        self.stated.extend(stated);
        self.segments.extend(path.segments?);
        self.sockets.extend(path.sockets?);
        Some(self)
    }

    /// Whether segments were looked through, or enough of them to find messages.
    fn is_whole(&self) -> bool {
        let found = self.segments.iter().any(|segment| segment.messages > Some(0));
        found || self.segments.iter().all(|segment| segment.messages.is_some())
    }

    fn check(&self) -> Result<()> {
        let found = || self.segments.iter().filter(|segment| segment.messages > Some(0));
        let stated = &self.stated;
        ensure!(
            stated.contains(&MessagePath::SharedMemory) == found().next().is_some(),
            "it states {stated:?}, and of its segments have messages: {:?} of {:?}",
            found().collect::<Vec<_>>(),
            self.segments
        );
        let has = |is_local: bool| {
            let mut protocols = self.sockets.iter().map(|socket| socket.protocol);
            protocols.any(|protocol| (protocol == SocketProtocol::Local) == is_local)
        };
        for (path, is_local) in [(MessagePath::LocalSocket, true), (MessagePath::Network, false)] {
            ensure!(
                has(is_local) || !stated.contains(&path),
                "it states {stated:?}, and its sockets are {:?}",
                self.sockets
            );
        }
        Ok(())
    }
}
