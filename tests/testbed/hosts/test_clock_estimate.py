"""The true offset lies within the bound whatever the ways take; PTP is believed only where nothing contradicts it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from middlemark.testbed.hosts.clock_sync import (
    MOST_DRIFT,
    ClockOffset,
    Exchange,
    PtpClock,
    by_ptp,
    estimate,
    over_window,
)

OFFSETS = st.integers(-(10**15), 10**15)
DELAYS = st.integers(0, 50_000_000)


@given(OFFSETS, st.lists(st.tuples(DELAYS, DELAYS, DELAYS), min_size=1, max_size=50))
def test_the_true_offset_lies_within_the_bound_for_any_delays(
    offset_ns: int, delays: list[tuple[int, int, int]]
) -> None:
    now_ns, exchanges = 10**12, []
    for pause_ns, there_ns, back_ns in delays:
        asked_ns = now_ns + pause_ns
        read_ns = asked_ns + there_ns
        now_ns = read_ns + back_ns
        exchanges.append(Exchange(asked_ns, read_ns + offset_ns, now_ns))
    found = estimate(exchanges)
    assert found is not None
    assert found.low_ns <= offset_ns <= found.high_ns


@given(
    OFFSETS,
    st.floats(-MOST_DRIFT * 0.99, MOST_DRIFT * 0.99),
    st.lists(st.tuples(DELAYS, DELAYS, DELAYS), min_size=1, max_size=50),
)
def test_it_does_so_while_the_clocks_drift(offset_ns: int, drift: float, delays: list[tuple[int, int, int]]) -> None:
    began_ns = now_ns = 10**12

    def true_ns(instant_ns: int) -> float:
        return offset_ns + drift * (instant_ns - began_ns)

    exchanges = []
    for pause_ns, there_ns, back_ns in delays:
        asked_ns = now_ns + pause_ns
        read_ns = asked_ns + there_ns
        now_ns = read_ns + back_ns
        exchanges.append(Exchange(asked_ns, round(read_ns + true_ns(read_ns)), now_ns))
    found = estimate(exchanges)
    assert found is not None
    quickest = min(exchanges, key=lambda each: each.round_trip_ns)
    truth = true_ns((quickest.asked_ns + quickest.answered_ns) // 2)
    assert found.low_ns - 1 <= truth <= found.high_ns + 1  # the other clock was read in whole nanoseconds


@given(OFFSETS, st.lists(st.tuples(DELAYS, DELAYS), min_size=1, max_size=50))
def test_the_bound_is_at_most_half_the_quickest_round_trip(offset_ns: int, delays: list[tuple[int, int]]) -> None:
    exchanges = [Exchange(0, there_ns + offset_ns, there_ns + back_ns) for there_ns, back_ns in delays]
    found = estimate(exchanges)
    assert found is not None
    quickest_ns = min(there_ns + back_ns for there_ns, back_ns in delays)
    assert found.bound_ns <= (1 + 2 * MOST_DRIFT) * quickest_ns / 2 + 2  # rounded twice


def test_exchanges_that_contradict_each_other_give_none() -> None:
    assert estimate([Exchange(0, 1000, 10), Exchange(20, 9000, 30)]) is None


@given(OFFSETS, st.integers(-(10**7), 10**7), st.floats(0, 1), st.integers(0, 10**6), st.integers(0, 10**6))
def test_over_a_window_the_bound_holds_what_the_clocks_drift_meanwhile(
    offset_ns: int, drift_ns: int, part: float, wrong_before_ns: int, wrong_after_ns: int
) -> None:
    before = ClockOffset(offset_ns + wrong_before_ns, wrong_before_ns)
    after = ClockOffset(offset_ns + drift_ns - wrong_after_ns, wrong_after_ns)
    over = over_window(before, after)
    assert over.low_ns <= offset_ns + part * drift_ns <= over.high_ns


HERE = PtpClock("gm", monotonic_ns=5_000, realtime_ns=1_000_000, error_ns=100)
THERE = PtpClock("gm", monotonic_ns=905_000, realtime_ns=1_000_700, error_ns=200)
EXCHANGED = ClockOffset(898_000, 50_000)


def test_clocks_that_ptp_keeps_together_differ_by_when_they_began() -> None:
    assert by_ptp(EXCHANGED, HERE, THERE) == ClockOffset(899_300, 300, "ptp")


def test_ptp_is_not_used_where_it_is_doubtful_or_the_exchanges_are_better() -> None:
    assert by_ptp(EXCHANGED, HERE, replace(THERE, grandmaster="other")) is EXCHANGED
    assert by_ptp(EXCHANGED, HERE, replace(THERE, monotonic_ns=2_000_000)) is EXCHANGED
    assert by_ptp(EXCHANGED, HERE, replace(THERE, error_ns=60_000)) is EXCHANGED
