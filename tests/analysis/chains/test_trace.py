"""What begins at a chain's first node is followed to its last, its parts add up, and whatever does not end is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.chains.trace import ChainPart, Fate, FollowedChain, Route, Rows, follow_chain

END_NS = 1_000_000
CAMERA, DETECT, PLAN, ACTUATE, LIDAR = range(5)
IMAGE, OBJECTS, COMMAND, POINTS = range(4)
WHOLE_WAY = Route(nodes=(CAMERA, DETECT, PLAN), streams=(IMAGE, OBJECTS), subscribers=(0, 0))


class Recorder:
    """Writes down what nodes did, as a trial stores it."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.executions: list[tuple[int, int, int, int]] = []
        self.inputs: list[tuple[int, int, int, int, int]] = []
        self.outputs: list[tuple[int, int, int, int, int | None]] = []
        self.received: list[tuple[int, int, int, int]] = []

    def ran(self, node: int, execution: int, started_ns: int, computed_ns: int) -> None:
        self.executions.append((node, execution, started_ns, computed_ns))

    def sent(
        self, node: int, execution: int, stream: int, sequence: int | None = None, fill_ns: int | None = None
    ) -> None:
        self.outputs.append((node, execution, stream, execution if sequence is None else sequence, fill_ns))

    def arrived(self, stream: int, sequence: int, received_ns: int) -> None:
        self.received.append((stream, 0, sequence, received_ns))

    def took(self, node: int, execution: int, stream: int, sequence: int, received_ns: int) -> None:
        self.inputs.append((node, execution, stream, sequence, received_ns))
        self.arrived(stream, sequence, received_ns)

    def rows(self) -> Rows:
        def frame(names: str, rows: Sequence[tuple[int | None, ...]]) -> pl.LazyFrame:
            return pl.DataFrame(rows, schema=dict.fromkeys(names.split(), pl.Int64), orient="row").lazy()

        return Rows(
            executions=frame("node execution started_ns computed_ns", self.executions),
            inputs=frame("node execution stream sequence received_ns", self.inputs),
            outputs=frame("node execution stream sequence fill_ns", self.outputs),
            received=frame("stream subscriber sequence received_ns", self.received).with_columns(answer=0),
            end_ns=END_NS,
        )


def one_way(record: Recorder, number: int, begun_ns: int) -> None:
    """Camera 10, under way 5, waits 3, detects 20, under way 7, waits 40 for the timer, plans 15."""
    b = begun_ns
    record.ran(CAMERA, number, b, b + 10)
    record.sent(CAMERA, number, IMAGE)
    record.took(DETECT, number, IMAGE, number, b + 15)
    record.ran(DETECT, number, b + 18, b + 38)
    record.sent(DETECT, number, OBJECTS)
    record.took(PLAN, number, OBJECTS, number, b + 45)
    record.ran(PLAN, number, b + 85, b + 100)


def told(found: FollowedChain) -> dict[Fate, int]:
    return {fate: count for fate, count in found.fates.items() if count}


def sums(found: FollowedChain) -> dict[ChainPart, list[int]]:
    return {
        part: found.ended.select(pl.sum_horizontal(found.columns(part))).to_series().to_list() for part in ChainPart
    }


def test_a_chain_is_split_node_by_node() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    found = follow_chain(WHOLE_WAY, record.rows())
    assert found.instances.row(0, named=True) == {
        "begun_ns": 1000,
        "whole_ns": 100,
        "fate": "ended",
        "at": 2,
        "in_time": None,
        "communication_1_ns": 5,
        "communication_2_ns": 7,
        "idle_1_ns": 3,
        "idle_2_ns": 40,
        "computation_0_ns": 10,
        "computation_1_ns": 20,
        "computation_2_ns": 15,
    }
    assert sums(found) == {ChainPart.COMMUNICATION: [12], ChainPart.IDLE: [43], ChainPart.COMPUTATION: [45]}


