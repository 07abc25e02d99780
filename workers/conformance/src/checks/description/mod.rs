//! Whether a worker's description keeps its own word: names, kinds, defaults, profiles, services.

mod tuning;

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use middlemark_contract::{
    CONTRACT_VERSION, Capabilities, Deliveries, Delivery, Description, OptionDescription, OptionKind, OptionValue,
    SMALLEST_MESSAGE_BYTES, SecurityLevel,
};

use crate::case::{Answer, Case};
use crate::checks::delivery::CONTIGUOUS;

pub(crate) use tuning::tuning_is_accounted_for;

pub(crate) fn is_valid(case: &Case) -> Result<Answer> {
    let description = &case.worker.description;
    ensure!(
        description.contract_version == CONTRACT_VERSION,
        "it speaks contract version {}, not {CONTRACT_VERSION}",
        description.contract_version
    );
    ensure!(
        description.middleware == case.worker.name,
        "it calls itself '{}', but its file is named for '{}'",
        description.middleware,
        case.worker.name
    );
    let library = &description.library;
    for (what, text) in [
        ("title", &description.title),
        ("summary", &description.summary),
        ("library.name", &library.name),
        ("library.version", &library.version),
        ("library.origin", &library.origin),
    ] {
        ensure!(!text.trim().is_empty(), "{what} is empty");
    }
    ensure!(
        tells_release(&library.version),
        "library.version '{}' is not the version of a release: it has fewer than two numbers",
        library.version
    );
    for protocol in &description.protocols {
        let told = [&protocol.name, &protocol.message, &protocol.topics].map(|text| !text.trim().is_empty());
        ensure!(
            told == [true; 3],
            "protocol '{}': its name, message or topics are not told",
            protocol.name
        );
    }
    capabilities(&description.capabilities)?;
    security(&description.capabilities)?;
    options(description)?;
    profiles(description)?;
    services(description)?;
    Ok(Answer::Passed)
}

/// Whether it says of each level of security that it can be had, or why not.
fn security(capabilities: &Capabilities) -> Result<()> {
    let lacking = &capabilities.lacking_security;
    let mut levels: Vec<_> = capabilities.security.iter().map(|each| each.level).collect();
    levels.extend(lacking.iter().map(|each| each.level));
    levels.sort_unstable();
    ensure!(
        levels == SecurityLevel::ALL,
        "it says {levels:?} of levels of security, not each of {:?} once",
        SecurityLevel::ALL
    );
    ensure!(
        capabilities.security.iter().all(|each| !each.how.trim().is_empty()),
        "a level of security does not say how it is done"
    );
    ensure!(
        lacking.iter().all(|each| !each.reason.trim().is_empty()),
        "a level of security is lacking without a reason"
    );
    Ok(())
}

/// Whether a version says more than the name of the interface that a library is loaded by: `3.4.10`, not `3`.
fn tells_release(version: &str) -> bool {
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    version.split('.').take_while(is_number).count() >= 2
}

fn capabilities(capabilities: &Capabilities) -> Result<()> {
    ensure!(!capabilities.patterns.is_empty(), "no pattern");
    ensure!(!capabilities.transports.is_empty(), "no transport");
    ensure!(!capabilities.reliabilities.is_empty(), "no reliability");
    ensure!(!capabilities.durabilities.is_empty(), "no durability");
    ensure!(!capabilities.histories.is_empty(), "no history");
    ensure!(!capabilities.congestion.is_empty(), "no congestion control");
    ensure!(
        capabilities.largest_message_bytes >= SMALLEST_MESSAGE_BYTES,
        "the largest message has {} bytes, less than a header",
        capabilities.largest_message_bytes
    );
    let matching = capabilities
        .matching
        .as_ref()
        .context("it doesn't say how a publisher is matched")?;
    ensure!(
        !matching.text().trim().is_empty(),
        "matching: how, or why not, is not told"
    );
    ensure!(
        capabilities
            .lacking_pause
            .as_ref()
            .is_none_or(|reason| !reason.trim().is_empty()),
        "it takes no more part after a pause, without a reason"
    );
    deliveries(&capabilities.deliveries)
}

fn deliveries(deliveries: &Deliveries) -> Result<()> {
    for delivery in Delivery::ALL {
        let has = deliveries.has.iter().filter(|each| each.delivery == delivery);
        let lacks = deliveries.lacks.iter().filter(|each| each.delivery == delivery);
        let times = has.count() + lacks.count();
        ensure!(
            times == 1,
            "{delivery} is described {times} times among what it has and what it lacks"
        );
    }
    for each in &deliveries.has {
        let told = !each.how.trim().is_empty() && !each.source.trim().is_empty();
        ensure!(told, "{}: how, or whose source, is not told", each.delivery);
    }
    for each in &deliveries.lacks {
        ensure!(
            !each.reason.trim().is_empty(),
            "{}: no reason why it is lacking",
            each.delivery
        );
    }
    has_delivery(deliveries, deliveries.default).context("the default delivery")
}

