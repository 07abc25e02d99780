//! Whether links are as requested: the relay between two hosts, measured by the probe.
//!
//! What was requested is compared with what was measured, medians and counts only: how late a busy machine wakes is not
//! judged here. Where no network namespaces can be made, the tests are shown as ignored, with the reason.

mod lab;

use std::process::ExitCode;

use lab::Lab;
use libtest_mimic::{Failed, Trial};
use middlemark_lab::check::{self, Check};
use middlemark_lab::speaker::refusal;
use serde_json::{Value, json};

const MS: i64 = 1_000_000;
/// How much later than requested a median may be: four wake-ups on a busy machine.
const TOLERANCE_NS: i64 = 5 * MS;

const CHECKS: [(&str, Check<Lab>); 11] = [
    (
        "a_plain_relay_loses_nothing_and_keeps_order",
        a_plain_relay_loses_nothing_and_keeps_order,
    ),
    ("each_direction_has_its_own_delay", each_direction_has_its_own_delay),
    ("loss_is_as_asked_in_each_direction", loss_is_as_asked_in_each_direction),
    ("duplicates_are_seen", duplicates_are_seen),
    ("overtaking_frames_are_seen", overtaking_frames_are_seen),
    (
        "corrupted_datagrams_vanish_by_their_checksum",
        corrupted_datagrams_vanish_by_their_checksum,
    ),
    ("the_rate_is_as_asked", the_rate_is_as_asked),
    ("a_command_changes_the_link_at_once", a_command_changes_the_link_at_once),
    ("a_trace_is_followed_from_its_begin", a_trace_is_followed_from_its_begin),
    (
        "a_dead_link_gives_a_result_that_says_so",
        a_dead_link_gives_a_result_that_says_so,
    ),
    ("a_link_that_was_down_carries_again", a_link_that_was_down_carries_again),
];

fn main() -> ExitCode {
    let refusals = Trial::test("what_cannot_be_is_refused_with_its_exit_status", || {
        refusals().map_err(Failed::from)
    });
    check::run(CHECKS, Lab::make, refusals)
}

fn a_plain_relay_loses_nothing_and_keeps_order(lab: &Lab) -> Result<(), Failed> {
    let (relay, ready) = lab.relay(json!({}));
    ensure(ready["warnings"] == json!([]), &ready)?;
    let found = lab.measure(&json!({"round_trip": {"pings": 100, "interval_ns": MS}, "loss": {"packets": 2000}}));
    ensure(
        found["round_trip"]["lost"] == 0 && number(&found, "/round_trip/p50_ns") < TOLERANCE_NS,
        &found,
    )?;
    for direction in ["outgoing", "incoming"] {
        let loss = &found[direction]["loss"];
        ensure(
            loss["received"] == 2000 && loss["duplicates"] == 0 && loss["reordered"] == 0,
            loss,
        )?;
    }
    let done = relay.end();
    for direction in ["outgoing", "incoming"] {
        let account = &done[direction];
        ensure(
            account["frames_in"] == account["frames_out"] && account["unfinished_checksums"] == 0,
            &done,
        )?;
        ensure(account["lateness"]["n"] == account["frames_out"], &done)?;
    }
    Ok(())
}

fn each_direction_has_its_own_delay(lab: &Lab) -> Result<(), Failed> {
    let _relay = lab.relay(json!({"outgoing": {"delay_ns": 20 * MS}, "incoming": {"delay_ns": 5 * MS}}));
    let found = lab.measure(&json!({"round_trip": {"pings": 100, "interval_ns": 2 * MS}}));
    let (least, median) = (
        number(&found, "/round_trip/min_ns"),
        number(&found, "/round_trip/p50_ns"),
    );
    ensure(least >= 25 * MS && median < 25 * MS + TOLERANCE_NS, &found)
}

fn loss_is_as_asked_in_each_direction(lab: &Lab) -> Result<(), Failed> {
    let (relay, _) = lab.relay(json!({"outgoing": {"loss": 0.1}, "incoming": {"loss": 0.01}}));
    let found = lab.measure(&json!({"loss": {"packets": 5000, "interval_ns": 100_000}}));
    let done = relay.end();
    for (direction, asked) in [("outgoing", 0.1), ("incoming", 0.01)] {
        let loss = &found[direction]["loss"];
        ensure(is_fraction(number(loss, "/lost"), number(loss, "/sent"), asked), loss)?;
        let account = &done[direction];
        ensure(
            is_fraction(
                number(account, "/dropped_by_loss"),
                number(account, "/frames_in"),
                asked,
            ),
            account,
        )?;
    }
    Ok(())
}

fn duplicates_are_seen(lab: &Lab) -> Result<(), Failed> {
    let _relay = lab.relay(json!({"outgoing": {"duplication": 0.2}}));
    let found = lab.measure(&json!({"loss": {"packets": 2000, "interval_ns": 100_000}}));
    ensure(
        is_fraction(number(&found, "/outgoing/loss/duplicates"), 2000, 0.2),
        &found,
    )?;
    ensure(
        found["outgoing"]["loss"]["lost"] == 0 && found["incoming"]["loss"]["duplicates"] == 0,
        &found,
    )
}

fn overtaking_frames_are_seen(lab: &Lab) -> Result<(), Failed> {
    let (relay, _) = lab.relay(json!({"outgoing": {"delay_ns": 10 * MS, "reordering": 0.1}}));
    let found = lab.measure(&json!({"loss": {"packets": 2000, "interval_ns": 100_000}}));
    let late = number(&found, "/outgoing/loss/reordered");
    let overtaking = number(&relay.end(), "/outgoing/reordered");
    // One that overtakes makes late those that it passes, and at 10 000 a second and 10 ms nearly all are passed.
    ensure(
        found["outgoing"]["loss"]["lost"] == 0 && late > 1000 && is_fraction(overtaking, 2000, 0.1),
        &found,
    )
}

