"""Schedules are rebuilt to the nanosecond: those of the workers' runtime, and what a recording says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.metrics.recovery import schedule
from middlemark.plan import Burst, PingPong, Recorded, Stream, StreamPattern, Unthrottled
from middlemark.plan.patterns import Periodic
from middlemark.plan.streams import KeepLast, StreamQos
from middlemark.results.record import Window
from middlemark.suite import Arrival, Congestion, Durability, Reliability

BEGIN_NS = 5_000_000_000
QOS = StreamQos(
    reliability=Reliability.BEST_EFFORT,
    history=KeepLast(depth=1),
    durability=Durability.VOLATILE,
    congestion=Congestion.BLOCK,
    level=None,
)


def elapsed_ns(
    pattern: StreamPattern, span_ns: int, recorded: Recorded | None = None, seed: int = 0, publisher: int = 0
) -> list[int]:
    stream = Stream(
        name="s",
        size_bytes=100,
        pattern=pattern,
        recorded=recorded,
        qos=QOS,
        publishers=("publisher_0", "publisher_1"),
        subscribers=("subscriber_0",),
    )
    window = Window(t0_ns=0, begin_ns=BEGIN_NS, end_ns=BEGIN_NS + span_ns)
    found = schedule(stream, publisher, seed, window)
    assert found is not None
    return (found - BEGIN_NS).tolist()


def fixed(rate_hz: float) -> Periodic:
    return Periodic(rate_hz=rate_hz, arrival=Arrival.FIXED)


def test_a_fixed_rate_does_not_drift_and_the_window_s_end_is_not_in_it() -> None:
    found = elapsed_ns(fixed(300), 100_000_000_000)
    assert (len(found), found[1], found[2], found[300], found[29_999]) == (
        30_000, 3_333_333, 6_666_667, 1_000_000_000, 99_996_666_667,
    )  # fmt: skip


def test_a_burst_has_all_its_messages_at_one_instant() -> None:
    assert elapsed_ns(Burst(rate_hz=10, messages=3), 200_000_000) == [0, 0, 0, 100_000_000, 100_000_000, 100_000_000]


def test_what_was_recorded_begins_again_after_its_period() -> None:
    recorded = Recorded(offsets_ns=(0, 7, 7, 900), sizes_bytes=(32, 40, 50, 60), period_ns=1000)
    assert elapsed_ns(fixed(4e6), 2000, recorded) == [0, 7, 7, 900, 1000, 1007, 1007, 1900]
    assert elapsed_ns(fixed(4e6), 1007, recorded) == [0, 7, 7, 900, 1000]


@pytest.mark.parametrize(
    ("publisher", "n", "first", "last"),
    [
        (0, 1035, [0, 1343812, 3418725, 3593884, 7227141, 8947062], [1497392384, 1499133948]),
        (1, 1082, [0, 50379, 1472595, 1796039, 2143474, 2347512], [1498757570, 1499579013]),
    ],
)
def test_random_gaps_are_those_that_a_worker_drew(publisher: int, n: int, first: list[int], last: list[int]) -> None:
    """What the worker for UDP sent in a window of 1.5 s."""
    pattern = Periodic(rate_hz=700, arrival=Arrival.POISSON)
    found = elapsed_ns(pattern, 1_500_000_000, seed=246249952364832, publisher=publisher)
    assert (len(found), found[:6], found[-2:]) == (n, first, last)


@pytest.mark.parametrize(
    "pattern",
    [
        Unthrottled(approach_hz=10, messages=None),
        PingPong(approach_hz=10, answer_bytes=1, interval_ns=0, patience_ns=1, messages=None),
    ],
)
def test_what_goes_as_fast_as_it_can_has_no_schedule(pattern: StreamPattern) -> None:
    window = Window(t0_ns=0, begin_ns=0, end_ns=1000)
    stream = Stream(name="s", size_bytes=1, pattern=pattern, qos=QOS, publishers=("p",), subscribers=("s",))
    assert schedule(stream, 0, 1, window) is None


@given(st.floats(0.01, 5e4), st.integers(1, 10**9), st.sampled_from(Arrival), st.integers(0, 2**63))
def test_a_schedule_is_in_order_and_within_the_window(
    rate_hz: float, span_ns: int, arrival: Arrival, seed: int
) -> None:
    found = elapsed_ns(Periodic(rate_hz=rate_hz, arrival=arrival), span_ns, seed=seed)
    assert all(np.diff(found) >= 0)
    assert all(0 <= each < span_ns for each in found)
    assert found
    if arrival is Arrival.FIXED:
        assert abs(len(found) - span_ns * rate_hz / 1e9) <= 1