fn has_delivery(deliveries: &Deliveries, delivery: Delivery) -> Result<()> {
    ensure!(
        deliveries.how(delivery).is_some(),
        "{delivery} is not among those that it has"
    );
    Ok(())
}

fn options(description: &Description) -> Result<()> {
    let mut names = BTreeSet::new();
    for option in &description.options {
        let name = &option.name;
        ensure!(names.insert(name), "option '{name}' is described twice");
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        ensure!(
            !name.is_empty() && name.chars().all(plain),
            "option '{name}' is not snake_case"
        );
        ensure!(!option.summary.trim().is_empty(), "option '{name}' has no summary");
        ensure!(
            is_allowed(option, &option.default),
            "option '{name}': its default is not of its kind"
        );
        if let ("transport", OptionKind::Choice { choices }) = (name.as_str(), &option.kind) {
            let missing: Vec<_> = description
                .capabilities
                .transports
                .iter()
                .filter(|one| !choices.contains(one))
                .collect();
            ensure!(
                missing.is_empty(),
                "transports {missing:?} can't be chosen by the option 'transport'"
            );
        }
    }
    contiguous_as_usual(description)
}

/// A message that can be used only piece by piece is asked for, never given unasked.
fn contiguous_as_usual(description: &Description) -> Result<()> {
    let scattered = |value: &OptionValue| *value != OptionValue::Boolean(true);
    let option = description.options.iter().find(|option| option.name == CONTIGUOUS);
    ensure!(
        option.is_none_or(|option| !scattered(&option.default)),
        "option '{CONTIGUOUS}' is not true by default"
    );
    for (name, profile) in &description.profiles {
        ensure!(
            !profile.options.get(CONTIGUOUS).is_some_and(scattered),
            "profile '{name}' hands messages over in pieces"
        );
    }
    Ok(())
}

fn profiles(description: &Description) -> Result<()> {
    for name in ["default", "tuned"] {
        ensure!(description.profiles.contains_key(name), "no profile '{name}'");
    }
    for (name, profile) in &description.profiles {
        ensure!(!profile.summary.trim().is_empty(), "profile '{name}' has no summary");
        if let Some(delivery) = profile.delivery {
            has_delivery(&description.capabilities.deliveries, delivery)
                .with_context(|| format!("profile '{name}'"))?;
        }
        for (option, value) in &profile.options {
            allowed(description, option, value).with_context(|| format!("profile '{name}'"))?;
        }
    }
    Ok(())
}

fn services(description: &Description) -> Result<()> {
    for need in &description.services {
        for when in &need.when {
            ensure!(
                !when.values.is_empty(),
                "service '{}' is never needed: '{}' has no values",
                need.service,
                when.option
            );
            for value in &when.values {
                allowed(description, &when.option, value).with_context(|| format!("service '{}'", need.service))?;
            }
        }
    }
    Ok(())
}

fn allowed(description: &Description, name: &str, value: &OptionValue) -> Result<()> {
    let option = description
        .options
        .iter()
        .find(|option| option.name == name)
        .with_context(|| format!("there is no option '{name}'"))?;
    ensure!(
        is_allowed(option, value),
        "{value:?} is not of the kind of option '{name}'"
    );
    Ok(())
}

fn is_allowed(option: &OptionDescription, value: &OptionValue) -> bool {
    match (&option.kind, value) {
        (OptionKind::Boolean, OptionValue::Boolean(_)) | (OptionKind::Text, OptionValue::Text(_)) => true,
        (OptionKind::Integer { minimum, maximum }, OptionValue::Integer(number)) => {
            (minimum..=maximum).contains(&number)
        }
        (OptionKind::Choice { choices }, OptionValue::Text(text)) => choices.contains(text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::tells_release;

    #[test]
    fn the_version_of_a_release_has_two_numbers_at_least() {
        assert!(
            ["3.4.10", "0.25", "6.18.44-fc-v657", "2.9.1"]
                .into_iter()
                .all(tells_release)
        );
        assert!(
            ["3", "", "unknown", "v3.4", "a library can't be found"]
                .into_iter()
                .all(|text| !tells_release(text))
        );
    }
}
