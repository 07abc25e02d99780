"""What chance makes of a probe's figures: intervals that hold what they say, of counts and of drawn round trips."""

import math

import pytest

from middlemark.suite import Direction
from middlemark.testbed.network.verify import frames, round_trips

MS = 1_000_000


@pytest.mark.parametrize(("sent", "share"), [(2000, 0.01), (2000, 0.1), (10, 0.5), (40, 0.001), (2000, 0.999)])
def test_the_interval_leaves_out_no_more_than_half_a_thousandth_at_either_end(sent: int, share: float) -> None:
    one, lost = 1000, round(1000 * share)
    ways = [math.comb(sent, each) * lost**each * (one - lost) ** (sent - each) for each in range(sent + 1)]

    def is_above(count: int, ten_thousandths: int) -> bool:
        return sum(ways[: count + 1]) * 10_000 >= ten_thousandths * one**sent

    least, most = frames(sent, share, share)
    assert (is_above(least - 1, 5), is_above(least, 5)) == (False, True)
    assert (is_above(most - 1, 9995), is_above(most, 9995)) == (False, True)


def test_without_chance_there_is_one_count() -> None:
    assert frames(100, 0, 0) == (0, 0)
    assert frames(100, 1, 1) == (100, 100)


def test_a_share_between_two_has_the_lower_bound_of_one_and_the_upper_of_the_other() -> None:
    assert frames(2000, 0.01, 0.1) == (frames(2000, 0.01, 0.01)[0], frames(2000, 0.1, 0.1)[1])


def test_without_jitter_and_overtaking_a_round_trip_is_both_delays() -> None:
    found = round_trips(Direction(delay_ns=10 * MS), Direction(delay_ns=MS), 40, 2 * MS)
    assert (found.median_ns, found.spread_ns) == ((11 * MS, 11 * MS), (0, 0))


def test_the_spread_of_evenly_distributed_delays_is_that_of_their_order_statistics() -> None:
    """Of 40 even deviates the 36th is above the first by a Beta(35, 6) deviate of the whole width."""
    one_way = round_trips(Direction(delay_ns=10 * MS, jitter_ns=MS), Direction(), 40, 3 * MS)
    least, most = (2 * MS * share for share in (0.6286, 0.9738))
    assert one_way.spread_ns == (pytest.approx(least, rel=0.02), pytest.approx(most, rel=0.02))


def test_a_jitter_longer_than_between_two_pings_makes_them_wait_for_earlier_ones() -> None:
    apart = round_trips(Direction(delay_ns=50 * MS, jitter_ns=20 * MS), Direction(), 40, 50 * MS)
    close = round_trips(Direction(delay_ns=50 * MS, jitter_ns=20 * MS), Direction(), 40, 2 * MS)
    assert sum(apart.median_ns) / 2 == pytest.approx(50 * MS, rel=0.02)
    assert sum(close.median_ns) / 2 > 58 * MS


def test_a_jitter_beyond_the_delay_leaves_no_frame_earlier_than_it_came() -> None:
    found = round_trips(Direction(jitter_ns=10 * MS), Direction(), 40, 50 * MS)
    assert found.median_ns[0] == 0
    assert 2 * MS < found.median_ns[1] < 6 * MS


def test_frames_that_skip_the_delay_make_round_trips_of_one_delay() -> None:
    found = round_trips(Direction(delay_ns=10 * MS, reordering=1), Direction(delay_ns=MS), 40, 2 * MS)
    assert (found.median_ns, found.spread_ns) == ((MS, MS), (0, 0))