fn corrupted_datagrams_vanish_by_their_checksum(lab: &Lab) -> Result<(), Failed> {
    let (relay, _) = lab.relay(json!({"outgoing": {"corruption": 0.2}}));
    let found = lab.measure(&json!({"loss": {"packets": 2000, "interval_ns": 100_000}}));
    ensure(
        is_fraction(number(&relay.end(), "/outgoing/corrupted"), 2000, 0.2),
        &found,
    )?;
    let (lost, failures) = (
        number(&found, "/outgoing/loss/lost"),
        number(&found, "/checksum_failures/answering_side"),
    );
    // A bit in the Ethernet or the IP header loses the frame before its UDP checksum is looked at.
    ensure(lost > 200 && failures > 100 && failures <= lost, &found)
}

fn the_rate_is_as_asked(lab: &Lab) -> Result<(), Failed> {
    let asked = 50e6;
    let _relay =
        lab.relay(json!({"outgoing": {"rate_bits_per_s": 50_000_000}, "incoming": {"rate_bits_per_s": 50_000_000}}));
    let rate = json!({"duration_ns": 500 * MS, "offered_bits_per_s": 60_000_000});
    let found = lab.measure(&json!({"rate": rate}));
    for direction in ["outgoing", "incoming"] {
        let wire = found[direction]["rate"]["wire_bits_per_s"].as_f64().ok_or("no rate")?;
        ensure((wire / asked - 1.0).abs() < 0.05, &found)?;
    }
    Ok(())
}

fn a_command_changes_the_link_at_once(lab: &Lab) -> Result<(), Failed> {
    let (mut relay, _) = lab.relay(json!({}));
    let parts = json!({"round_trip": {"pings": 50, "interval_ns": MS}});
    ensure(
        number(&lab.measure(&parts), "/round_trip/p50_ns") < 30 * MS,
        &Value::Null,
    )?;
    relay.say(&json!({"command": "set", "incoming": {"delay_ns": 30 * MS}}));
    ensure(relay.event()["event"] == "applied", &Value::Null)?;
    let slow = lab.measure(&parts);
    ensure(number(&slow, "/round_trip/min_ns") >= 30 * MS, &slow)?;
    relay.say(&json!({"command": "set", "incoming": {"loss": 5}}));
    ensure(relay.event()["event"] == "refused", &Value::Null)?;
    relay.say(&json!({"command": "report"}));
    let report = relay.event();
    ensure(
        report["event"] == "report" && number(&report, "/incoming/frames_out") >= 100,
        &report,
    )
}

fn a_trace_is_followed_from_its_begin(lab: &Lab) -> Result<(), Failed> {
    let trace = json!([{"at_ns": 0, "outgoing": {"delay_ns": 40 * MS}}, {"at_ns": 1, "outgoing": {}}]);
    let (mut relay, _) = lab.relay(json!({"trace": trace}));
    let parts = json!({"round_trip": {"pings": 50, "interval_ns": MS}});
    let before = lab.measure(&parts);
    ensure(number(&before, "/round_trip/min_ns") >= 40 * MS, &before)?;
    relay.say(&json!({"command": "begin", "at_ns": 0}));
    ensure(relay.event()["event"] == "applied", &Value::Null)?;
    let after = lab.measure(&parts);
    ensure(number(&after, "/round_trip/p50_ns") < 40 * MS, &after)
}

fn a_dead_link_gives_a_result_that_says_so(lab: &Lab) -> Result<(), Failed> {
    let _relay = lab.relay(json!({"outgoing": {"loss": 1.0}}));
    let found = lab.measure(&json!({"patience_ns": 300 * MS, "round_trip": {}, "loss": {}, "rate": {}}));
    ensure(
        found["reachable"] == false && found["round_trip"].is_null() && found["outgoing"]["loss"].is_null(),
        &found,
    )
}

fn a_link_that_was_down_carries_again(lab: &Lab) -> Result<(), Failed> {
    let _relay = lab.relay(json!({}));
    let parts = json!({"round_trip": {"pings": 20}});
    lab.at_switch("ip link set host_side down")?;
    let impatient = json!({"patience_ns": 300 * MS});
    ensure(lab.measure(&impatient)["reachable"] == false, &Value::Null)?;
    lab.at_switch("ip link set host_side up")?;
    let found = lab.measure(&parts);
    ensure(found["reachable"] == true && found["round_trip"]["lost"] == 0, &found)
}

fn refusals() -> Result<(), String> {
    let unknown = r#"{"host_side": "none-such", "network_side": "none-other", "seed": 1}"#;
    for (line, code) in [("nonsense", 2), ("", 2), (unknown, 3)] {
        let mut relay = std::process::Command::new(env!("CARGO_BIN_EXE_middlemark-relay"));
        let (status, said) = refusal(&mut relay, line);
        if status != Some(code) || said.lines().count() != 1 {
            return Err(format!("{line:?}: status {status:?}, said {said:?}"));
        }
    }
    Ok(())
}

fn ensure(holds: bool, found: &Value) -> Result<(), Failed> {
    if holds {
        Ok(())
    } else {
        Err(format!("not as asked: {found}").into())
    }
}

fn number(value: &Value, pointer: &str) -> i64 {
    value
        .pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or_else(|| panic!("no number at {pointer} of {value}"))
}

/// Within five standard deviations of a binomial: once in two million runs it is not.
fn is_fraction(count: i64, of: i64, asked: f64) -> bool {
    let expected = of as f64 * asked;
    (count as f64 - expected).abs() < 5.0 * (expected * (1.0 - asked)).sqrt()
}
