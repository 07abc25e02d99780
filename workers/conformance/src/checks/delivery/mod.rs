//! Whether messages arrive, all, whole, in order, and are counted as they came, in every pattern.

pub(crate) mod path;
pub(crate) mod payloads;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Arrival, Congestion, History, OptionValue, Pattern, PatternSpec, Published, Qos, Recorded};

use crate::application::Refused;
use crate::case::{Answer, Case};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::request::{Request, periodic};
use crate::trial::Trial;
use crate::worker::Variant;

/// The option by which a subscriber is given messages in pieces.
pub(crate) const CONTIGUOUS: &str = "contiguous";

/// The largest message that is really sent.
pub(crate) const LARGEST_SENT_BYTES: u64 = 16 << 20;

pub(crate) fn accounting_is_exact(case: &Case) -> Result<Answer> {
    let outcome = carried(case, Request::new(case))?;
    let intended = outcome.publishers[0].intended;
    ensure!(intended == 100, "200 Hz over 0.5 s are 100 messages, not {intended}");
    Ok(Answer::Passed)
}

pub(crate) fn bytes_arrive_intact(case: &Case) -> Result<Answer> {
    let largest = case.fitting(LARGEST_SENT_BYTES);
    let mut sizes = vec![32, 1000, 65_536, 1 << 20, largest];
    sizes.retain(|size| *size <= largest);
    sizes.dedup();
    for size_bytes in sizes {
        let rate_hz = if size_bytes > 100_000 { 4.0 } else { 100.0 };
        let request = Request::new(case).size(size_bytes).pattern(periodic(rate_hz));
        let place = Place::claim()?;
        match Trial::run(case, &place, request).and_then(|outcome| check(&outcome)) {
            // A transport may be narrower than the widest; the small sizes go over each.
            Err(error) if size_bytes > 1000 && refused_as(&error, "size_bytes") => break,
            result => result.with_context(|| format!("messages of {size_bytes} bytes"))?,
        }
    }
    Ok(Answer::Passed)
}

/// What a worker with the option hands over in one piece as usual, it hands over in its pieces too.
pub(crate) fn bytes_in_pieces(case: &Case) -> Result<Answer> {
    let described = &case.worker.description.options;
    if !described.iter().any(|option| option.name == CONTIGUOUS) {
        return Ok(Answer::Lacks("its messages always come in one piece".into()));
    }
    let mut options = case.variant.options();
    options.insert(CONTIGUOUS.into(), OptionValue::Boolean(false));
    // Large enough for pieces wherever there are any.
    let request = Request::new(case)
        .size(case.fitting(LARGEST_SENT_BYTES))
        .pattern(periodic(4.0));
    let profile = case.variant.profile().into();
    let variant = Variant::Changed { profile, options };
    carried(
        &Case {
            variant,
            ..case.clone()
        },
        request,
    )?;
    Ok(Answer::Passed)
}

pub(crate) fn order_is_kept(case: &Case) -> Result<Answer> {
    let outcome = carried(case, Request::new(case).pattern(periodic(1000.0)))?;
    outcome.check_order()?;
    Ok(Answer::Passed)
}

pub(crate) fn ping_pong(case: &Case) -> Result<Answer> {
    let size_bytes = case.fitting(64);
    let outcome = in_pattern(
        case,
        Pattern::PingPong,
        Request::new(case).size(size_bytes).pattern(questions(size_bytes)),
    )?;
    outcome.map_or_else(lacks(Pattern::PingPong), |outcome| answered(&outcome))
}

pub(crate) fn ping_pong_of_two_sizes(case: &Case) -> Result<Answer> {
    let request = Request::new(case)
        .size(case.fitting(64))
        .pattern(questions(case.fitting(20_000)));
    let outcome = in_pattern(case, Pattern::PingPong, request)?;
    outcome.map_or_else(lacks(Pattern::PingPong), |outcome| answered(&outcome))
}

pub(crate) fn bursts(case: &Case) -> Result<Answer> {
    let pattern = PatternSpec::Burst {
        rate_hz: 20.0,
        messages: 10,
    };
    let outcome = in_pattern(case, Pattern::Burst, Request::new(case).pattern(pattern))?;
    outcome.map_or_else(lacks(Pattern::Burst), |outcome| {
        let intended = outcome.publishers[0].intended;
        ensure!(intended == 100, "10 bursts of 10 are 100 messages, not {intended}");
        Ok(Answer::Passed)
    })
}

pub(crate) fn unthrottled(case: &Case) -> Result<Answer> {
    let pattern = PatternSpec::Unthrottled {
        approach_hz: 100.0,
        messages: Some(500),
    };
    let outcome = in_pattern(case, Pattern::Unthrottled, Request::new(case).pattern(pattern))?;
    outcome.map_or_else(lacks(Pattern::Unthrottled), |outcome| {
        let intended = outcome.publishers[0].intended;
        ensure!(
            (1..=500).contains(&intended),
            "at most 500 messages were asked for, not {intended}"
        );
        Ok(Answer::Passed)
    })
}