def test_handing_over_another_output_first_is_communication() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, POINTS)
    record.sent(CAMERA, 0, IMAGE)  # after 50 ns in the call that sent the points
    record.took(DETECT, 0, IMAGE, 0, 165)
    record.ran(DETECT, 0, 165, 170)
    found = follow_chain(Route((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert found.ended["communication_1_ns"].to_list() == [55]


def test_filling_is_in_no_part() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, POINTS, fill_ns=700)
    record.sent(CAMERA, 0, IMAGE, fill_ns=1500)  # of its own 800
    record.took(DETECT, 0, IMAGE, 0, 1620)
    record.ran(DETECT, 0, 1625, 1640)
    found = follow_chain(Route((CAMERA, DETECT), (IMAGE,), (0,), deadline_ns=41), record.rows())
    assert found.ended.select("communication_1_ns", "whole_ns", "in_time").row(0) == (10, 40, True)


def test_a_node_that_takes_the_newest_only_passes_the_others_over() -> None:
    """A timer node at a third of the rate: of each three messages it takes the last."""
    record = Recorder()
    for number in range(9):
        record.ran(CAMERA, number, 1000 * number, 1000 * number + 10)
        record.sent(CAMERA, number, IMAGE)
        record.arrived(IMAGE, number, 1000 * number + 20)
    for execution, newest in enumerate((2, 5, 8)):
        fires_ns = 1000 * newest + 500
        record.took(DETECT, execution, IMAGE, newest, 1000 * newest + 20)
        record.ran(DETECT, execution, fires_ns, fires_ns + 30)
    found = follow_chain(Route((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert told(found) == {Fate.ENDED: 3, Fate.PASSED_OVER: 6}
    assert found.ended["idle_1_ns"].to_list() == [480] * 3
    assert found.instances["at"].to_list() == [0, 0, 1] * 3


def test_with_fan_in_each_chain_has_its_own_wait() -> None:
    """Both inputs must be there: the earlier one waits for the later."""
    record = Recorder()
    for node, stream, arrived_ns in ((CAMERA, IMAGE, 300), (LIDAR, POINTS, 120)):
        record.ran(node, 0, 100, 110)
        record.sent(node, 0, stream)
        record.took(PLAN, 0, stream, 0, arrived_ns)
    record.ran(PLAN, 0, 310, 400)
    by_camera, by_lidar = (
        follow_chain(Route((node, PLAN), (stream,), (0,)), record.rows())
        for node, stream in ((CAMERA, IMAGE), (LIDAR, POINTS))
    )
    assert by_camera.ended["idle_1_ns"].to_list() == [10]
    assert by_lidar.ended["idle_1_ns"].to_list() == [190]
    assert by_camera.ended["whole_ns"].to_list() == by_lidar.ended["whole_ns"].to_list() == [300]


def test_with_fan_out_each_subscriber_has_its_own_message() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, IMAGE)
    record.took(DETECT, 0, IMAGE, 0, 120)
    record.ran(DETECT, 0, 125, 130)
    lost = follow_chain(Route((CAMERA, PLAN), (IMAGE,), (1,)), record.rows())
    assert told(follow_chain(Route((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())) == {Fate.ENDED: 1}
    assert told(lost) == {Fate.LOST: 1}


def test_executions_and_messages_are_joined_by_their_own_numbers() -> None:
    """A node of several inputs has run more often than its chain's messages came, and sends under other numbers."""
    record = Recorder()
    record.ran(CAMERA, 7, 1000, 1010)
    record.sent(CAMERA, 7, IMAGE, sequence=3)
    record.took(DETECT, 21, IMAGE, 3, 1020)
    record.ran(DETECT, 20, 900, 950)
    record.ran(DETECT, 21, 1030, 1040)
    record.sent(DETECT, 21, OBJECTS, sequence=12)
    record.took(PLAN, 4, OBJECTS, 12, 1050)
    record.ran(PLAN, 4, 1060, 1070)
    found = follow_chain(WHOLE_WAY, record.rows())
    assert found.ended["whole_ns"].to_list() == [70]


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
    assert told(follow_chain(WHOLE_WAY, record.rows())) == {Fate.ENDED: 2, Fate.BEGUN_TOO_LATE: 1}
    patient = replace(WHOLE_WAY, deadline_ns=500)
    assert told(follow_chain(patient, record.rows())) == {Fate.ENDED: 1, Fate.BEGUN_TOO_LATE: 2}
    strict = replace(WHOLE_WAY, tmax_ns=120)
    assert told(follow_chain(strict, record.rows())) == {Fate.ENDED: 3}


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
def test_one_way_that_takes_long_sets_no_other_aside(route: Route) -> None:
    found = follow_chain(route, straggling(800_000).rows())
    assert told(found) == {Fate.ENDED: 1000}
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
    assert told(found) == {Fate.ENDED: 1000, Fate.BEGUN_TOO_LATE: 1}
    assert found.missed == (1001, 1001)


def test_where_all_are_lost_all_miss_the_deadline_and_only_the_last_is_set_aside() -> None:
    record = Recorder()
    for number in range(10):
        record.ran(CAMERA, number, 100_000 * number, 100_000 * number + 10)
        record.sent(CAMERA, number, IMAGE)
    found = follow_chain(replace(WITHIN_NS, tmax_ns=100_001), record.rows())
    assert told(found) == {Fate.LOST: 9, Fate.BEGUN_TOO_LATE: 1}
    assert found.missed == (10, 10)


def test_a_message_that_comes_before_it_was_sent_is_in_no_figure() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, IMAGE)
    record.took(DETECT, 0, IMAGE, 0, 105)
    record.ran(DETECT, 0, 120, 130)
    found = follow_chain(Route((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert told(found) == {Fate.NOT_IN_ORDER: 1}


def test_a_message_that_came_twice_counts_once() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    record.took(DETECT, 1, IMAGE, 0, 1016)
    record.ran(DETECT, 1, 1039, 1050)
    assert follow_chain(WHOLE_WAY, record.rows()).ended["whole_ns"].to_list() == [100]


@pytest.mark.parametrize("length", [1, 3])
def test_where_nothing_ran_nothing_is_told(length: int) -> None:
    route = Route(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1))
    found = follow_chain(route, Recorder().rows())
    assert told(found) == {}
    assert len(found.ended) == 0


steps = st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
ways = st.lists(st.one_of(st.none(), steps), min_size=1, max_size=4)


@given(st.lists(ways, max_size=12), st.integers(2, 5))
def test_parts_add_up_and_no_instance_goes_uncounted(
    histories: list[list[tuple[int, int, int] | None]], length: int
) -> None:
    """Each history is what happens at each node in turn; where it is None or ends, the message is lost."""
    record, whole = Recorder(), []
    for number, history in enumerate(histories):
        at_ns = 1000 * number
        record.ran(0, number, at_ns, at_ns)
        for node, step in enumerate((*history, None)[: length - 1], start=1):
            record.sent(node - 1, number, node - 1)
            if step is None:
                break
            record.took(node, number, node - 1, number, at_ns + step[0])
            record.ran(node, number, at_ns + step[0] + step[1], at_ns + sum(step))
            at_ns += sum(step)
        else:
            whole.append(at_ns - 1000 * number)
    found = follow_chain(Route(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1)), record.rows())
    assert sum(found.fates.values()) == len(histories)
    assert found.ended["whole_ns"].to_list() == whole
    assert [sum(parts) for parts in zip(*sums(found).values(), strict=True)] == whole
    assert found.fates[Fate.LOST] == len(histories) - len(whole)
    within = follow_chain(
        Route(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1), deadline_ns=60), record.rows()
    )
    assert within.missed == (len(histories) - sum(took <= 60 for took in whole), len(histories))
