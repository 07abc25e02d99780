//! Whether each profile says of every axis of tuning what it sets and on whose advice, or why it sets nothing.

use anyhow::{Context, Result, ensure};
use middlemark_contract::{Axis, DELIVERY, Profile};

use crate::case::{Answer, Case};

/// Every profile but `default` accounts for every axis, and what it sets is on exactly one of them.
pub(crate) fn tuning_is_accounted_for(case: &Case) -> Result<Answer> {
    for (name, profile) in &case.worker.description.profiles {
        let context = || format!("profile '{name}'");
        if name == "default" {
            let untouched = profile.options.is_empty() && profile.delivery.is_none() && profile.tuning.is_empty();
            ensure!(untouched, "profile 'default' is not as shipped: it sets something");
        } else {
            axes(profile).with_context(context)?;
            what_is_set(profile).with_context(context)?;
        }
    }
    Ok(Answer::Passed)
}

fn axes(profile: &Profile) -> Result<()> {
    for axis in Axis::ALL {
        let there: Vec<_> = profile.tuning.iter().filter(|each| each.axis == axis).collect();
        ensure!(!there.is_empty(), "{axis}: neither what sets it nor why nothing does");
        let told = there.iter().all(|each| !each.why.trim().is_empty());
        ensure!(told, "{axis}: on whose advice, or why nothing is set, is not told");
        let unset = there.iter().any(|each| each.set_by.is_empty());
        ensure!(
            !unset || there.len() == 1,
            "{axis}: something is set, and a reason given why nothing is"
        );
    }
    Ok(())
}

fn what_is_set(profile: &Profile) -> Result<()> {
    let mut accounted: Vec<_> = profile.tuning.iter().flat_map(|each| &each.set_by).collect();
    let delivery = DELIVERY.to_owned();
    let mut set: Vec<_> = profile.options.keys().collect();
    set.extend(profile.delivery.map(|_| &delivery));
    accounted.sort();
    set.sort();
    ensure!(
        accounted == set,
        "it sets {set:?}, its axes name {accounted:?}: each is named on exactly one axis"
    );
    Ok(())
}