pub(crate) fn poisson(case: &Case) -> Result<Answer> {
    let arrival = Arrival::Poisson { seed: 7 };
    let request = Request::new(case).pattern(PatternSpec::Periodic {
        rate_hz: 200.0,
        arrival,
    });
    let first = carried(case, request.clone())?.publishers[0].intended;
    let second = carried(case, request)?.publishers[0].intended;
    ensure!(first == second, "the same seed gave {first} messages, then {second}");
    Ok(Answer::Passed)
}

/// Instants and sizes of a recording, begun again when it is over.
pub(crate) fn recorded(case: &Case) -> Result<Answer> {
    let largest = case.fitting(1000);
    let recorded = Recorded {
        offsets_ns: vec![0, 1_000_000, 1_000_000, 50_000_000, 120_000_000],
        sizes_bytes: [400, 32, largest, 64, 500].map(|size: u64| size.min(largest)).to_vec(),
        period_ns: 200_000_000,
    };
    let request = Request::new(case).size(largest).pattern(periodic(25.0));
    let outcome = carried(case, request.each(|stream| stream.recorded = Some(recorded.clone())))?;
    let intended = outcome.publishers[0].intended;
    ensure!(
        intended == 14,
        "in half a second the recording has 14 messages, not {intended}"
    );
    let begin_ns = |sample: &Published| sample.intended_ns - recorded.offset_ns(u64::from(sample.sequence)) as i64;
    for sample in &outcome.published {
        ensure!(
            begin_ns(sample) == begin_ns(&outcome.published[0]),
            "not at its recorded instant: {sample:?}"
        );
    }
    Ok(Answer::Passed)
}

pub(crate) fn beyond_samples(case: &Case) -> Result<Answer> {
    let mut request = Request::new(case);
    request.samples = 10;
    let place = Place::claim()?;
    let outcome = Trial::run(case, &place, request)?;
    outcome.check()?;
    let counts = &outcome.subscribers[0];
    let arrived = counts.received + counts.late;
    ensure!(
        counts.beyond_samples == arrived - 10,
        "with memory for 10 samples, {} of {arrived} messages are beyond it",
        counts.beyond_samples
    );
    let has_histogram = outcome
        .files
        .iter()
        .any(|path| path.to_string_lossy().ends_with(".beyond.hlog"));
    ensure!(has_histogram, "no .beyond.hlog for them: {:?}", outcome.files);
    Ok(Answer::Passed)
}

/// Runs a request and checks all that holds for any.
pub(crate) fn carried(case: &Case, request: Request) -> Result<Outcome> {
    let place = Place::claim()?;
    let outcome = Trial::run(case, &place, request)?;
    check(&outcome)?;
    Ok(outcome)
}

pub(crate) fn check(outcome: &Outcome) -> Result<()> {
    outcome.check_complete()?;
    outcome.check()?;
    outcome.check_samples()
}

pub(crate) fn refused_as(error: &anyhow::Error, capability: &str) -> bool {
    error
        .downcast_ref::<Refused>()
        .is_some_and(|refused| refused.0.capability == capability)
}

fn in_pattern(case: &Case, pattern: Pattern, request: Request) -> Result<Option<Outcome>> {
    if !case.worker.description.capabilities.patterns.contains(&pattern) {
        return Ok(None);
    }
    match carried(case, request.clone()) {
        // An answer that may wait is more than some threads of libraries can give; one that overwrites never waits.
        Err(error) if pattern == Pattern::PingPong && refused_as(&error, "delivery") => {
            carried(case, request.qos(overwriting)).map(Some)
        }
        outcome => outcome.map(Some),
    }
}

pub(crate) fn overwriting(qos: &mut Qos) {
    qos.history = History::KeepLast { depth: 16 };
    qos.congestion = Congestion::Drop;
}

fn lacks(pattern: Pattern) -> impl FnOnce() -> Result<Answer> {
    move || {
        Ok(Answer::Lacks(format!(
            "the pattern {pattern:?} is not among its capabilities"
        )))
    }
}

fn questions(answer_bytes: u64) -> PatternSpec {
    PatternSpec::PingPong {
        approach_hz: 100.0,
        answer_bytes,
        interval_ns: 0,
        patience_ns: 2_000_000_000,
        messages: Some(50),
    }
}

fn answered(outcome: &Outcome) -> Result<Answer> {
    let answers: Vec<_> = outcome.subscribers.iter().filter(|counts| counts.answers).collect();
    ensure!(
        answers.len() == 1,
        "one client and one responder have one count of answers, not {answers:?}"
    );
    Ok(Answer::Passed)
}
