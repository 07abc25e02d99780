"""An observed trial keeps what its observer saw, says what it could not see, and stays a trial like any other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation
from middlemark.testbed.processes.child import executable
from staged import marked_processes, suite_text

Campaign = Callable[..., list[TrialRecord]]

try:
    BUILT: Path | None = executable("resources")
except EnvironmentNotReady:
    BUILT = None


@pytest.fixture(autouse=True)
def nothing_is_left() -> object:
    yield
    assert marked_processes() == set()


@pytest.fixture
def observer(tmp_path: Path) -> None:
    if BUILT is None:
        pytest.skip("middlemark-resources is not built")
    (tmp_path / "workers" / "middlemark-resources").symlink_to(BUILT)


def watched(records: list[TrialRecord], observation: Observation) -> TrialRecord:
    (record,) = (each for each in records if each.trial.observation is observation)
    return record


@pytest.mark.usefixtures("observer")
def test_every_process_is_sampled_from_before_discovery_until_after_the_window(
    campaign: Campaign, tmp_path: Path
) -> None:
    records = campaign(suite_text(more="observe: resources").replace("window: 200 ms", "window: 1 s"))
    assert [record.outcome for record in records] == [Valid(), Valid()]
    record = watched(records, Observation.RESOURCES)
    rows = RunFolder(tmp_path / "run").trial(record.trial.id).read_processes()
    assert record.window is not None
    for name in ("publisher_0", "subscriber_0"):
        own = rows.filter(rows["process"] == name)
        assert own["at_ns"].min() < record.window.t0_ns  # type: ignore[operator]
        assert own["at_ns"].max() > record.window.end_ns  # type: ignore[operator]
        assert len(own) >= 10
        assert own["resident_bytes"].min() > 1 << 20  # type: ignore[operator]
        assert own["cpu_ns"].is_sorted()
    assert len(RunFolder(tmp_path / "run").trial(record.trial.id).read_machine()) >= 10


@pytest.mark.usefixtures("observer")
def test_a_process_that_is_started_again_is_sampled_under_a_name_of_its_own(campaign: Campaign, tmp_path: Path) -> None:
    events = "[{at: 200 ms, do: kill, of: subscriber_0}, {at: 300 ms, do: restart, of: subscriber_0}]"
    text = suite_text(more=f"observe: resources\nconditions: {{faults: {{timeline: t, events: {events}}}}}")
    records = campaign(text.replace("window: 200 ms", "window: 800 ms"))
    record = watched(records, Observation.RESOURCES)
    assert record.outcome == Valid()
    rows = RunFolder(tmp_path / "run").trial(record.trial.id).read_processes()
    assert set(rows["process"]) == {"publisher_0", "subscriber_0", "subscriber_0#2"}


def test_a_missing_observer_is_said_and_fails_no_trial(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    record = watched(campaign(suite_text(more="observe: resources")), Observation.RESOURCES)
    assert record.outcome == Valid()
    assert "middlemark-resources" in record.unavailable["resources"]


def test_the_wire_of_hosts_that_share_their_interfaces_is_not_to_be_had(campaign: Campaign) -> None:
    record = watched(campaign(suite_text(more="observe: wire")), Observation.WIRE)
    assert record.outcome == Valid()
    assert record.wire == ()
    hosts = {application.host for application in record.trial.experiment.applications}
    assert record.unavailable.keys() == {f"wire of {host}" for host in hosts}
    assert all(why.startswith("not available: it is this machine") for why in record.unavailable.values())


def test_an_observer_that_can_not_be_executed_fails_no_trial(campaign: Campaign, tmp_path: Path) -> None:
    broken = tmp_path / "workers" / "middlemark-resources"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    record = watched(campaign(suite_text(more="observe: resources")), Observation.RESOURCES)
    assert record.outcome == Valid()
    assert "resources" in record.unavailable


def test_an_observer_that_dies_within_the_trial_fails_nothing(campaign: Campaign, tmp_path: Path) -> None:
    dying = tmp_path / "workers" / "middlemark-resources"
    dying.write_text('#!/bin/sh\nread spec\necho \'{"event": "ready"}\'\n')
    dying.chmod(0o755)
    record = watched(campaign(suite_text(more="observe: resources")), Observation.RESOURCES)
    assert record.outcome == Valid()
    assert "it said nothing" in record.unavailable["resources"]


def test_events_that_the_kernel_s_observer_lost_are_said_with_the_reasons(campaign: Campaign, tmp_path: Path) -> None:
    losing = tmp_path / "workers" / "middlemark-kernel-path"
    done = '{"event": "done", "events": 7, "lost": {"without_room": 0, "nested": 1, "unseen": 2}, "calls": {}}'
    losing.write_text(f"#!/bin/sh\nread spec\necho '{{\"event\": \"ready\"}}'\nread stop\necho '{done}'\n")
    losing.chmod(0o755)
    record = watched(campaign(suite_text(more="observe: kernel_path")), Observation.KERNEL_PATH)
    assert record.outcome == Valid()
    assert record.kernel_path is not None
    assert record.kernel_path.lost == 3
    assert record.unavailable["kernel_events"] == (
        "3 lost (events within another one of the same kind: 1; packets that the kernel did not tell of: 2)"
    )


def test_an_unobserved_trial_has_nothing_to_say_of_observers(campaign: Campaign) -> None:
    records = campaign(suite_text(more="observe: wire"))
    (record,) = (each for each in records if each.trial.observation is None)
    assert (record.wire, record.unavailable) == ((), {})
