//! Whether what can't be done is refused, by type and with a reason, and nonsense is answered rather than suffered.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{
    ApplicationCommand, ApplicationEvent, ApplicationSpec, Congestion, Durability, OptionValue, Pattern, PatternSpec,
    Refusal, Reliability, SMALLEST_MESSAGE_BYTES, ServiceEvent,
};
use serde_json::{Value, json};

use super::{Answer, Case};
use crate::application::Application;
use crate::place::Place;
use crate::process::Process;
use crate::request::Request;
use crate::services;
use crate::trial::now_ns;

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
    let offered = &case.worker.description.capabilities.patterns;
    for (pattern, spec_of_it) in [
        (Pattern::Unthrottled, unthrottled),
        (Pattern::Burst, burst),
        (Pattern::PingPong, ping_pong),
    ] {
        if !offered.contains(&pattern) {
            refused_as(case, &["pattern"], |spec| spec.streams[0].pattern = spec_of_it)?;
        }
    }
    Ok(Answer::Passed)
}

/// Whatever comes in place of a spec: an event says so, and the process ends without a crash.
pub(crate) fn nonsense_specs(case: &Case) -> Result<Answer> {
    let place = Place::claim()?;
    let spec = serde_json::to_value(Request::new(case).spec(case, &place, &services::addresses(case), "subscriber_0"))?;
    let mut lines = vec![
        ("an empty line", b"\n".to_vec()),
        ("no JSON", b"start!\n".to_vec()),
        ("binary junk", [0xFF, 0x00, 0xC3, 0x28, 0x80, b'\n'].to_vec()),
        ("an array", b"[]\n".to_vec()),
        ("null", b"null\n".to_vec()),
        (
            "half a spec",
            serde_json::to_vec(&spec)?[..100]
                .iter()
                .copied()
                .chain(*b"\n")
                .collect(),
        ),
        (
            "10 MB of one line",
            std::iter::repeat_n(b'x', 10_000_000).chain(*b"\n").collect(),
        ),
        (
            "10 MB of brackets",
            std::iter::repeat_n(b'[', 10_000_000).chain(*b"\n").collect(),
        ),
    ];
    for (field, value) in [
        ("contract_version", json!("one")),
        ("address", json!("no address")),
        ("streams", json!({})),
        ("rendezvous", json!(null)),
        ("verify", json!(-1)),
        ("no_such_field", json!(1)),
    ] {
        let mut wrong = spec.clone();
        wrong[field] = value;
        lines.push((field, line_of(&wrong)?));
    }
    for field in spec.as_object().context("a spec is an object")?.keys() {
        let mut without = spec.clone();
        without.as_object_mut().context("a spec is an object")?.remove(field);
        lines.push(("a missing field", line_of(&without)?));
    }
    for (what, line) in lines {
        let mut process = case
            .worker
            .spawn("application", &format!("{} application", case.worker.name))?;
        process.say_bytes(line)?;
        answers_nonsense(&mut process).with_context(|| format!("in place of a spec: {what}"))?;
    }
    refused_as(case, &["spec"], |spec| {
        spec.endpoints[0].stream = "no_such_stream".into();
    })?;
    refused_as(case, &["spec"], |spec| spec.endpoints[0].index = 7)?;
    refused_as(case, &["spec"], |spec| spec.rendezvous.name = "../../etc".into())?;
    refused_as(case, &["spec"], |spec| {
        spec.rendezvous.folder = "/no/such/folder".into();
    })?;
    Ok(Answer::Passed)
}

fn line_of(value: &Value) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn answers_nonsense(process: &mut Process) -> Result<()> {
    match process.next("refused or failed")? {
        ApplicationEvent::Refused(refusal) => reasoned(&refusal)?,
        ApplicationEvent::Failed { causes, .. } => ensure!(!causes.is_empty(), "failed without a cause"),
        event => return Err(process.failure(&format!("said {event:?} to nonsense"))),
    }
    let status = process.wait_without_crash("its end after it refused")?;
    ensure!(status != 0, process.failure("ended with 0 after it refused"));
    Ok(())
}

/// Commands that are nonsense, or come out of order, end an application with `failed`.
pub(crate) fn nonsense_commands(case: &Case) -> Result<Answer> {
    let soon_ns = now_ns();
    let measure = ApplicationCommand::Measure {
        begin_ns: soon_ns,
        end_ns: soon_ns + 1,
    };
    let drain = ApplicationCommand::Drain {
        expected: Vec::new(),
        until_ns: soon_ns,
    };
    for line in [
        b"{\"command\":\"dance\"}\n".to_vec(),
        b"\n".to_vec(),
        b"\xff\xfe\n".to_vec(),
        std::iter::repeat_n(b'x', 10_000_000).chain(*b"\n").collect(),
        line_of(&serde_json::to_value(&measure)?)?,
        line_of(&serde_json::to_value(&drain)?)?,
    ] {
        let place = Place::claim()?;
        let spec = Request::new(case).spec(case, &place, &services::addresses(case), "subscriber_0");
        let mut application = Application::spawn(&case.worker, &spec)?;
        application.wait_armed()?;
        let what = String::from_utf8_lossy(&line[..line.len().min(60)])
            .trim_end()
            .to_owned();
        application.process.say_bytes(line)?;
        let what = || format!("to '{what}' in place of start");
        match application.process.next("failed").with_context(what)? {
            ApplicationEvent::Failed { .. } => {}
            event => return Err(application.process.failure(&format!("said {event:?}"))).with_context(what),
        }
        let status = application
            .process
            .wait_without_crash("its end after failed")
            .with_context(what)?;
        ensure!(status == 1, "ended with {status} instead of 1 after failed, {}", what());
    }
    Ok(Answer::Passed)
}

pub(crate) fn unknown_service(case: &Case) -> Result<Answer> {
    let place = Place::claim()?;
    let mut process = services::spawn(case, &services::spec(case, &place, "no_such_service"))?;
    match process.next("refused")? {
        ServiceEvent::Refused(refusal) => reasoned(&refusal)?,
        event => {
            return Err(process.failure(&format!(
                "said {event:?} when asked for a service that it does not have"
            )));
        }
    }
    let status = process.wait_without_crash("its end after it refused")?;
    ensure!(status != 0, process.failure("ended with 0 after it refused"));
    let mut process = case.worker.spawn("service", &format!("{} service", case.worker.name))?;
    process.say_bytes(b"nonsense\n".to_vec())?;
    match process.next("refused")? {
        ServiceEvent::Refused(refusal) => reasoned(&refusal)?,
        event => return Err(process.failure(&format!("said {event:?} to a nonsense spec"))),
    }
    process
        .wait_without_crash("its end after it refused")
        .map(|_| Answer::Passed)
}

/// Changes a good spec into one that must be refused by one of these capabilities.
fn refused_as(case: &Case, capabilities: &[&str], change: impl FnOnce(&mut ApplicationSpec)) -> Result<()> {
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

fn reasoned(refusal: &Refusal) -> Result<()> {
    ensure!(
        !refusal.reason.trim().is_empty(),
        "refused by `{}` without a reason",
        refusal.capability
    );
    Ok(())
}
