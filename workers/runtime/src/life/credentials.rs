//! The command `credentials`: one request in, one answer out, before any process of the trial is started.
//!
//! What credentials are only the middleware knows; here a request is compared with what the worker says of itself.

use std::process::ExitCode;

use middlemark_contract::{CredentialsEvent, CredentialsRequest, CredentialsSet, Refusal};

use crate::life::acceptance;
use crate::middleware::{CredentialsError, Middleware};
use crate::options::Options;
use crate::process::wire::{self, Line};

/// Makes the credentials of one trial.
pub(crate) fn run(middleware: &dyn Middleware) -> ExitCode {
    let made = match wire::read_line::<CredentialsRequest>() {
        Line::Value(request) => made(middleware, &request),
        Line::Nonsense(reason) => Err(CredentialsError::Refused(Refusal {
            capability: "spec".into(),
            reason,
        })),
        Line::End => return ExitCode::FAILURE,
    };
    let (event, exit) = match made {
        Ok(set) => (CredentialsEvent::Made(set), ExitCode::SUCCESS),
        Err(CredentialsError::Refused(refusal)) => (CredentialsEvent::Refused(refusal), ExitCode::from(2)),
        Err(CredentialsError::Failed(error)) => {
            let causes = wire::causes(&*error);
            let doing = "making credentials".into();
            (CredentialsEvent::Failed { doing, causes }, ExitCode::FAILURE)
        }
    };
    wire::say(&event);
    exit
}

fn made(middleware: &dyn Middleware, request: &CredentialsRequest) -> Result<CredentialsSet, CredentialsError> {
    let description = middleware.describe();
    let options = acceptance::accept_version(request.contract_version)
        .and_then(|()| acceptance::accept_security(Some(request.level), &description.capabilities))
        .and_then(|()| Options::resolve(&description, &request.profile, &request.options))
        .map_err(CredentialsError::Refused)?;
    middleware.credentials(request, &options)
}
