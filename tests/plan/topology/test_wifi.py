"""Wi-Fi by distance: what is farther away has less signal and gets less across, the same on the way back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.plan.topology.wifi import (
    MODULATIONS,
    STEP_NS,
    channel,
    direction_at,
    distance_m,
    path_loss_db,
    received_dbm,
    trace_of,
)
from middlemark.suite import Direction, Mobility

RATES = [rate for rate, _ in MODULATIONS]
PLAIN = Direction()
SECOND_NS = 1_000_000_000


def mobility(**written: object) -> Mobility:
    return Mobility.model_validate({"farthest": "400 m", "speed": "10 m/s"} | written)


WAYS = st.builds(
    lambda farthest, speed, loss: mobility(farthest=f"{farthest} m", speed=f"{speed} m/s", path_loss=loss),
    st.integers(2, 5000),
    st.sampled_from([1, 10, 15]),
    st.sampled_from(["log_distance", "ramp"]),
)


def test_the_rates_are_those_of_one_stream_in_20_mhz() -> None:
    assert RATES == [6_500_000, 13_000_000, 19_500_000, 26_000_000, 39_000_000, 52_000_000, 58_500_000, 65_000_000]


@given(st.floats(-150, 30))
def test_a_link_has_a_rate_of_the_standard_and_shares_that_are_shares(power_dbm: float) -> None:
    found = channel(power_dbm)
    assert found.rate_bits_per_s in RATES
    assert 0 <= found.loss <= found.frame_errors <= 1
    assert 0 <= found.jitter_ns <= found.delay_ns


@given(st.floats(-150, 30), st.floats(0, 50))
def test_less_signal_never_brings_more_across(power_dbm: float, more_db: float) -> None:
    weak, strong = channel(power_dbm), channel(power_dbm + more_db)
    assert weak.goodput_bits_per_s <= strong.goodput_bits_per_s
    assert weak.rate_bits_per_s <= strong.rate_bits_per_s


@given(WAYS, st.floats(0, 1), st.floats(0, 1))
def test_what_is_farther_away_receives_less(way: Mobility, one: float, other: float) -> None:
    near, far = sorted((one * (way.farthest or 0), other * (way.farthest or 0)))
    assert received_dbm(way, far) <= received_dbm(way, near)


@given(WAYS, st.floats(0, 1))
def test_the_way_back_is_the_way_away_mirrored(way: Mobility, share: float) -> None:
    turn_ns = ((way.farthest or 0) - way.nearest) / (way.speed or 1) * 1e9
    apart_ns = share * turn_ns
    away, back = (distance_m(way, round(turn_ns + side * apart_ns)) for side in (-1, 1))
    assert away == pytest.approx(back, abs=1e-6)
    assert way.nearest - 1e-6 <= away <= (way.farthest or 0) + 1e-6


@pytest.mark.parametrize(
    ("at_s", "where_m"), [(0, 1), (10, 101), (39.9, 400), (79.8, 1), (119.7, 400), (200, 1), (900, 1)]
)
def test_two_rounds_are_away_and_back_twice_and_then_it_stands(at_s: float, where_m: float) -> None:
    assert distance_m(mobility(rounds=2), round(at_s * SECOND_NS)) == pytest.approx(where_m)


def test_without_rounds_it_goes_on() -> None:
    assert distance_m(mobility(), round(39.9 * 21 * SECOND_NS)) == pytest.approx(400)


def test_free_space_loses_92_db_on_400_m() -> None:
    """What the industrial evaluation of 2025 says of its channel model."""
    assert path_loss_db(mobility(), 400) == pytest.approx(92, abs=0.5)
    assert path_loss_db(mobility(path_loss="ramp"), 400) == pytest.approx(92)


def test_at_each_sensitivity_of_the_standard_its_rate_is_reached() -> None:
    for rate, power_dbm in MODULATIONS:
        assert channel(power_dbm).goodput_bits_per_s > 0.9 * rate
        assert channel(power_dbm - 3).goodput_bits_per_s < 0.9 * rate


def test_out_of_range_everything_is_lost_at_the_slowest_rate() -> None:
    found = channel(-100)
    assert (found.rate_bits_per_s, found.loss) == (6_500_000, 1)


def test_a_trace_has_a_point_wherever_something_changes_and_nowhere_else() -> None:
    way = mobility()
    points = trace_of(way, PLAIN, PLAIN, 80 * SECOND_NS)
    assert points[0].at_ns == 0
    assert all(later.outgoing != earlier.outgoing for earlier, later in pairwise(points))
    assert all(point.incoming == point.outgoing for point in points)
    for at_ns in range(0, 80 * SECOND_NS, STEP_NS):
        holding = [point for point in points if point.at_ns <= at_ns][-1]
        assert holding.outgoing == direction_at(way, PLAIN, at_ns)


def test_a_host_that_stands_has_one_point() -> None:
    stands = Mobility.model_validate({"distance": "5 m"})
    (point,) = trace_of(stands, Direction(duplication=0.1), Direction(queue_frames=7), 80 * SECOND_NS)
    assert point.outgoing.rate_bits_per_s == 65_000_000
    assert point.outgoing.loss == 0
    assert point.outgoing.duplication == 0.1
    assert (point.incoming.duplication, point.incoming.queue_frames) == (0, 7)
    assert point.incoming.rate_bits_per_s == 65_000_000
