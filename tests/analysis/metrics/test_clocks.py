"""Between machines with clocks of their own no figure is given that lies within the clocks' bound, and the reason is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from behaviour import MS, Behaviour
from middlemark.analysis.decisions.claims import judge_claim
from middlemark.analysis.decisions.requirements import Requirement, judge_candidate
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.latency import CLOCK_BOUND
from middlemark.analysis.metrics.stored import metrics_from_samples, read_result
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.search.bisection import Limit, judge_load
from middlemark.analysis.search.stopping import open_experiments, widths
from middlemark.analysis.stats.quantiles import (
    Measured,
    TooFewSamples,
    Value,
    WithinClocks,
    bound_words,
    with_clock_bound,
)
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.campaign.trial.validity import cautions
from middlemark.plan import WarningKind
from middlemark.plan.experiment import Search
from middlemark.report.output.data import percentile_tables
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_claim, parse_demand, parse_suite
from middlemark.suite.metrics import TRIAL, Distribution, Key, chain_position_subject, chain_subject, stream_subject
from run_builder import build_demand_run, with_clocks
from shared_runs import SharedRuns

SUITE = """
suite: apart
trials: 2
middlewares: all
topologies: TOPOLOGY
windows: {window: 2 s}
stop: {relative_width: 5 %, max_trials: 12}
workloads:
  - workload: imu
  - workload: ping_pong
    windows: {window: 100 ms}
  - workload: drive
    pattern: pipeline
    nodes:
      - {node: camera, rate: 100 Hz, compute: 1 ms, outputs: [{stream: image, size: 1 kB}]}
      - {node: fuse, inputs: [image], compute: 2 ms, outputs: [{stream: tracks, size: 1 kB}]}
      - {node: actuate, inputs: [tracks]}
    chains: [{chain: reaction, path: [camera, fuse, actuate], deadline: 40 ms}]
