"""What begins at a chain's first node is followed to its last, its parts add up, and whatever does not end is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chain_recorder import (
    CAMERA,
    DETECT,
    IMAGE,
    LIDAR,
    OBJECTS,
    PLAN,
    POINTS,
    WHOLE_WAY,
    Recorder,
    fates,
    one_way,
    sums,
)
from middlemark.analysis.metrics.chain_trace import ChainPart, ChainRoute, Fate, follow_chain


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
    found = follow_chain(ChainRoute((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert found.ended["communication_1_ns"].to_list() == [55]


def test_filling_is_in_no_part() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, POINTS, fill_ns=700)
    record.sent(CAMERA, 0, IMAGE, fill_ns=1500)  # of its own 800
    record.took(DETECT, 0, IMAGE, 0, 1620)
    record.ran(DETECT, 0, 1625, 1640)
    found = follow_chain(ChainRoute((CAMERA, DETECT), (IMAGE,), (0,), deadline_ns=41), record.rows())
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
    found = follow_chain(ChainRoute((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert fates(found) == {Fate.ENDED: 3, Fate.PASSED_OVER: 6}
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
        follow_chain(ChainRoute((node, PLAN), (stream,), (0,)), record.rows())
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
    lost = follow_chain(ChainRoute((CAMERA, PLAN), (IMAGE,), (1,)), record.rows())
    assert fates(follow_chain(ChainRoute((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())) == {Fate.ENDED: 1}
    assert fates(lost) == {Fate.LOST: 1}


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


def test_a_message_that_comes_before_it_was_sent_is_in_no_figure() -> None:
    record = Recorder()
    record.ran(CAMERA, 0, 100, 110)
    record.sent(CAMERA, 0, IMAGE)
    record.took(DETECT, 0, IMAGE, 0, 105)
    record.ran(DETECT, 0, 120, 130)
    found = follow_chain(ChainRoute((CAMERA, DETECT), (IMAGE,), (0,)), record.rows())
    assert fates(found) == {Fate.NOT_IN_ORDER: 1}


def test_a_message_that_came_twice_counts_once() -> None:
    record = Recorder()
    one_way(record, 0, 1000)
    record.took(DETECT, 1, IMAGE, 0, 1016)
    record.ran(DETECT, 1, 1039, 1050)
    assert follow_chain(WHOLE_WAY, record.rows()).ended["whole_ns"].to_list() == [100]


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
    found = follow_chain(ChainRoute(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1)), record.rows())
    assert sum(found.fates.values()) == len(histories)
    assert found.ended["whole_ns"].to_list() == whole
    assert [sum(parts) for parts in zip(*sums(found).values(), strict=True)] == whole
    assert found.fates[Fate.LOST] == len(histories) - len(whole)
    within = follow_chain(
        ChainRoute(tuple(range(length)), tuple(range(length - 1)), (0,) * (length - 1), deadline_ns=60), record.rows()
    )
    assert within.missed == (len(histories) - sum(took <= 60 for took in whole), len(histories))
