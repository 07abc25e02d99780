"""Faults happen at their instants to their targets, and what they did to the messages is told."""

import shutil
from collections.abc import Callable

import psutil
import pytest

from middlemark.campaign.trial import link_check
from middlemark.plan import NotApplicable, Valid
from middlemark.results.record import TrialRecord
from middlemark.suite import Action
from middlemark.testbed.machine import cpu_load
from staged import marked_processes, suite_text

Campaign = Callable[..., list[TrialRecord]]


@pytest.fixture(autouse=True)
def nothing_is_left() -> object:
    yield
    assert marked_processes() == set()


def faulty(campaign: Campaign, *events: str, topology: str = "C1-1", brokered: bool = False) -> TrialRecord:
    timeline = f"conditions: {{faults: {{timeline: t, events: [{', '.join(events)}]}}}}"
    text = suite_text(topology=topology, more=timeline, brokered=brokered).replace("window: 200 ms", "window: 800 ms")
    (record,) = campaign(text)
    return record


def received_of(record: TrialRecord, subscriber: int) -> int:
    return next(each.received for each in record.counts.subscribers if each.subscriber == subscriber)


def test_a_paused_subscriber_goes_on_when_it_is_resumed(campaign: Campaign) -> None:
    record = faulty(campaign, "{at: 100 ms, do: pause, of: subscriber_0}", "{at: 500 ms, do: resume, of: subscriber_0}")
    assert record.outcome == Valid()
    assert [(fault.action, fault.asked_ns) for fault in record.faults] == [
        (Action.PAUSE, 100_000_000),
        (Action.RESUME, 500_000_000),
    ]
    assert record.window is not None
    assert all(fault.began_ns >= record.window.begin_ns + fault.asked_ns for fault in record.faults)
    assert received_of(record, 0) == 160
    assert set(record.memory_growth_bytes) == {"publisher_0", "subscriber_0"}


def test_a_killed_subscriber_is_no_failure_and_the_others_are_counted_exactly(campaign: Campaign) -> None:
    record = faulty(campaign, "{after: 40, do: kill, of: subscriber_1}", topology="C1-3")
    assert record.outcome == Valid()
    assert record.interrupted == ("subscriber_1",)
    assert {each.subscriber: each.received for each in record.counts.subscribers} == {0: 160, 2: 160}


def test_a_stopped_subscriber_ends_by_itself_and_the_others_are_counted_exactly(campaign: Campaign) -> None:
    record = faulty(campaign, "{at: 300 ms, do: stop, of: subscriber_1}", topology="C1-3")
    assert record.outcome == Valid()
    assert record.interrupted == ("subscriber_1",)
    assert {each.subscriber: each.received for each in record.counts.subscribers} == {0: 160, 2: 160}


def test_a_killed_service_is_no_failure_and_comes_back_as_a_new_process(campaign: Campaign) -> None:
    events = ("{at: 200 ms, do: kill, of: broker_0}", "{at: 300 ms, do: restart, of: broker_0}")
    record = faulty(campaign, *events, brokered=True)
    assert record.outcome == Valid()
    assert [(fault.action, fault.target) for fault in record.faults] == [
        (Action.KILL, "broker_0"),
        (Action.RESTART, "broker_0"),
    ]
    assert record.interrupted == ()
    assert "broker_0" in record.resources, "its second process measured to the window's end"
    assert set(record.memory_growth_bytes) == {"publisher_0", "subscriber_0"}
    assert received_of(record, 0) == 160


def test_a_restarted_subscriber_receives_again(campaign: Campaign) -> None:
    record = faulty(campaign, "{at: 200 ms, do: kill, of: subscriber_0}", "{at: 300 ms, do: restart, of: subscriber_0}")
    assert record.outcome == Valid()
    assert record.interrupted == ("subscriber_0",)
    assert 0 < received_of(record, 0) < 120


def test_a_late_joiner_is_not_there_before_its_time(campaign: Campaign) -> None:
    record = faulty(campaign, "{at: 300 ms, do: start, of: subscriber_1}", topology="C1-3")
    assert record.outcome == Valid()
    assert record.interrupted == ()
    assert (received_of(record, 0), received_of(record, 2)) == (160, 160)
    assert 0 < received_of(record, 1) < 120
    assert {each.subscriber for each in record.first_message} == {0, 2}


def test_a_timeline_with_a_service_that_the_trial_lacks_is_not_applicable(campaign: Campaign) -> None:
    record = faulty(campaign, "{at: 100 ms, do: kill, of: broker_0}")
    assert record.outcome == NotApplicable(capability="faults", reason="this trial has no broker_0")


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_the_load_reached_on_each_cpu_is_stored(campaign: Campaign) -> None:
    (record,) = campaign(suite_text(more="conditions: {cpu_load: {level: 40 %, hosts: subscribers}}"))
    (load,) = record.cpu_load.values()
    assert load.asked_percent == 40
    assert load.reached_by_cpu_percent
    assert all(percent > 0 for percent in load.reached_by_cpu_percent.values())
    assert load.reached_percent == pytest.approx(
        sum(load.reached_by_cpu_percent.values()) / len(load.reached_by_cpu_percent)
    )


@pytest.mark.skipif(shutil.which(cpu_load.PROGRAM) is None, reason="stress-ng is not installed")
def test_links_are_measured_without_the_load(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe that waits for a CPU would find a slower link than messages have."""
    beside: dict[str, list[bool]] = {}

    async def probed(_: object, when: str) -> tuple[()]:
        beside.setdefault(when, []).append(any(cpu_load.PROGRAM in words for words in commands_of_children()))
        return ()

    monkeypatch.setattr(link_check, "probed_links", probed)
    (record,) = campaign(suite_text(more="conditions: {cpu_load: {level: 40 %, hosts: subscribers}}"))
    assert beside == {"before": [False], "after": [False]}
    assert all(load.reached_percent > 0 for load in record.cpu_load.values())


def commands_of_children() -> list[list[str]]:
    """Of the processes below this one."""
    return [child.cmdline() for child in psutil.Process().children(recursive=True)]
