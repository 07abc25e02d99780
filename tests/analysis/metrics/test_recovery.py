"""What faults did to a stream is told from its samples and the faults as they happened."""

from pathlib import Path

import polars as pl
import pytest

from behaviour import Behaviour
from middlemark.analysis.metrics import recovery
from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.recovery import affected_flows, fault_metrics, schedule
from middlemark.analysis.stats.estimate import refusal
from middlemark.analysis.stats.quantiles import Measured, NoSchedule, Partial, Value, WithinClocks
from middlemark.plan import Recorded
from middlemark.results import streaming
from middlemark.results.record import ClockAgreement, HappenedFault, TrialRecord
from middlemark.results.streaming import Frame, stored_rows
from middlemark.suite import Action, Arrival
from shared_runs import SharedRuns

SUITE = """
suite: x
trials: 1
middlewares: a
workloads: {workload: imu, rate: 100 Hz}
windows: {window: 1 s}
"""


@pytest.fixture(scope="module")
def trial(runs: SharedRuns) -> tuple[TrialRecord, pl.DataFrame]:
    (folder,) = runs.run(SUITE, {"a": Behaviour(latency_ns=100_000)}).stored_trials()
    return folder.read_record(), folder.read_received()


def cut(trial: tuple[TrialRecord, pl.DataFrame], from_ns: int, to_ns: int) -> tuple[TrialRecord, pl.DataFrame]:
    """The link is down from one instant of the window to the other, and nothing arrives meanwhile."""
    record, received = trial
    assert record.window is not None
    begin_ns = record.window.begin_ns
    faults = tuple(
        HappenedFault(
            action=action, target="host_0", asked_ns=at_ns, began_ns=begin_ns + at_ns, done_ns=begin_ns + at_ns
        )
        for action, at_ns in ((Action.LINK_DOWN, from_ns), (Action.LINK_UP, to_ns))
    )
    kept = received.filter(~pl.col("intended_ns").is_between(begin_ns + from_ns, begin_ns + to_ns, closed="left"))
    return record.model_copy(update={"faults": faults}), kept


def told(record: TrialRecord, received: Frame) -> dict[str, Value]:
    return fault_metrics(affected_flows(record, 0, record.trial.experiment.streams[0], received))


def figures_of(record: TrialRecord, received: Frame) -> dict[str, Measured]:
    return {name: value for name, value in told(record, received).items() if isinstance(value, Measured)}


def duplicated(record: TrialRecord, number: int, *kept_ns: int) -> TrialRecord:
    """The only flow has so many duplicates; when the first of them came, from the window's start, is kept."""
    assert record.window is not None
    received_ns = tuple(record.window.begin_ns + at_ns for at_ns in kept_ns)
    (counts,) = record.counts.subscribers
    counts = counts.model_copy(update={"duplicates": number, "duplicates_received_ns": received_ns})
    return record.model_copy(update={"counts": record.counts.model_copy(update={"subscribers": (counts,)})})


def test_a_trial_without_faults_has_no_such_figures(trial: tuple[TrialRecord, pl.DataFrame]) -> None:
    assert figures_of(*trial) == {}


