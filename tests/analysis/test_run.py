"""A whole run whose answer is known, through the pipeline to estimates, ranks and reasons."""

import math
from pathlib import Path

import numpy as np
import pytest

from behaviour import MS, Behaviour
from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.dataframes import summary_table
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import Failed, NotApplicable
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL
from shared_runs import SharedRuns

SUITE = """
suite: known
trials: 4
middlewares: all
workloads:
  - {workload: imu, windows: {window: 5 s}}
"""
FAILED = Failed(application="subscriber_0", doing="creating the reader", causes=("no memory",))
REFUSED = NotApplicable(capability="size_bytes", reason="1000 bytes are too many")


def build(runs: SharedRuns, suite: str = SUITE, **behaviours: Behaviour) -> RunFindings:
    return runs.findings(suite, behaviours)


def the(findings: RunFindings, middleware: str) -> ExperimentFindings:
    return next(each for each in findings.experiments if each.experiment.middleware == middleware)


def the_comparison(findings: RunFindings) -> Comparison:
    (comparison,) = findings.comparisons
    return comparison


def ranks(findings: RunFindings) -> dict[str, str]:
    comparison = the_comparison(findings)
    return {
        each.experiment.middleware: comparison.places[each.experiment.id].text
        for each in comparison.experiments
        if each.experiment.id in comparison.places
    }


def test_a_programmed_log_normal_latency_comes_out_at_its_quantiles(runs: SharedRuns) -> None:
    findings = build(runs, one=Behaviour(latency_ns=100_000, spread=0.3, drift=0.0))
    stream = "stream:imu"
    median = the(findings, "one").estimate(stream, "latency_from_send_p50_ns")
    p99 = the(findings, "one").estimate(stream, "latency_from_send_p99_ns")
    assert median is not None
    assert p99 is not None
    assert median.value == pytest.approx(100_000, rel=0.02)
    assert p99.value == pytest.approx(100_000 * math.exp(0.3 * 2.326), rel=0.05)
    assert (median.n_trials, median.n_messages) == (4, 4000)


def test_loss_and_accounting_come_out_exactly(runs: SharedRuns) -> None:
    findings = build(runs, one=Behaviour(loss=0.25))
    totals = the(findings, "one").accounting.totals["imu", False]
    rows = sum(len(trial.read_received()) for trial in findings.folder.stored_trials())
    assert totals.sent == 4000
    assert totals.received == rows
    assert totals.lost == totals.sent - rows
    curve = next(
        curve for (_, kind), curve in the(findings, "one").shapes.curves.items() if kind == "latency_from_send"
    )
    assert curve.share[-1] == pytest.approx(rows / 4000)


def test_cpu_and_memory_are_summed_over_applications_and_services(runs: SharedRuns) -> None:
    one = Behaviour(cpu_share=0.25, memory_bytes=10 << 20, service="broker_0", first_message_ns=70 * MS, drift=0.0)
    found = the(build(runs, one=one), "one")
    values = {
        metric: estimate.value
        for metric in ("cpu_percent_of_core", "peak_memory_bytes", "first_message_ns")
        if (estimate := found.estimate(TRIAL, metric))
    }
    assert values == {
        "cpu_percent_of_core": pytest.approx(75),
        "peak_memory_bytes": 30 << 20,
        "first_message_ns": 70 * MS,
    }
    service = found.estimate("process:broker_0", "cpu_percent_of_core")
    assert service is not None
    assert service.value == pytest.approx(25)


def test_different_middlewares_are_ranked_and_equal_ones_tie(runs: SharedRuns) -> None:
    findings = build(
        runs,
        slow=Behaviour(latency_ns=300_000),
        fast=Behaviour(latency_ns=40_000),
        same=Behaviour(latency_ns=40_000),
    )
    assert ranks(findings) == {"fast": "1–2", "same": "1–2", "slow": "3"}


def test_what_loses_too_much_is_overloaded_or_never_ran_is_unranked_with_a_reason(runs: SharedRuns) -> None:
    findings = build(
        runs,
        good=Behaviour(),
        lossy=Behaviour(latency_ns=1_000, loss=0.5),
        slow=Behaviour(latency_ns=1_000, slow_publisher=1.5),
        broken=Behaviour(outcome=FAILED),
        unable=Behaviour(outcome=REFUSED),
    )
    comparison = the_comparison(findings)
    assert ranks(findings) == {"good": "1"}
    why = {name.split("-")[0]: reason for name, reason in comparison.unranked.items()}
    assert why["lossy"].startswith("loses")
    assert why["slow"].startswith("overloaded")
    assert why["broken"] == "no valid trial"
    assert why["unable"] == "not applicable: 1000 bytes are too many"


