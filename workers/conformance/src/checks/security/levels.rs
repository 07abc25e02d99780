//! For which levels of security a check is made, and under which options.

use anyhow::{Context, Result};
use middlemark_contract::{OptionKind, OptionValue, SecurityDescription};

use crate::case::{Answer, Case};
use crate::checks::delivery::refused_as;
use crate::services::calling_for;
use crate::worker::Variant;

/// Makes a check of each level that the worker describes, if need be by its service or over another transport; a transport or a
/// delivery that is checked by itself may be without a level.
pub(super) fn at_each_level(case: &Case, check: impl Fn(&Case, &SecurityDescription) -> Result<()>) -> Result<Answer> {
    let (mut has_any, mut refusal) = (false, None);
    for described in &case.worker.description.capabilities.security {
        match at_level(case, described, &check).with_context(|| format!("{}", described.level)) {
            Err(error) if is_refused(&error) && is_of_a_path(case) => refusal = Some(error),
            outcome => {
                outcome?;
                has_any = true;
            }
        }
    }
    match refusal {
        _ if has_any => Ok(Answer::Passed),
        Some(refusal) => Err(refusal),
        None => Ok(Answer::Lacks("no level of security".into())),
    }
}

/// The first of the case and what may be had otherwise that does not refuse the level.
fn at_level(
    case: &Case,
    described: &SecurityDescription,
    check: impl Fn(&Case, &SecurityDescription) -> Result<()>,
) -> Result<()> {
    let mut outcome = check(case, described);
    for other in otherwise(case) {
        match outcome {
            Err(error) if is_refused(&error) => outcome = check(&other, described),
            outcome => return outcome,
        }
    }
    outcome
}

/// What a level may need in place of a profile's options: the worker's service, or another transport.
fn otherwise(case: &Case) -> Vec<Case> {
    let transports = case.worker.variants().into_iter();
    let transports = transports.filter(|variant| matches!(variant, Variant::Transport { .. }));
    let over = transports.map(|variant| Case {
        variant,
        ..case.clone()
    });
    let over = over.filter(|_| !is_of_a_path(case));
    with_services(case).into_iter().chain(over).collect()
}

/// The case with the options that call for the worker's service, where it has any without.
pub(super) fn with_services(case: &Case) -> Option<Case> {
    if matches!(case.variant, Variant::Delivery { .. }) {
        return None; // its options are the profile's
    }
    let mut needs = case.worker.description.services.iter();
    let need = needs.find(|need| !need.when.is_empty())?;
    Some(calling_for(case, need))
}

/// The option by which a worker lets it be chosen which layers of a message a level protects.
const PROTECTION: &str = "protection";

/// The profile `default` with each other value of that option, where the case is this profile and the worker has the option.
pub(super) fn otherwise_protected(case: &Case) -> Vec<Case> {
    if !matches!(&case.variant, Variant::Profile(name) if name == "default") {
        return Vec::new();
    }
    let option = case.worker.description.options.iter();
    let option = option.filter(|option| option.name == PROTECTION);
    let values = option.flat_map(|option| match &option.kind {
        OptionKind::Choice { choices } => {
            let values = choices.iter().cloned().map(OptionValue::Text);
            values.filter(|value| *value != option.default).collect()
        }
        _ => Vec::new(),
    });
    let changed = values.map(|value| Case {
        variant: Variant::Changed {
            profile: case.variant.profile().into(),
            options: [(PROTECTION.into(), value)].into(),
        },
        ..case.clone()
    });
    changed.collect()
}

/// What a check found; a level that can't be had under these options is no finding.
pub(super) fn where_it_is_had(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(error) if is_refused(&error) => Ok(()),
        outcome => outcome,
    }
}

fn is_refused(error: &anyhow::Error) -> bool {
    refused_as(error, "security")
}

fn is_of_a_path(case: &Case) -> bool {
    matches!(case.variant, Variant::Transport { .. } | Variant::Delivery { .. })
}