@pytest.mark.parametrize(
    ("number", "kept_ns", "expected"),
    [
        (0, (), 0),
        (3, (100_000_000, 600_000_000, 700_000_000), 2),
        (2, (100_000_000, 200_000_000), 0),
        (9, (100_000_000, 600_000_000), 8),  # those beyond the kept came later still
    ],
)
def test_duplicates_count_from_the_repair_on(
    trial: tuple[TrialRecord, pl.DataFrame], number: int, kept_ns: tuple[int, ...], expected: int
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    assert figures_of(duplicated(record, number, *kept_ns), received)["duplicates_after_faults"].value == expected


@pytest.mark.parametrize("kept_ns", [(), (100_000_000,)])
def test_duplicates_without_an_instant_give_no_metric(
    trial: tuple[TrialRecord, pl.DataFrame], kept_ns: tuple[int, ...]
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    assert "duplicates_after_faults" not in figures_of(duplicated(record, 9, *kept_ns), received)


def test_a_link_that_was_down_for_300_ms_lost_its_messages_and_left_a_gap(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    figures = figures_of(record, received)
    assert figures["missing_share"].value == pytest.approx(0.3)
    assert figures["longest_gap_ns"].value == pytest.approx(310e6, rel=0.02)
    assert figures["recovery_ns"].value == pytest.approx(5e6, rel=0.2)
    assert figures["cut_off_flows"].value == 0


def test_without_a_recovery_the_rest_of_the_window_is_its_least_duration(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    assert record.window is not None
    gone = received.filter(pl.col("intended_ns") < record.window.begin_ns + 205_000_000)
    figures = figures_of(record, gone)
    assert figures["recovery_ns"].value == pytest.approx(495e6)
    assert figures["cut_off_flows"].value == 1


def test_a_repair_before_the_last_start_of_a_subscriber_is_not_reported(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = cut(trial, 100_000_000, 205_000_000)
    assert record.window is not None
    began_ns = record.window.begin_ns + 505_000_000
    restart = HappenedFault(
        action=Action.RESTART, target="subscriber_0", asked_ns=505_000_000, began_ns=began_ns, done_ns=began_ns + 1_000
    )
    again = record.model_copy(update={"faults": (*record.faults, restart)})
    figures = figures_of(again, received.filter(pl.col("intended_ns") >= began_ns))
    assert figures["recovery_ns"].value == pytest.approx(5e6, rel=0.2)


PATTERNS = {
    "poisson": "{workload: own, pattern: periodic, size: 64 B, rate: 100 Hz, arrival: poisson}",
    "burst": "{workload: own, pattern: burst, size: 64 B, rate: 10 Hz, messages: 4}",
}
RECORDED = Recorded(offsets_ns=(0, 2_000_000, 3_000_000, 90_000_000), sizes_bytes=(64,) * 4, period_ns=100_000_000)


@pytest.fixture(params=["poisson", "burst", "recorded"])
def uneven(runs: SharedRuns, request: pytest.FixtureRequest) -> tuple[TrialRecord, pl.DataFrame]:
    """A trial whose messages are not at equal distances, of which all arrived."""
    own = PATTERNS.get(request.param, "{workload: own, pattern: periodic, size: 64 B, rate: 20 Hz}")
    suite = SUITE.replace("{workload: imu, rate: 100 Hz}", own)
    (folder,) = runs.run(suite, {"a": Behaviour()}).stored_trials()
    record = folder.read_record()
    experiment = record.trial.experiment
    (stream,) = experiment.streams
    if request.param == "recorded":
        stream = stream.model_copy(update={"recorded": RECORDED})
        planned = experiment.model_copy(update={"streams": (stream,)})
        record = record.model_copy(update={"trial": record.trial.model_copy(update={"experiment": planned})})
    assert record.window is not None
    intended_ns = schedule(stream, 0, record.trial.seed, record.window)
    assert intended_ns is not None
    rows = folder.read_received().head(1).select(pl.exclude("sequence", "intended_ns", "sent_ns", "received_ns"))
    asked = pl.DataFrame({"sequence": range(len(intended_ns)), "intended_ns": intended_ns})
    received = rows.join(asked.cast({"sequence": pl.UInt32}), how="cross")
    return record, received.with_columns(sent_ns="intended_ns", received_ns=pl.col("intended_ns") + 100_000)


def test_of_uneven_messages_exactly_those_that_never_came_are_missing(
    uneven: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, kept = cut(uneven, 205_000_000, 505_000_000)
    n = len(uneven[1])
    missing = figures_of(record, kept)["missing_share"]
    assert (missing.n, missing.value * n) == (n, pytest.approx(n - len(kept)))
    assert n > len(kept)
    whole = figures_of(record, uneven[1])["missing_share"]
    assert (whole.n, whole.value) == (n, 0)


def test_a_schedule_is_followed_however_long_filling_delays_its_messages(
    uneven: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, kept = cut(uneven, 205_000_000, 505_000_000)
    filled = kept.with_columns(pl.col("intended_ns", "sent_ns", "received_ns") + 700_000)
    assert figures_of(record, filled)["missing_share"] == figures_of(record, kept)["missing_share"]


def test_a_subscriber_that_is_back_after_the_window_misses_nothing_of_it(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = trial
    assert record.window is not None
    end_ns = record.window.end_ns
    restart = HappenedFault(
        action=Action.RESTART,
        target="subscriber_0",
        asked_ns=900_000_000,
        began_ns=end_ns - 100_000_000,
        done_ns=end_ns + 300_000_000,
    )
    again = record.model_copy(update={"faults": (restart,)})
    assert "missing_share" not in figures_of(again, received.filter(pl.col("intended_ns") > end_ns))


def test_random_gaps_that_a_worker_drew_itself_have_no_schedule_to_compare(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    experiment = record.trial.experiment
    (stream,) = experiment.streams
    drawn = stream.model_copy(update={"pattern": stream.pattern.model_copy(update={"arrival": Arrival.POISSON})})
    planned = experiment.model_copy(update={"streams": (drawn,)})
    random = record.model_copy(update={"trial": record.trial.model_copy(update={"experiment": planned})})
    figures = told(random, received)
    assert figures["missing_share"] == NoSchedule(len(received))
    assert isinstance(figures["recovery_ns"], Measured)
    refused = refusal([Measured(0.0, 5), figures["missing_share"]])
    assert refused is not None
    assert (refused.value, refused.reason) == (None, "the worker's random gaps can't be rebuilt")


def test_where_messages_left_no_sample_nobody_knows_when_they_flowed(
    trial: tuple[TrialRecord, pl.DataFrame],
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    (counts,) = record.counts.subscribers
    more = counts.model_copy(update={"beyond_samples": 20})
    found = told(
        record.model_copy(update={"counts": record.counts.model_copy(update={"subscribers": (more,)})}),
        received.head(50),
    )
    kinds = {name: type(found[name]) for name in ("missing_share", "longest_gap_ns", "recovery_ns", "cut_off_flows")}
    assert set(kinds.values()) == {Partial}


def test_a_message_that_the_schedule_does_not_hold_is_an_error(trial: tuple[TrialRecord, pl.DataFrame]) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    more = pl.concat([received, received.tail(1).with_columns(sequence=pl.lit(100, pl.UInt32))])
    with pytest.raises(AccountingError, match="message 100 arrived, but the schedule"):
        figures_of(record, more)


def test_a_recovery_shorter_than_the_clocks_agree_is_not_told(trial: tuple[TrialRecord, pl.DataFrame]) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    (host,) = {application.host for application in record.trial.experiment.applications}

    def by_clocks(bound_ns: int) -> Value:
        clocks = {host: ClockAgreement(offset_ns=5, bound_ns=bound_ns, source="exchanges")}
        return told(record.model_copy(update={"clocks": clocks}), received)["recovery_ns"]

    assert by_clocks(20_000_000) == WithinClocks(1, 20_000_000)
    narrow = by_clocks(1_000_000)
    assert isinstance(narrow, Measured)
    assert narrow.bound_ns == 1_000_000


def test_figures_are_the_same_where_samples_are_read_a_piece_at_a_time(
    trial: tuple[TrialRecord, pl.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, received = cut(trial, 205_000_000, 505_000_000)
    at_once = figures_of(record, received)
    received.write_parquet(tmp_path / "received.parquet")
    for module in (streaming, recovery):
        monkeypatch.setattr(module, "CHUNK_ROWS", 16)
    assert figures_of(record, stored_rows(pl.scan_parquet(tmp_path / "received.parquet"), len(received))) == at_once