def test_an_overloaded_trials_latency_enters_no_figure(runs: SharedRuns) -> None:
    found = the(build(runs, one=Behaviour(slow_publisher=1.5)), "one")
    latency = found.estimate("stream:imu", "latency_from_send_p50_ns")
    achieved = found.estimate("stream:imu", "achieved_share")
    assert latency is not None
    assert achieved is not None
    assert (latency.value, latency.reason) == (None, "overloaded in all 4 valid trials")
    assert achieved.value == pytest.approx(1 / 1.5, abs=0.01)
    assert found.accounting.overloaded == {"imu": 4}


def test_a_stalled_publisher_shows_in_the_latency_from_the_intended_send_only(runs: SharedRuns) -> None:
    found = the(build(runs, one=Behaviour(slow_publisher=1.02)), "one")
    actual = found.estimate("stream:imu", "latency_from_send_p50_ns")
    intended = found.estimate("stream:imu", "latency_from_intended_p50_ns")
    assert actual is not None
    assert intended is not None
    assert actual.value == pytest.approx(50_000, rel=0.1)
    assert intended.value == pytest.approx(50_000_000, rel=0.1)


def test_goodput_counts_payload_that_arrived(runs: SharedRuns) -> None:
    found = the(build(runs, one=Behaviour(loss=0.5)), "one").estimate("stream:imu", "goodput_bytes_per_s")
    assert found is not None
    assert found.value == pytest.approx(0.5 * 200 * 1000, rel=0.1)


@pytest.mark.parametrize(
    ("away", "told"),
    [
        (None, {"achieved_rate_hz", "intended_rate_hz", "received_rate_hz", "goodput_bytes_per_s"}),
        ("subscriber_0", {"achieved_rate_hz", "intended_rate_hz"}),
        ("publisher_0", set()),
    ],
)
def test_who_did_not_live_through_the_window_has_no_rate(
    runs: SharedRuns, tmp_path: Path, away: str | None, told: set[str]
) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour()})
    for stored in folder.stored_trials():
        record = stored.read_record()
        stored.write_record(record.model_copy(update={"interrupted": (away,) if away else ()}))
    found = the(analyse(folder), "one").estimates
    rates = {key.metric for key in found if key.metric.endswith(("_hz", "_per_s"))}
    assert {name for name in rates if "switches" not in name} == told


def test_unthrottled_streams_are_ranked_by_goodput(runs: SharedRuns) -> None:
    suite = SUITE.replace("imu, windows: {window: 5 s}", "unthrottled, windows: {window: 20 ms}")
    findings = build(runs, suite, slow=Behaviour(publish_call_ns=50_000), fast=Behaviour(publish_call_ns=5_000))
    assert ranks(findings) == {"fast": "1", "slow": "2"}


def test_round_trips_are_measured_whole(runs: SharedRuns) -> None:
    suite = SUITE.replace("imu, windows: {window: 5 s}", "ping_pong, windows: {window: 200 ms}")
    found = the(build(runs, suite, one=Behaviour(latency_ns=20_000, drift=0)), "one")
    estimate = found.estimate("stream:ping_pong", "round_trip_p50_ns")
    assert estimate is not None
    assert estimate.value == pytest.approx(2 * 20_000 * math.exp(0.2**2 / 4), rel=0.03)


def test_many_publishers_and_subscribers_are_all_counted(runs: SharedRuns) -> None:
    findings = build(runs, SUITE + "topologies: C2-2\n", one=Behaviour(loss=0.1))
    totals = the(findings, "one").accounting.totals["imu", False]
    assert totals.sent == 4 * 2 * 2 * 1000
    assert totals.received + totals.lost == totals.sent
    assert findings.damaged == ()


