"""What does not end at a chain's last node has its reason and its place; deadlines are met, missed or not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chain_recorder import CAMERA, DETECT, END_NS, IMAGE, OBJECTS, PLAN, WHOLE_WAY, Recorder, fates, one_way
from middlemark.analysis.metrics.chain_trace import ChainRoute, Fate, follow_chain


def test_what_does_not_end_has_its_reason_and_its_place() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    record.ran(CAMERA, 1, 2000, 2010)  # refused by the middleware
    record.ran(CAMERA, 2, 3000, 3010)
    record.sent(CAMERA, 2, IMAGE)  # lost
    record.ran(CAMERA, 3, 4000, 4010)
    record.sent(CAMERA, 3, IMAGE)
    record.took(DETECT, 3, IMAGE, 3, 4020)
    record.ran(DETECT, 3, 4030, 4040)
    record.sent(DETECT, 3, OBJECTS)
    record.arrived(OBJECTS, 3, 4050)  # passed over: of the next, the node takes
    one_way(record, 4, 5000)
    record.ran(CAMERA, 5, 6000, 6010)
    record.sent(CAMERA, 5, IMAGE)
    record.arrived(IMAGE, 5, 6020)  # still waits
    found = follow_chain(WHOLE_WAY, record.rows())
    assert found.instances["fate"].to_list() == ["ended", "not_sent", "lost", "passed_over", "ended", "unfinished"]
    assert found.instances["at"].to_list() == [2, 0, 0, 1, 2, 0]


def test_what_begins_too_late_to_be_sure_to_end_is_set_aside_even_where_it_ended() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    one_way(record, 1, END_NS - 200)
    one_way(record, 2, END_NS - 199)
    assert fates(follow_chain(WHOLE_WAY, record.rows())) == {Fate.ENDED: 2, Fate.BEGUN_TOO_LATE: 1}
    patient = replace(WHOLE_WAY, deadline_ns=500)
    assert fates(follow_chain(patient, record.rows())) == {Fate.ENDED: 1, Fate.BEGUN_TOO_LATE: 2}
    strict = replace(WHOLE_WAY, tmax_ns=120)
    assert fates(follow_chain(strict, record.rows())) == {Fate.ENDED: 3}


WITHIN_NS = replace(WHOLE_WAY, deadline_ns=150)


def straggling(took_ns: int) -> Recorder:
    """A thousand ways over the whole window, of which one takes long."""
    record = Recorder()
    for number in range(1000):
        begun_ns = number * (END_NS // 1000)
        if number != 100:
            one_way(record, number, begun_ns)
    record.ran(CAMERA, 100, 100_000, 100_010)
    record.sent(CAMERA, 100, IMAGE)
    record.took(DETECT, 2000, IMAGE, 100, 100_020)
    record.ran(DETECT, 2000, 100_000 + took_ns - 20, 100_000 + took_ns - 15)
    record.sent(DETECT, 2000, OBJECTS, 100)
    record.took(PLAN, 2000, OBJECTS, 100, 100_000 + took_ns - 12)
    record.ran(PLAN, 2000, 100_000 + took_ns - 10, 100_000 + took_ns)
    return record


@pytest.mark.parametrize("route", [WHOLE_WAY, WITHIN_NS])
def test_one_way_that_takes_long_sets_no_other_aside(route: ChainRoute) -> None:
    found = follow_chain(route, straggling(800_000).rows())
    assert fates(found) == {Fate.ENDED: 1000}
    assert found.missed == ((1, 1000) if route.deadline_ns else (0, 0))


def test_what_never_ended_missed_its_deadline_and_what_was_passed_over_has_none() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    record.ran(CAMERA, 1, 2000, 2010)  # refused by the middleware
    record.ran(CAMERA, 2, 3000, 3010)
    record.sent(CAMERA, 2, IMAGE)  # lost
    record.ran(CAMERA, 3, 4000, 4010)
    record.sent(CAMERA, 3, IMAGE)
    record.arrived(IMAGE, 3, 4020)  # passed over
    one_way(record, 4, 5000)
    record.ran(CAMERA, 5, 6000, 6010)
    record.sent(CAMERA, 5, IMAGE)
    record.arrived(IMAGE, 5, 6020)  # still waits
    record.ran(CAMERA, 6, END_NS - 149, END_NS - 139)  # less than the deadline before the window's end
    found = follow_chain(WITHIN_NS, record.rows())
    assert found.missed == (3, 5)
    assert follow_chain(replace(WITHIN_NS, deadline_ns=99), record.rows()).missed == (6, 6)
    assert follow_chain(WHOLE_WAY, record.rows()).missed == (0, 0)


def test_a_deadline_shorter_than_the_usual_path_makes_no_path_lost() -> None:
    record = straggling(100)
    record.ran(CAMERA, 1000, END_NS - 30, END_NS - 20)
    record.sent(CAMERA, 1000, IMAGE)
    record.arrived(IMAGE, 1000, END_NS - 15)
    found = follow_chain(replace(WHOLE_WAY, deadline_ns=20), record.rows())
    assert fates(found) == {Fate.ENDED: 1000, Fate.BEGUN_TOO_LATE: 1}
    assert found.missed == (1001, 1001)


def test_where_all_are_lost_all_miss_the_deadline_and_only_the_last_is_set_aside() -> None:
    record = Recorder()
    for number in range(10):
        record.ran(CAMERA, number, 100_000 * number, 100_000 * number + 10)
        record.sent(CAMERA, number, IMAGE)
    found = follow_chain(replace(WITHIN_NS, tmax_ns=100_001), record.rows())
    assert fates(found) == {Fate.LOST: 9, Fate.BEGUN_TOO_LATE: 1}
    assert found.missed == (10, 10)


@pytest.mark.parametrize("length", [1, 3])
def test_where_nothing_ran_nothing_is_told(length: int) -> None:
    route = ChainRoute(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1))
    found = follow_chain(route, Recorder().rows())
    assert fates(found) == {}
    assert len(found.ended) == 0
