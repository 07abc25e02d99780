//! Whether the suite catches a worker that goes wrong: a real worker behind a filter that changes what it says.
//!
//! Each lie is a `sed` expression over the worker's events; the suite is run over the liar and must fail in the check that
//! is named, and pass over the same worker behind the same filter without a lie.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

/// Set where this executable stands in for the suite.
const ROLE: &str = "MIDDLEMARK_CONFORMANCE_OF_A_LIAR";

/// What the worker does wrong, the expression that makes it so, and the check that must fail.
const LIES: [(&str, &str, &str); 18] = [
    (
        "a_lost_message",
        r#"s/"received":100,/"received":99,/"#,
        "default::accounting_is_exact",
    ),
    (
        "a_message_too_many",
        r#"s/"late":0,/"late":1,/"#,
        "default::accounting_is_exact",
    ),
    (
        "a_damaged_message",
        r#"s/"corrupt":0,/"corrupt":1,/"#,
        "default::bytes_arrive_intact",
    ),
    (
        "a_foreign_message",
        r#"s/"foreign":0,/"foreign":1,/"#,
        "default::two_trials_do_not_hear_each_other",
    ),
    (
        "a_reordered_message",
        r#"s/"reordered":0,/"reordered":1,/"#,
        "default::order_is_kept",
    ),
    (
        "another_path_than_the_one_taken",
        r#"/"event":"effective"/{s/"shared_memory"/"process"/;t;s/"paths":\["[a-z_]*"/"paths":["shared_memory"/}"#,
        "default::paths_are_as_stated",
    ),
    (
        "greetings_that_count_as_messages",
        r#"s/"received":100,/"received":130,/"#,
        "default::accounting_is_exact",
    ),
    (
        "a_full_message_before_the_first",
        r#"/"first_full_message"/s/"received_ns":[0-9]*/"received_ns":1/"#,
        "default::first_messages_come_in_parts",
    ),
    (
        "a_match_before_the_start",
        r#"/"event":"matched"/s/"since_ns":[0-9]*/"since_ns":1/"#,
        "default::first_messages_come_in_parts",
    ),
    (
        "a_short_schedule",
        r#"s/"intended":100,/"intended":90,/"#,
        "default::accounting_is_exact",
    ),
    (
        "a_version_of_one_number",
        r#"s/"version":"[^"]*"/"version":"3"/"#,
        "description_is_valid",
    ),
    ("no_tuned_profile", r#"s/"tuned":/"toned":/"#, "description_is_valid"),
    (
        "an_axis_that_is_forgotten",
        r#"s/"axis":"copies"/"axis":"other"/g"#,
        "tuning_is_accounted_for",
    ),
    (
        "an_option_that_no_axis_names",
        r#"s/"set_by":\["[^"]*"/"set_by":["another"/"#,
        "tuning_is_accounted_for",
    ),
    (
        "a_refusal_of_another_type",
        r#"s/"capability":"option"/"capability":"spec"/"#,
        "unsupported_requests_are_refused",
    ),
    (
        "a_refusal_without_reason",
        r#"s/"reason":"[^"]*"/"reason":""/"#,
        "unsupported_requests_are_refused",
    ),
    (
        "chatter_after_the_end",
        r#"s/"event":"closed".*/&\nbye/"#,
        "default::closing_leaves_nothing_and_it_opens_again",
    ),
    (
        "nonsense_in_place_of_an_event",
        r#"s/.*"event":"armed".*/ready!/"#,
        "default::accounting_is_exact",
    ),
];

fn main() -> ExitCode {
    if std::env::var_os(ROLE).is_some() {
        return middlemark_conformance::run();
    }
    let lies = LIES
        .iter()
        .map(|(name, lie, check)| Trial::test(*name, || is_caught(lie, check)));
    let filter = Trial::test("a_filter_of_parts_begins_with_a_whole_one", filters_by_whole_parts);
    libtest_mimic::run(&Arguments::from_args(), lies.chain([filter]).collect()).exit_code()
}

/// `udp::` is not to select a `zenoh::transport_udp::`.
fn filters_by_whole_parts() -> Result<(), Failed> {
    for (filter, is_whole) in [("default::", true), ("fault::", false)] {
        let output = Command::new(std::env::current_exe()?)
            .args(["--list", filter])
            .env(ROLE, "1")
            .output()?;
        if output.stdout.is_empty() == is_whole {
            return Err(format!("{filter} selects: {}", String::from_utf8_lossy(&output.stdout)).into());
        }
    }
    Ok(())
}

fn is_caught(lie: &str, check: &str) -> Result<(), Failed> {
    let (name, worker) = middlemark_conformance::any_worker().ok_or("no worker to make a liar of")?;
    let check = format!("{name}::{check}");
    let (honest, output) = passes(&name, &worker, "", &check)?;
    if !honest {
        return Err(format!("the worker behind the filter fails {check} without a lie:\n{output}").into());
    }
    let (believed, output) = passes(&name, &worker, lie, &check)?;
    if believed {
        return Err(format!("{check} passes in spite of {lie}:\n{output}").into());
    }
    Ok(())
}

/// Runs one check over the worker behind a filter.
fn passes(name: &str, worker: &Path, lie: &str, check: &str) -> Result<(bool, String), Failed> {
    let folder = tempfile::tempdir()?;
    let liar = folder.path().join(format!("middlemark-worker-{name}"));
    let script = format!(
        "#!/bin/bash\nset -o pipefail\n'{}' \"$@\" | sed --unbuffered '{lie}'\n",
        worker.display()
    );
    fs::write(&liar, script)?;
    fs::set_permissions(&liar, fs::Permissions::from_mode(0o755))?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--exact", check])
        .env(ROLE, "1")
        .env("MIDDLEMARK_WORKERS", folder.path())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.contains("running 1 test") {
        return Err(format!("there is no check {check}:\n{text}").into());
    }
    Ok((output.status.success(), text))
}