def test_the_settings_of_a_workload_stand_in_the_order_of_their_sizes_and_rates(runs: SharedRuns) -> None:
    loads = "{workload: imu, size: [128 kB, 64 B, 1 kB], rate: [100 Hz, 50 Hz], windows: {window: 1 s}}"
    findings = build(runs, f"suite: sizes\ntrials: 1\nmiddlewares: all\nworkloads: {loads}\n", one=Behaviour())
    told = [dict(each.setting.factors) for each in findings.comparisons]
    assert [(each["size"], each["rate"]) for each in told] == [
        (size, rate) for size in ("64 B", "1 kB", "128 kB") for rate in ("50 Hz", "100 Hz")
    ]


def test_a_damaged_trial_is_named_and_the_rest_still_analysed(runs: SharedRuns, tmp_path: Path) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour()})
    first, second, third, *_ = folder.stored_trials()
    first.record_path.write_text("{")
    second.received_path.write_bytes(b"")
    record = third.read_record()
    flow = record.counts.subscribers[0].model_copy(update={"received": 3})
    third.write_record(record.model_copy(update={"counts": record.counts.model_copy(update={"subscribers": (flow,)})}))
    findings = analyse(folder)
    assert {damage.trial for damage in findings.damaged} == {first.id, second.id, third.id}
    assert findings.n_trials == 5
    assert sum(each.n_valid for each in findings.experiments) == 5


def test_a_run_that_is_not_finished_reports_its_stored_trials(runs: SharedRuns, tmp_path: Path) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour()})
    for trial in list(folder.stored_trials())[1:]:
        trial.record_path.unlink()
    findings = analyse(folder)
    assert (len(findings.missing), the(findings, "one").n_valid) == (3, 1)


def test_the_summary_has_a_row_for_each_metric_and_a_reason_for_each_that_is_missing(runs: SharedRuns) -> None:
    table = summary_table(build(runs, one=Behaviour()))
    assert table.select("experiment", "subject", "metric").is_unique().all()
    missing = table.filter(table["estimate"].is_null())
    assert (missing["reason"] != "").all()
    assert not np.isnan(table["estimate"].drop_nulls().to_numpy()).any()
    ends = ("_ns", "_bytes", "_hz", "_share", "_per_s", "_percent_of_core", "_faults", "_messages", "_ratio")
    assert all(metric.endswith(ends) for metric in table["metric"])


def test_quantiles_of_every_experiment_never_fall_with_their_level(runs: SharedRuns) -> None:
    found = the(build(runs, one=Behaviour(spread=0.8)), "one")
    for kind in ("latency_from_send", "latency_from_intended", "publish_call", "jitter"):
        names = [f"{kind}_{level}_ns" for level in ("min", "p50", "p90", "p99", "max")]
        values = [found.estimate("stream:imu", name) for name in names]
        shown = [each.value for each in values if each is not None and each.value is not None]
        assert shown == sorted(shown)
        assert len(shown) == 5


def test_a_run_without_a_single_trial_has_no_findings_and_no_error(runs: SharedRuns, tmp_path: Path) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour()})
    for trial in list(folder.stored_trials()):
        trial.record_path.unlink()
    findings = analyse(RunFolder(folder.path))
    assert (findings.experiments, findings.comparisons, len(findings.missing)) == ((), (), 4)


def test_observed_trials_enter_no_figure_of_their_experiment(runs: SharedRuns) -> None:
    suite = SUITE.replace("trials: 4", "trials: 4\nobserve: resources")
    findings = build(runs, suite, one=Behaviour(latency_ns=100_000, drift=0.0, observed_times=2.0))
    unobserved = the(findings, "one")
    observed = unobserved.observed[Observation.RESOURCES]
    medians = [each.estimate("stream:imu", "latency_from_send_p50_ns") for each in (unobserved, observed)]
    assert [each and each.n_trials for each in medians] == [4, 4]
    assert [each and each.value for each in medians] == pytest.approx([100_000, 200_000], rel=0.02)
    assert findings.n_trials == 8


def test_what_observing_cost_is_the_ratio_paired_by_block(runs: SharedRuns) -> None:
    suite = SUITE.replace("trials: 4", "trials: 4\nobserve: resources")
    findings = build(runs, suite, one=Behaviour(latency_ns=100_000, observed_times=2.0))
    unobserved = the(findings, "one")
    ratio = the_comparison(findings).ratio(unobserved.observed[Observation.RESOURCES], unobserved)
    assert ratio is not None
    assert ratio.low < 2 < ratio.high
    assert ratio.n_first == 4
