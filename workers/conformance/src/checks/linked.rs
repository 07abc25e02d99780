//! Whether services that are linked with each other carry messages between applications that share none of them.

use anyhow::{Context, Result};
use middlemark_contract::{Per, ServiceNeed};

use crate::case::{Answer, Case};
use crate::checks::delivery::check;
use crate::place::Place;
use crate::request::Request;
use crate::services::Services;
use crate::trial::Trial;
use crate::worker::Variant;

/// Two in a row, and three, each application at a service of its own: all arrives, once, at the ends and in between.
pub(crate) fn pass_each_message_once(case: &Case) -> Result<Answer> {
    let needs = &case.worker.description.services;
    let Some(need) = needs.iter().find(|need| need.per == Per::Network) else {
        return Ok(Answer::Lacks(
            "it needs no service that could be linked with another".into(),
        ));
    };
    let served = served(case, need);
    for subscribers in [1, 2] {
        let request = Request::new(case).endpoints(1, subscribers);
        let place = Place::claim()?;
        let services = Services::start_chain(&served, &place, &need.service, subscribers + 1)?;
        let links = format!("{} services in a chain", subscribers + 1);
        let outcome = Trial::served(&served, &place, request, services)
            .live()
            .with_context(|| links.clone())?;
        check(&outcome).context(links)?;
    }
    Ok(Answer::Passed)
}

/// The worker with the options under which the service is needed.
fn served(case: &Case, need: &ServiceNeed) -> Case {
    let conditions = need.when.iter();
    let options = conditions.filter_map(|when| Some((when.option.clone(), when.values.first()?.clone())));
    Case {
        variant: Variant::Changed {
            profile: "default".into(),
            options: options.collect(),
        },
        ..case.clone()
    }
}
