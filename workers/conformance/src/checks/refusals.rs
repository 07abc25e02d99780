//! Whether what can't be done is refused, by type and with a reason; `nonsense` asks of what is no request at all.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{
    ApplicationEvent, ApplicationSpec, Congestion, Durability, OptionValue, Pattern, PatternSpec, Refusal, Reliability,
    SMALLEST_MESSAGE_BYTES,
};

use crate::application::Application;
use crate::case::{Answer, Case};
use crate::checks::requests;
use crate::place::Place;
use crate::request::Request;
use crate::services;

/// A documentation address (RFC 5737): certainly another host.
const ELSEWHERE: &str = "192.0.2.1";

/// The exit status after a refusal.
const REFUSED: i32 = 2;

pub(crate) fn sizes(case: &Case) -> Result<Answer> {
    let largest = case.worker.description.capabilities.largest_message_bytes;
    for size_bytes in [0, SMALLEST_MESSAGE_BYTES - 1, largest + 1, u64::MAX] {
        refused_as(case, &["size_bytes"], |spec| spec.streams[0].size_bytes = size_bytes)
            .with_context(|| format!("messages of {size_bytes} bytes"))?;
    }
    if case
        .worker
        .description
        .capabilities
        .patterns
        .contains(&Pattern::PingPong)
    {
        refused_as(case, &["size_bytes"], |spec| {
            spec.streams[0].pattern = PatternSpec::PingPong {
                approach_hz: 100.0,
                answer_bytes: largest + 1,
                interval_ns: 0,
                patience_ns: 1,
                messages: None,
            };
        })
        .context("answers beyond the largest size")?;
    }
    Ok(Answer::Passed)
}

pub(crate) fn unsupported(case: &Case) -> Result<Answer> {
    let offered = &case.worker.description.capabilities;
    refused_as(case, &["contract_version"], |spec| spec.contract_version = 999)?;
    refused_as(case, &["profile"], |spec| spec.profile = "no_such_profile".into())?;
    let set = |spec: &mut ApplicationSpec, name: &str, value| drop(spec.options.insert(name.into(), value));
    refused_as(case, &["option"], |spec| {
        set(spec, "no_such_option", OptionValue::Boolean(true));
    })?;
    for option in &case.worker.description.options {
        let wrong = match option.default {
            OptionValue::Text(_) => OptionValue::Integer(i64::MAX),
            _ => OptionValue::Text("no such value".into()),
        };
        refused_as(case, &["option"], |spec| set(spec, &option.name, wrong.clone()))
            .with_context(|| format!("a value of the wrong kind for '{}'", option.name))?;
    }
    for value in [Reliability::BestEffort, Reliability::Reliable] {
        if !offered.reliabilities.contains(&value) {
            refused_as(case, &["reliability"], |spec| spec.streams[0].qos.reliability = value)?;
        }
    }
    for value in [Durability::Volatile, Durability::TransientLocal] {
        if !offered.durabilities.contains(&value) {
            refused_as(case, &["durability"], |spec| spec.streams[0].qos.durability = value)?;
        }
    }
    for value in [Congestion::Block, Congestion::Drop] {
        if !offered.congestion.contains(&value) {
            refused_as(case, &["congestion"], |spec| spec.streams[0].qos.congestion = value)?;
        }
    }
    for lacking in &offered.deliveries.lacks {
        refused_as(case, &["delivery"], |spec| spec.delivery = lacking.delivery)?;
    }
    if !offered.between_hosts {
        refused_as(case, &["between_hosts"], |spec| {
            spec.streams[0].subscribers[0].address = ELSEWHERE.parse().expect("an address");
        })?;
    }
    if !offered.same_process {
        let request = Request::new(case).together();
        let place = Place::claim()?;
        refused(
            case,
            &request.spec(case, &place, &services::addresses(case), "both"),
            &["placement"],
        )?;
    }
    unsupported_patterns(case)
}

fn unsupported_patterns(case: &Case) -> Result<Answer> {
    let unthrottled = PatternSpec::Unthrottled {
        approach_hz: 1.0,
        messages: None,
    };
    let burst = PatternSpec::Burst {
        rate_hz: 1.0,
        messages: 1,
    };
    let ping_pong = PatternSpec::PingPong {
        approach_hz: 1.0,
        answer_bytes: 64,
        interval_ns: 0,
        patience_ns: 1,
        messages: None,
    };
    let requests = requests::pattern(requests::closed(), 64);
    let offered = &case.worker.description.capabilities.patterns;
    for (pattern, spec_of_it) in [
        (Pattern::Unthrottled, unthrottled),
        (Pattern::Burst, burst),
        (Pattern::PingPong, ping_pong),
        (Pattern::RequestResponse, requests),
    ] {
        if !offered.contains(&pattern) {
            refused_as(case, &["pattern"], |spec| spec.streams[0].pattern = spec_of_it)?;
        }
    }
    Ok(Answer::Passed)
}

/// Changes a good spec into one that must be refused by one of these capabilities.
pub(crate) fn refused_as(case: &Case, capabilities: &[&str], change: impl FnOnce(&mut ApplicationSpec)) -> Result<()> {
    let place = Place::claim()?;
    let mut spec = Request::new(case).spec(case, &place, &services::addresses(case), "subscriber_0");
    change(&mut spec);
    refused(case, &spec, capabilities)
}

fn refused(case: &Case, spec: &ApplicationSpec, capabilities: &[&str]) -> Result<()> {
    let mut application = Application::spawn(&case.worker, spec)?;
    let process = &mut application.process;
    match process.next(&format!("refused by {}", capabilities.join(" or ")))? {
        ApplicationEvent::Refused(refusal) => {
            reasoned(&refusal)?;
            ensure!(
                capabilities.contains(&refusal.capability.as_str()),
                "refused by `{}` instead of {capabilities:?}: {}",
                refusal.capability,
                refusal.reason
            );
        }
        event => return Err(process.failure(&format!("said {event:?} instead of refused by {capabilities:?}"))),
    }
    ensure!(
        process.is_silent("the end of standard output after refused")?,
        process.failure("said something after refused")
    );
    let status = process.wait_without_crash("its end after refused")?;
    ensure!(
        status == REFUSED,
        process.failure(&format!("ended with {status} instead of {REFUSED} after refused"))
    );
    Ok(())
}

pub(crate) fn reasoned(refusal: &Refusal) -> Result<()> {
    ensure!(
        !refusal.reason.trim().is_empty(),
        "refused by `{}` without a reason",
        refusal.capability
    );
    Ok(())
}
