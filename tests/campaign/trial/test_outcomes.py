"""Whatever a worker does, its trial ends with the outcome that says so, and nothing of it is left."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from middlemark.analysis.metrics.stored import measure, read_stored
from middlemark.campaign.trial import environment, lifecycle, processes, run
from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.plan import (
    Failed,
    Invalid,
    InvalidKind,
    InvalidReason,
    MissingPath,
    NoCommunication,
    NotApplicable,
    TimedOut,
    Valid,
    WarningKind,
)
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.processes import cgroup
from middlemark.worker import process
from staged import marked_processes, suite_text

Campaign = Callable[..., list[TrialRecord]]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> object:
    yield
    assert marked_processes() == set()
    assert list((tmp_path / "state/middlemark/ledgers").glob("*")) == []


def only(records: list[TrialRecord]) -> TrialRecord:
    assert len(records) == 1
    return records[0]


def test_a_good_trial_is_valid_and_all_of_it_is_stored(campaign: Campaign, tmp_path: Path) -> None:
    record = only(campaign(suite_text(topology="C2-2", brokered=True)))
    assert record.outcome == Valid()
    assert {(each.publisher, each.sent) for each in record.counts.publishers} == {(0, 40), (1, 40)}
    assert all(each.received == 40 for each in record.counts.subscribers)
    assert len(record.counts.subscribers) == len(record.first_message) == 4
    assert set(record.resources) == {"publisher_0", "publisher_1", "subscriber_0", "subscriber_1", "broker_0"}
    folder = RunFolder(tmp_path / "run").trial(record.trial.id)
    assert len(folder.read_received()) == 160
    assert len(folder.read_published()) == 80
    events = [json.loads(line) for line in folder.events_path.read_text().splitlines()]
    assert {event["process"] for event in events} == set(record.resources)
    assert sorted(event["at_ns"] for event in events) == [event["at_ns"] for event in events]
    assert set(json.loads(folder.spec_path.read_text())) == set(record.resources)
    assert {path.name for path in folder.logs_path.iterdir()} == {f"{name}.log" for name in record.resources}


def test_metrics_are_stored_with_a_trial_that_counts(campaign: Campaign, tmp_path: Path) -> None:
    record = only(campaign(suite_text()))
    folder = RunFolder(tmp_path / "run").trial(record.trial.id)
    kept = read_stored(folder, record)
    assert kept is not None
    assert kept.metrics.values == measure(folder, record).metrics.values
    assert folder.metrics_path.stat().st_mtime_ns <= folder.record_path.stat().st_mtime_ns


def test_no_metrics_are_stored_of_a_trial_that_does_not_count(campaign: Campaign, tmp_path: Path) -> None:
    record = only(campaign(suite_text(fault="reports_foreign", faulty="subscriber_0")))
    assert isinstance(record.outcome, Invalid)
    assert not RunFolder(tmp_path / "run").trial(record.trial.id).metrics_path.exists()


def test_a_missing_worker_is_named_before_anything_runs(campaign: Campaign) -> None:
    with pytest.raises(EnvironmentNotReady, match="nonesuch"):
        campaign(suite_text().replace("fake", "nonesuch"))


@pytest.mark.parametrize("broken", ["enter_prepared", "clock_agreement"])
def test_what_breaks_of_a_test_bed_fails_its_trial_and_the_next_one_runs(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    whole, times = getattr(run, broken), []

    def breaks_once(*given: object) -> object:
        times.append(given)
        if len(times) == 1:
            raise EnvironmentBroke("the namespaces are gone", remedy="none")
        return whole(*given)

    monkeypatch.setattr(run, broken, breaks_once)
    first, second = campaign(suite_text().replace("trials: 1", "trials: 2"))
    assert first.outcome == Failed(
        application="middlemark", doing="using the test-bed", causes=("the namespaces are gone",)
    )
    assert second.outcome == Valid()


def test_a_clock_that_is_set_after_a_trial_makes_it_invalid_and_the_next_one_runs(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[EnvironmentNotReady | None] = [EnvironmentNotReady("it was set", remedy="wait"), None]

    def set_once(*_: object) -> dict[str, object]:
        if (problem := readings.pop(0)) is not None:
            raise problem
        return {}

    monkeypatch.setattr(run, "clock_agreement", set_once)
    first, second = campaign(suite_text().replace("trials: 1", "trials: 2"))
    assert first.outcome.detail.startswith("clock: it was set")
    assert second.outcome == Valid()


@pytest.mark.parametrize("lacking", [EnvironmentNotReady, EnvironmentBroke])
def test_what_a_test_bed_lacks_once_is_no_outcome_of_the_experiment(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, lacking: type[EnvironmentUnusable]
) -> None:
    """Somebody may have killed what was being started; its refusal would hold for all trials."""
    whole, times = environment.prepared, []

    def lacks_once(*given: object) -> object:
        times.append(given)
        if len(times) == 1:
            raise lacking("no container can be made", remedy="none")
        return whole(*given)

    monkeypatch.setattr(environment, "prepared", lacks_once)
    assert [record.outcome for record in campaign(suite_text())] == [Valid()]
    assert len(times) == 2


@pytest.mark.parametrize(
    ("fault", "doing"),
    [("dies_before_armed", "arming"), ("dies_in_measure", "measuring"), ("dies_in_drain", "draining")],
)
@pytest.mark.parametrize("faulty", ["publisher_0", "subscriber_0"])
def test_a_killed_worker_is_a_failure_with_its_signal_and_log(
    campaign: Campaign, fault: str, doing: str, faulty: str
) -> None:
    outcome = only(campaign(suite_text(fault=fault, faulty=faulty))).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.application, outcome.doing, outcome.exit_status) == (faulty, doing, -9)
    assert outcome.last_log_lines[-1] == "dying as told"


@pytest.mark.parametrize("fault", ["dies_before_armed", "dies_in_measure"])
def test_a_service_that_dies_is_a_failure_of_that_service(campaign: Campaign, fault: str) -> None:
    outcome = only(campaign(suite_text(fault=fault, faulty="broker_0", brokered=True))).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.application, outcome.exit_status) == ("broker_0", -9)


def test_what_a_worker_says_of_its_failure_is_the_outcome(campaign: Campaign) -> None:
    outcome = only(campaign(suite_text(fault="fails_at_start", faulty="subscriber_0"))).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.doing, outcome.causes) == ("starting the middleware", ("no such thing", "as this"))


def test_junk_on_standard_output_is_a_failure_that_quotes_it(campaign: Campaign) -> None:
    outcome = only(campaign(suite_text(fault="writes_junk", faulty="publisher_0"))).outcome
    assert isinstance(outcome, Failed)
    assert "this is no event" in outcome.causes[0]


def test_a_silent_publisher_is_no_communication_with_its_paths(campaign: Campaign) -> None:
    text = suite_text(topology="C2-2", fault="silent", faulty="publisher_1").replace(
        "first_message: 20 s", "first_message: 300 ms"
    )
    outcome = only(campaign(text)).outcome
    assert isinstance(outcome, NoCommunication)
    assert outcome.missing == tuple(
        MissingPath(stream="imu", publisher=1, subscriber=subscriber) for subscriber in (0, 1)
    )


@pytest.mark.parametrize(
    ("fault", "constant", "word"),
    [("hangs_before_armed", "ARMING_NS", "armed"), ("hangs_in_drain", "WRITING_GRACE_NS", "done")],
)
def test_a_hanging_worker_is_timed_out_with_what_was_waited_for(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, fault: str, constant: str, word: str
) -> None:
    monkeypatch.setattr(lifecycle, constant, 400_000_000)
    outcome = only(campaign(suite_text(fault=fault, faulty="subscriber_0"))).outcome
    assert isinstance(outcome, TimedOut)
    assert outcome.waiting_for == f"`{word}` of subscriber_0"


def test_a_refusal_holds_for_all_trials_of_its_experiment(campaign: Campaign) -> None:
    started = []

    class Watch:
        def observe(self, event: object) -> None:
            started.append(type(event).__name__)

    records = campaign(suite_text(fault="refuses", faulty="publisher_0").replace("trials: 1", "trials: 3"), Watch())
    assert [record.outcome for record in records] == [
        NotApplicable(capability="pattern", reason="periodic: only periodic streams")
    ] * 3
    assert started.count("TrialStarted") == 1
    assert started.count("TrialFinished") == 3


def test_a_worker_that_does_not_close_makes_the_trial_invalid(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "CLOSING_NS", 300_000_000)
    monkeypatch.setattr(processes, "PATIENCE_S", 0.2)
    outcome = only(campaign(suite_text(fault="ignores_stop", faulty="subscriber_0"))).outcome
    assert isinstance(outcome, Invalid)
    assert [reason.kind for reason in outcome.reasons] == ["leftover"]


def test_foreign_messages_make_the_trial_invalid(campaign: Campaign) -> None:
    outcome = only(campaign(suite_text(fault="reports_foreign", faulty="subscriber_0"))).outcome
    assert isinstance(outcome, Invalid)
    assert [reason.kind for reason in outcome.reasons] == ["foreign"]


def test_messages_seen_elsewhere_than_stated_make_the_trial_invalid(campaign: Campaign) -> None:
    outcome = only(campaign(suite_text(fault="takes_another_path", faulty="publisher_0 subscriber_0"))).outcome
    stated = "the workers state that messages take shared memory, but no application had any mapped"
    assert outcome == Invalid(reasons=(InvalidReason(kind=InvalidKind.PATH, text=stated),))


def test_what_an_overloaded_publisher_gives_up_is_counted_and_told_in_a_valid_trial(campaign: Campaign) -> None:
    (record,) = campaign(suite_text(fault="gives_up_half", faulty="publisher_0"))
    assert record.outcome == Valid()
    (counts,) = record.counts.publishers
    assert (counts.intended, counts.sent, counts.refused, counts.unsent) == (40, 20, 0, 20)
    (said,) = [caution.text for caution in record.warnings if caution.kind is WarningKind.OVERLOAD]
    assert "imu (100 of 200 messages/s sent)" in said
    assert "20 messages not offered" in said


def test_refused_messages_and_overload_are_cautions_of_a_valid_trial(campaign: Campaign) -> None:
    record = only(campaign(suite_text(fault="accepts_half", faulty="publisher_0")))
    assert record.outcome == Valid()
    assert (record.counts.publishers[0].sent, record.counts.publishers[0].refused) == (20, 20)
    said = {caution.kind: caution.text for caution in record.warnings}
    assert set(said) == {"overload", "refused_messages"}
    assert "20 messages not accepted: queue full" in said["refused_messages"]


def test_a_trial_disturbed_by_steal_is_repeated_also_at_the_end_and_then_invalid(campaign: Campaign) -> None:
    text = suite_text(fault="reports_steal", faulty="subscriber_0", more="disturbance: {steal: 1 %, repeats: 2}")
    record = only(campaign(text))
    assert record.attempt == 4
    assert isinstance(record.outcome, Invalid)
    assert [reason.kind for reason in record.outcome.reasons] == ["steal"]


def test_a_child_that_a_worker_leaves_behind_is_ended(campaign: Campaign) -> None:
    assert only(campaign(suite_text(fault="leaves_child", faulty="publisher_0"))).outcome == Valid()


def test_shared_memory_that_a_worker_leaves_is_removed(campaign: Campaign, tmp_path: Path) -> None:
    record = only(campaign(suite_text(fault="leaves_memory", faulty="publisher_0")))
    assert record.outcome == Valid()
    spec = json.loads(RunFolder(tmp_path / "run").trial(record.trial.id).spec_path.read_text())
    name = spec["publisher_0"]["rendezvous"]["name"]
    assert record.effective["publisher_0"].settings["memory"] == f"/dev/shm/{name}"  # noqa: S108
    assert not Path(record.effective["publisher_0"].settings["memory"]).exists()


@pytest.mark.parametrize("fault", ["talks_without_end", "one_line_without_end", "logs_without_end"])
def test_who_writes_without_end_fails_and_says_what_was_too_much(
    campaign: Campaign, tmp_path: Path, fault: str
) -> None:
    record = only(campaign(suite_text(fault=fault, faulty="subscriber_0")))
    assert isinstance(record.outcome, Failed)
    assert record.outcome.application == "subscriber_0"
    assert "it wrote" in record.outcome.causes[0]
    folder = RunFolder(tmp_path / "run").trial(record.trial.id)
    stored = [path.stat().st_size for path in folder.path.rglob("*") if path.is_file()]
    assert sum(stored) < 2 * process.MOST_LOG_BYTES


@pytest.mark.skipif(cgroup.gathering() is None, reason="needs a control group that can be made")
def test_a_child_that_hides_from_its_mark_ends_with_the_trial(campaign: Campaign) -> None:
    before = sleeping()
    record = only(campaign(suite_text(fault="hides_child", faulty="subscriber_0")))
    assert record.outcome.kind in {"valid", "invalid"}
    assert sleeping() <= before


def sleeping() -> set[int]:
    """The processes that a fake worker hid: those of its own command."""
    wanted = b"\0".join((b"/bin/sleep", b"3571", b""))
    found = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if line.read_bytes() == wanted:
                found.add(int(line.parent.name))
    return found