"""
LATENCY_NS = 60_000
WIDE_NS, NARROW_NS = 50 * MS, 55_000
REFUSED = "one-way: within the clocks' ± 50 ms"
SENT, ROUND_TRIP = Distribution.LATENCY_FROM_SEND, Distribution.ROUND_TRIP


def build(runs: SharedRuns, path: Path, topology: str = "D1-1") -> RunFolder:
    return runs.copy(path / "run", SUITE.replace("TOPOLOGY", topology), {"a": Behaviour(latency_ns=LATENCY_NS)})


@pytest.fixture(scope="module")
def wide_folder(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return with_clocks(build(runs, tmp_path_factory.mktemp("wide")), WIDE_NS)


@pytest.fixture(scope="module")
def wide(wide_folder: RunFolder) -> RunFindings:
    return analyse(wide_folder)


@pytest.fixture(scope="module")
def narrow(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(with_clocks(build(runs, tmp_path_factory.mktemp("narrow")), NARROW_NS))


def of_workload(run: RunFindings, name: str) -> ExperimentFindings:
    assert run.damaged == ()
    return next(each for each in run.experiments if each.experiment.workload == name)


def value(each: ExperimentFindings, subject: str, metric: str) -> float | None:
    found = each.estimate(subject, metric)
    assert found is not None
    return found.value


@given(st.integers(-MS, MS), st.integers(0, MS))
def test_a_time_is_told_where_it_is_longer_than_the_bound_or_by_one_clock(time_ns: int, bound_ns: int) -> None:
    found = with_clock_bound(Measured(time_ns, 7), bound_ns)
    if bound_ns and time_ns <= bound_ns:
        assert found == WithinClocks(7, bound_ns)
    else:
        assert found == Measured(time_ns, 7, bound_ns)


def test_a_bound_is_told_with_three_digits_rounded_up() -> None:
    assert [bound_words(bound_ns) for bound_ns in (7, 93_412, 1_000_001)] == ["± 7 ns", "± 93.5 µs", "± 1.01 ms"]


@pytest.mark.parametrize("other", [TooFewSamples(3), WithinClocks(3, 5)])
def test_what_has_no_value_keeps_its_own_reason(other: Value) -> None:
    assert with_clock_bound(other, MS) is other


def test_no_quantile_curve_or_time_series_is_given_within_the_clocks_bound(wide: RunFindings) -> None:
    imu = of_workload(wide, "imu")
    one_way = [key for key in imu.estimates if key.metric.startswith("latency_from")]
    assert len(one_way) == 2 * (7 + 3)
    assert {imu.estimates[key].value for key in one_way} == {None}
    said = {imu.estimates[Key(stream_subject("imu"), f"latency_from_send_{name}_ns")].reason for name in ("min", "p50")}
    assert said == {REFUSED}
    assert [key for key in imu.by_block if "latency_from" in str(key)] == []
    assert [kind for _, kind in (*imu.shapes.curves, *imu.shapes.boxes) if kind.startswith("latency_from")] == []
    assert set(imu.examples.time_series["imu"].latency_p50_ns) == {None}
    assert sum(imu.examples.time_series["imu"].received) > 0
    assert ("imu", Distribution.JITTER) in imu.shapes.curves


def test_a_first_message_is_held_against_the_bound_of_the_clock_that_saw_it(
    wide: RunFindings, narrow: RunFindings
) -> None:
    first = Key(TRIAL, "first_message_ns")
    assert of_workload(wide, "imu").estimates[first].reason == REFUSED
    told_ns = of_workload(narrow, "imu").estimates[first]
    assert told_ns.value is not None
    assert told_ns.bound_ns == NARROW_NS


def test_the_reason_why_it_is_not_ranked_is_the_clocks(wide: RunFindings) -> None:
    reasons = {each.setting.stream: set(each.unranked.values()) for each in wide.comparisons}
    assert reasons == {"imu": {REFUSED}, "reaction": {REFUSED}, "ping_pong": set()}


def test_a_round_trip_is_by_one_clock(wide: RunFindings) -> None:
    asked = of_workload(wide, "ping_pong")
    assert value(asked, stream_subject("ping_pong"), "round_trip_p50_ns") == pytest.approx(2 * LATENCY_NS, rel=0.2)
    assert value(asked, stream_subject("ping_pong"), "latency_from_send_p50_ns") is None
    assert None not in asked.examples.time_series["ping_pong"].latency_p50_ns[:5]


def test_each_quantile_is_told_by_itself(narrow: RunFindings) -> None:
    """The median is above the bound, the fastest message is not."""
    imu = of_workload(narrow, "imu")
    middle = imu.estimate(stream_subject("imu"), "latency_from_send_p50_ns")
    assert middle is not None
    assert middle.value == pytest.approx(LATENCY_NS, rel=0.1)
    assert middle.bound_ns == NARROW_NS
    assert value(imu, stream_subject("imu"), "latency_from_send_min_ns") is None
    assert imu.shapes.boxes["imu", SENT].minimum is None
    assert imu.shapes.boxes["imu", SENT].p50 is not None
    curve = imu.shapes.curves["imu", SENT]
    assert min(curve.value_ns) > NARROW_NS
    assert curve.share[0] > 0.2
    assert all(us is None or us > NARROW_NS for us in imu.examples.time_series["imu"].latency_p50_ns)
    assert value(imu, stream_subject("imu"), CLOCK_BOUND) == NARROW_NS


def test_on_one_host_all_is_by_one_clock(runs: SharedRuns, tmp_path: Path) -> None:
    run = analyse(with_clocks(build(runs, tmp_path, "C1-1"), WIDE_NS))
    imu = of_workload(run, "imu")
    assert value(imu, stream_subject("imu"), "latency_from_send_p50_ns") == pytest.approx(LATENCY_NS, rel=0.2)
    assert imu.estimate(stream_subject("imu"), CLOCK_BOUND) is None


def test_one_trial_within_its_bound_refuses_the_figure_over_trials(runs: SharedRuns, tmp_path: Path) -> None:
    """Were it left out, only the trials that took longer would be left."""
    folder = build(runs, tmp_path)
    trials = [each.id for each in folder.stored_trials() if each.read_record().trial.block == 1]
    imu = of_workload(analyse(with_clocks(folder, WIDE_NS, trials=trials)), "imu")
    assert value(imu, stream_subject("imu"), "latency_from_send_p50_ns") is None
    assert Key(stream_subject("imu"), "latency_from_send_p50_ns") not in imu.by_block
    assert Key(stream_subject("imu"), "latency_from_send_p99_ns") not in imu.by_block


def test_of_a_chain_only_what_one_clock_tells_is_given(wide: RunFindings) -> None:
    drive, chain = of_workload(wide, "drive"), chain_subject("reaction")
    for metric in ("end_to_end_p50_ns", "typical_whole_ns", "typical_communication_ns", "deadline_missed_share"):
        assert value(drive, chain, metric) is None
        assert drive.estimates[Key(chain, metric)].reason == REFUSED
    assert value(drive, chain, "typical_computation_ns") == pytest.approx(3 * MS)
    assert value(drive, chain, "typical_idle_ns") is not None
    assert value(drive, chain, "loss_share") == 0
    assert value(drive, chain_position_subject("reaction", 1), "typical_communication_ns") is None
    assert value(drive, chain_position_subject("reaction", 2), "typical_communication_ns") == pytest.approx(
        LATENCY_NS, rel=0.2
    )
    assert [kind for _, kind in drive.shapes.curves if kind in {"end_to_end", "communication"}] == []


def test_a_chain_longer_than_the_bound_has_its_whole_and_its_deadline(narrow: RunFindings) -> None:
    drive, chain = of_workload(narrow, "drive"), chain_subject("reaction")
    assert value(drive, chain, "end_to_end_p50_ns") == pytest.approx(3.12 * MS, rel=0.1)
    assert drive.estimates[Key(chain, "typical_whole_ns")].bound_ns == NARROW_NS
    assert value(drive, chain, "deadline_missed_share") == 0


OBSERVED = """
suite: seen
trials: 1
middlewares: all
topologies: D1-1
observe: kernel_path
windows: {window: 2 s}
workloads: imu
"""


@pytest.mark.parametrize(("bound_ns", "is_told"), [(NARROW_NS // 10, True), (WIDE_NS, False)])
def test_of_the_kernel_s_path_nothing_is_told_or_drawn_within_the_bound(
    runs: SharedRuns, tmp_path: Path, bound_ns: int, *, is_told: bool
) -> None:
    folder = runs.copy(tmp_path / "run", OBSERVED, {"a": Behaviour(latency_ns=LATENCY_NS)})
    (seen,) = of_workload(analyse(with_clocks(folder, bound_ns)), "imu").observed.values()
    assert (value(seen, stream_subject("imu"), "path_typical_whole_ns") is not None) is is_told
    assert bool(seen.examples.messages["imu"]) is is_told
    assert value(seen, stream_subject("imu"), "path_set_aside_share") == 0


def test_percentile_tables_begin_above_the_bound(wide_folder: RunFolder, narrow: RunFindings) -> None:
    refused, _ = percentile_tables(wide_folder)
    kinds = {table.distribution for table in refused if table.stream == "ping_pong"}
    assert ROUND_TRIP in kinds
    assert SENT not in kinds
    tables, _ = percentile_tables(narrow.folder)
    (text,) = [table.text for table in tables if (table.stream, table.distribution) == ("imu", SENT)]
    rows = [line.split() for line in text.splitlines() if line.strip() and line.strip()[0].isdigit()]
    assert min(float(row[0]) for row in rows) > NARROW_NS
    assert "ClockBound = 55000" in text


SEARCH = Search(lowest_hz=1, highest_hz=9, precision=0.1, loss_share=0.0, latency_ns=10 * MS, confirm=3, max_trials=9)


def test_a_search_takes_no_rate_as_carried_that_clocks_do_not_tell() -> None:
    """Read as no more than the bound, a latency is truly no more than twice that."""

    def said(**values: float) -> object:
        known = {Key(stream_subject("s"), name): each for name, each in {"undelivered_share": 0.0, **values}.items()}
        return judge_load(SEARCH, "s", "valid", known)

    assert said(clock_bound_ns=4.0 * MS) is True
    assert said(clock_bound_ns=6.0 * MS) is Limit.CLOCKS
    assert said(clock_bound_ns=6.0 * MS, latency_from_intended_p99_ns=9.0 * MS) is True
    assert said(clock_bound_ns=6.0 * MS, latency_from_intended_p99_ns=11.0 * MS) is Limit.LATENCY


def test_no_further_trial_runs_for_a_metric_within_the_clocks_bound(wide_folder: RunFolder) -> None:
    suite = parse_suite(wide_folder.read_manifest().suite_text, file="apart.yaml")
    results = [read_result(folder) for folder in wide_folder.stored_trials()]
    experiments = list({each.trial.experiment.id: each.trial.experiment for each in results}.values())
    assert suite.stop is not None
    found = widths(suite.stop, experiments, results)
    reasons = {each.stream: each.reason for each in found}
    assert reasons["imu"] == reasons["reaction"] == REFUSED
    (asked,) = [each.id for each in experiments if each.workload == "ping_pong"]
    assert open_experiments(found, suite.stop, results) == {asked}


DEMAND = """
application: robot
trials: 2
window: 1 s
processes: [{process: sensor, host: near}, {process: control, host: far}]
streams: [{topic: lidar, publishers: sensor, subscribers: control, size: 64 B, rate: 1 kHz, deadline: 10 ms}]
"""


def test_whether_a_deadline_is_met_can_not_be_told_within_the_bound(tmp_path: Path) -> None:
    folder = build_demand_run(tmp_path / "run", DEMAND, {"a": Behaviour(latency_ns=LATENCY_NS)})
    run = analyse(with_clocks(folder, WIDE_NS, host="far"))
    found = judge_candidate(parse_demand(DEMAND, file="robot.yaml"), run.experiments[0])
    assert found.judgement is Judgement.UNDECIDED
    (check,) = (each for each in found.of(Judgement.UNDECIDED) if each.requirement is Requirement.DEADLINE)
    assert check.reason == REFUSED


def test_a_claim_about_what_clocks_do_not_tell_stays_undecided_for_that_reason(wide: RunFindings) -> None:
    imu = of_workload(wide, "imu")
    (part,) = judge_claim(parse_claim("median(latency)[middleware=a] < 1 s"), [imu]).parts
    assert (part.judgement.value, part.reason) == ("undecided", REFUSED)


def test_the_caution_says_what_is_refused(wide_folder: RunFolder, narrow: RunFindings) -> None:
    assert caution_of(wide_folder) == ("one-way times of imu are known to ± 50 ms; they are shorter, so none is given")
    assert caution_of(narrow.folder) == (
        "one-way times of imu are known to ± 55 µs; those that are not longer are not given"
    )


def caution_of(folder: RunFolder) -> str:
    stored = next(each for each in folder.stored_trials() if each.read_record().trial.experiment.workload == "imu")
    record = stored.read_record()
    with stored.reading_samples() as samples:
        found = cautions(record, metrics_from_samples(stored, record, samples))
    return next(each.text for each in found if each.kind is WarningKind.CLOCK_OFFSET)
