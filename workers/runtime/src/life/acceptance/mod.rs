//! Compares a spec with what the worker says of itself: whatever can be refused without knowing the middleware.
//!
//! Pure: it initialises nothing. What depends on the middleware's own rules is judged by [`crate::Middleware::accept`].

#[cfg(test)]
mod hostile;
mod nodes;
mod streams;

use std::collections::HashSet;

use middlemark_contract::{
    ApplicationSpec, CONTRACT_VERSION, Capabilities, Deliveries, Delivery, Refusal, Role, SecurityLevel,
};

/// Whether `capabilities` meet the spec.
///
/// # Errors
/// The first refusal, with what was requested and what there is.
pub(crate) fn accept(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    accept_version(spec.contract_version)?;
    accept_rendezvous(spec)?;
    accept_endpoints(spec, capabilities)?;
    accept_hosts(spec, capabilities)?;
    accept_delivery(spec.delivery, &capabilities.deliveries)?;
    accept_security(spec.security_level(), capabilities)?;
    nodes::accept(spec)?;
    spec.streams
        .iter()
        .try_for_each(|stream| streams::accept(stream, capabilities))
}

/// Whether the front speaks this worker's version of the contract.
///
/// # Errors
/// The refusal, with both versions.
pub(crate) fn accept_version(version: u32) -> Result<(), Refusal> {
    require(version == CONTRACT_VERSION, "contract_version", || {
        format!("the front speaks version {version}, this worker version {CONTRACT_VERSION}")
    })
}

fn accept_rendezvous(spec: &ApplicationSpec) -> Result<(), Refusal> {
    let name = &spec.rendezvous.name;
    let plain = (1..=24).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    require(plain, "spec", || {
        format!("rendezvous name '{name}' is not 1 to 24 letters, digits and _")
    })?;
    require(spec.rendezvous.domain <= 99, "spec", || {
        format!("domain {} is above 99", spec.rendezvous.domain)
    })?;
    require(spec.rendezvous.folder.is_dir(), "spec", || {
        format!("the trial's folder {} does not exist", spec.rendezvous.folder.display())
    })
}

fn accept_endpoints(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for endpoint in &spec.endpoints {
        let stream = spec
            .streams
            .iter()
            .find(|stream| stream.name == endpoint.stream)
            .ok_or_else(|| Refusal {
                capability: "spec".into(),
                reason: format!(
                    "an endpoint names the stream '{}', which the spec does not have",
                    endpoint.stream
                ),
            })?;
        let addresses = match endpoint.role {
            Role::Publisher => &stream.publishers,
            Role::Subscriber => &stream.subscribers,
        };
        let held = addresses
            .get(usize::from(endpoint.index))
            .is_some_and(|address| address.application == spec.application);
        require(held, "spec", || {
            format!(
                "endpoint {} of '{}' is not this application's by the stream's addresses",
                endpoint.index, endpoint.stream
            )
        })?;
        require(
            seen.insert((&endpoint.stream, endpoint.role, endpoint.index)),
            "spec",
            || format!("endpoint {} of '{}' is there twice", endpoint.index, endpoint.stream),
        )?;
    }
    let shares_process = spec.streams.iter().any(|stream| {
        let holds = |role| {
            spec.endpoints
                .iter()
                .any(|endpoint| endpoint.stream == stream.name && endpoint.role == role)
        };
        holds(Role::Publisher) && holds(Role::Subscriber)
    });
    require(capabilities.same_process || !shares_process, "placement", || {
        "publisher and subscriber can't live in one application".into()
    })
}

fn accept_hosts(spec: &ApplicationSpec, capabilities: &Capabilities) -> Result<(), Refusal> {
    let elsewhere = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers))
        .find(|endpoint| endpoint.address != spec.address);
    require(
        capabilities.between_hosts || elsewhere.is_none(),
        "between_hosts",
        || "applications on different hosts can't reach each other".into(),
    )
}

fn accept_delivery(delivery: Delivery, deliveries: &Deliveries) -> Result<(), Refusal> {
    require(deliveries.how(delivery).is_some(), "delivery", || {
        let there: Vec<_> = deliveries.has.iter().map(|each| each.delivery.to_string()).collect();
        let lacking = deliveries.lacks.iter().find(|each| each.delivery == delivery);
        let why = lacking.map_or_else(String::new, |each| format!(", as {}", each.reason));
        format!("there is no {delivery}{why}; there is {}", there.join(", "))
    })
}

/// Whether the level of a spec is one that the worker has.
///
/// # Errors
/// The refusal, with the worker's reason.
pub(crate) fn accept_security(level: Option<SecurityLevel>, capabilities: &Capabilities) -> Result<(), Refusal> {
    let Some(level) = level else {
        return Ok(());
    };
    let has = capabilities.security.iter().any(|each| each.level == level);
    require(has, "security", || {
        let lacking = capabilities.lacking_security.iter().find(|each| each.level == level);
        let why = lacking.map_or_else(String::new, |each| format!(": {}", each.reason));
        format!("it can't be {level}{why}")
    })
}

fn require(holds: bool, capability: &str, reason: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds {
        Ok(())
    } else {
        Err(Refusal {
            capability: capability.into(),
            reason: reason(),
        })
    }
}
