//! The life of a service: started, measured on demand, watched, stopped.
//!
//! It knows no service by name; the middleware starts and stops its own through [`Service`].

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use middlemark_contract::{Refusal, ServiceCommand, ServiceEvent, ServiceSpec};

use crate::clock;
use crate::life::acceptance;
use crate::middleware::{Middleware, MiddlewareError, Service};
use crate::options::Options;
use crate::process::closing;
use crate::process::placement;
use crate::process::usage::Subject;
use crate::process::wire::{self, Line};

/// How often the service is looked at for having died, as it can't tell by itself.
const WATCH: Duration = Duration::from_millis(100);

/// Runs one service from its spec on standard input to its end.
pub(crate) fn run(middleware: &dyn Middleware) -> ExitCode {
    let spec = match wire::read_line::<ServiceSpec>() {
        Line::Value(spec) => spec,
        Line::Nonsense(reason) => {
            return refuse(Refusal {
                capability: "spec".into(),
                reason,
            });
        }
        Line::End => return ExitCode::FAILURE,
    };
    clock::follow_front(spec.clock_offset_ns);
    let options = match accept(middleware, &spec) {
        Ok(options) => options,
        Err(refusal) => return refuse(refusal),
    };
    let mut service = match middleware.serve(&spec, &options) {
        Ok(service) => service,
        Err(error) => return fail("starting the service", &error),
    };
    let mut settings = service.settings();
    settings.extend(placement::granted(service.child()));
    wire::say(&ServiceEvent::Ready {
        version: service.version(),
        settings,
    });
    let (lines, inbox) = channel();
    wire::read_lines(lines, |line| line);
    let result = serve(&mut *service, &inbox);
    closing::end_at_last("stopping the service", || ());
    match (result, service.stop()) {
        (Ok(()), Ok(())) => {
            wire::say(&ServiceEvent::Closed);
            ExitCode::SUCCESS
        }
        (Err(error), _) => fail("running the service", &error),
        (_, Err(error)) => fail("stopping the service", &error),
    }
}

fn accept(middleware: &dyn Middleware, spec: &ServiceSpec) -> Result<Options, Refusal> {
    let description = middleware.describe();
    acceptance::accept_version(spec.contract_version)?;
    if !description.services.iter().any(|need| need.service == spec.service) {
        let names: Vec<_> = description.services.iter().map(|need| need.service.as_str()).collect();
        let reason = format!("no service '{}'; there are: {}", spec.service, names.join(", "));
        return Err(Refusal {
            capability: "service".into(),
            reason,
        });
    }
    if spec.addresses.is_empty() {
        return Err(Refusal {
            capability: "spec".into(),
            reason: "the service's host has no address".into(),
        });
    }
    acceptance::accept_security(
        spec.security.as_ref().map(|security| security.level),
        &description.capabilities,
    )?;
    let options = Options::resolve(&description, &spec.profile, &spec.options)?;
    placement::apply(&spec.placement)?;
    Ok(options)
}

fn refuse(refusal: Refusal) -> ExitCode {
    wire::say(&ServiceEvent::Refused(refusal));
    ExitCode::from(2)
}

fn fail(doing: &str, error: &MiddlewareError) -> ExitCode {
    wire::say(&ServiceEvent::Failed {
        doing: doing.into(),
        causes: wire::causes(&**error),
    });
    ExitCode::FAILURE
}

/// Serves until `stop` or until the front is gone.
fn serve(service: &mut dyn Service, inbox: &Receiver<Line<ServiceCommand>>) -> Result<(), MiddlewareError> {
    let mut goes_on = true;
    while goes_on {
        goes_on = match inbox.recv_timeout(WATCH) {
            Ok(Line::Value(ServiceCommand::Measure { begin_ns, end_ns })) => {
                measure(service, inbox, begin_ns as i64, end_ns as i64)?
            }
            Ok(line) => return obey(line),
            Err(RecvTimeoutError::Disconnected) => false,
            Err(RecvTimeoutError::Timeout) => service.check().map(|()| true)?,
        }
    }
    Ok(())
}

/// Takes what ends a service; anything else is out of place.
fn obey(line: Line<ServiceCommand>) -> Result<(), MiddlewareError> {
    match line {
        Line::Value(ServiceCommand::Stop) | Line::End => Ok(()),
        Line::Nonsense(reason) => Err(reason.into()),
        Line::Value(command) => Err(format!("the command {command} came while a window was open").into()),
    }
}

/// Measures a window; false where the front stopped the service meanwhile or is gone.
fn measure(
    service: &mut dyn Service,
    inbox: &Receiver<Line<ServiceCommand>>,
    begin_ns: i64,
    end_ns: i64,
) -> Result<bool, MiddlewareError> {
    let subject = Subject { child: service.child() };
    if !quiet_until(inbox, begin_ns)? {
        return Ok(false);
    }
    let opening = subject.open()?;
    if !quiet_until(inbox, end_ns)? {
        return Ok(false);
    }
    service.check()?;
    let (resources, _) = subject.close(&opening)?;
    wire::say(&ServiceEvent::Measured { resources });
    Ok(true)
}

/// Waits for an instant until which no command is due; false where the service was ended before.
fn quiet_until(inbox: &Receiver<Line<ServiceCommand>>, instant_ns: i64) -> Result<bool, MiddlewareError> {
    let left = Duration::from_nanos((instant_ns - clock::now_ns()).max(0) as u64);
    match inbox.recv_timeout(left) {
        Err(RecvTimeoutError::Timeout) => Ok(true),
        Err(RecvTimeoutError::Disconnected) => Ok(false),
        Ok(line) => obey(line).map(|()| false),
    }
}
