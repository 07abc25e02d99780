//! Whether nonsense is answered rather than suffered: in place of a spec, of a command, of a service's name.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{ApplicationCommand, ApplicationEvent, ServiceEvent};
use serde_json::{Value, json};

use crate::application::Application;
use crate::case::{Answer, Case};
use crate::checks::refusals::{reasoned, refused_as};
use crate::place::Place;
use crate::process::Process;
use crate::request::Request;
use crate::services;
use crate::trial::now_ns;

/// Whatever comes in place of a spec: an event says so, and the process ends without a crash.
pub(crate) fn specs(case: &Case) -> Result<Answer> {
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
pub(crate) fn commands(case: &Case) -> Result<Answer> {
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
