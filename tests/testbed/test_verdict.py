"""Whether a link is what was asked: the bounds that are stated, and nothing beyond them."""

import math

import pytest

from middlemark.plan.network import Direction, Link
from middlemark.testbed.probe import Found, Loss, Measured, RoundTrip
from middlemark.testbed.verdict import lost_frames, verdict

MS = 1_000_000


def link(**both: float) -> Link:
    direction = Direction.model_validate(both)
    return Link(host="camera", network="lan", outgoing=direction, incoming=direction, offloads=not both)


def measured(
    round_trip_ns: int | None, outgoing: Found | None = None, incoming: Found | None = None, *, reachable: bool = True
) -> Measured:
    trip = RoundTrip(
        sent=40,
        lost=0 if round_trip_ns is not None else 40,
        min_ns=round_trip_ns,
        p50_ns=round_trip_ns,
        p90_ns=round_trip_ns,
        p99_ns=round_trip_ns,
        max_ns=round_trip_ns,
    )
    return Measured(
        reachable=reachable, round_trip=trip, outgoing=outgoing or Found(), incoming=incoming or outgoing or Found()
    )


def lost(count: int, of: int = 2000, dropped_by_receiver: int = 0) -> Found:
    return Found(loss=Loss(sent=of, lost=count, duplicates=0, reordered=0, dropped_by_receiver=dropped_by_receiver))


@pytest.mark.parametrize("ms", [0, 0.05, 0.6])
def test_a_plain_link_answers_within_the_floor(ms: float) -> None:
    assert verdict(link(), measured(round(ms * MS))) is None


@pytest.mark.parametrize(
    ("delay_ms", "round_trip_ms", "holds"),
    [
        (0, 0.61, False),
        (1, 2.5, True),
        (1, 1.3, False),
        (1, 2.7, False),
        (100, 209, True),
        (100, 211, False),
        (100, 0, False),
    ],
)
def test_a_delay_may_be_off_by_a_third_of_a_millisecond_or_a_twentieth(
    delay_ms: int, round_trip_ms: float, *, holds: bool
) -> None:
    said = verdict(link(delay_ns=delay_ms * MS), measured(round(round_trip_ms * MS)))
    assert (said is None) is holds
    assert holds or "round trip" in str(said)


def test_jitter_grants_the_median_what_chance_does() -> None:
    asked = {"delay_ns": 10 * MS}
    assert verdict(link(**asked), measured(21_500_000)) is not None
    assert verdict(link(**asked, jitter_ns=5 * MS), measured(21_500_000)) is None
    assert verdict(link(**asked, jitter_ns=5 * MS), measured(30 * MS)) is not None


@pytest.mark.parametrize(
    ("rate", "holds"), [(0.96e9, True), (1.04e9, True), (0.94e9, False), (1.06e9, False), (None, False)]
)
def test_a_rate_may_be_off_by_a_twentieth(rate: float | None, *, holds: bool) -> None:
    said = verdict(link(rate_bits_per_s=1e9), measured(0, Found(rate_bits_per_s=rate)))
    assert (said is None) is holds
    assert holds or "outgoing rate" in str(said)
    assert holds or "incoming rate" in str(said)


def test_what_is_lost_had_its_share_of_the_rate() -> None:
    asked = link(rate_bits_per_s=1e9, loss=0.1)
    assert verdict(asked, measured(0, Found(rate_bits_per_s=0.9e9))) is None
    assert verdict(asked, measured(0, Found(rate_bits_per_s=1e9))) is not None


@pytest.mark.parametrize(("count", "holds"), [(20, True), (0, False), (8, True), (4, False), (36, True), (40, False)])
def test_a_loss_is_within_what_chance_makes_of_it(count: int, *, holds: bool) -> None:
    assert (verdict(link(loss=0.01), measured(0, lost(count))) is None) is holds


def test_a_frame_that_found_no_room_at_the_end_was_not_lost_by_the_link() -> None:
    assert verdict(link(loss=0.01), measured(0, lost(60, dropped_by_receiver=40))) is None


def test_each_direction_is_judged_by_itself() -> None:
    asked = Link(host="camera", network="lan", outgoing=Direction(loss=0.1), offloads=False)
    assert verdict(asked, measured(0, lost(200), lost(0))) is None
    assert str(verdict(asked, measured(0, lost(200), lost(3)))).startswith("of 2000 incoming frames 3 were lost")


def test_a_dead_link_is_no_link() -> None:
    assert verdict(link(), measured(None, reachable=False)) == "nothing comes through"
    assert verdict(link(), measured(None)) == "no ping was answered"


@pytest.mark.parametrize(("sent", "share"), [(2000, 0.01), (2000, 0.1), (10, 0.5), (40, 0.001), (2000, 0.999)])
def test_the_interval_leaves_out_no_more_than_half_a_thousandth_at_either_end(sent: int, share: float) -> None:
    one, lost = 1000, round(1000 * share)
    ways = [math.comb(sent, each) * lost**each * (one - lost) ** (sent - each) for each in range(sent + 1)]

    def is_above(count: int, ten_thousandths: int) -> bool:
        return sum(ways[: count + 1]) * 10_000 >= ten_thousandths * one**sent

    least, most = lost_frames(sent, share)
    assert (is_above(least - 1, 5), is_above(least, 5)) == (False, True)
    assert (is_above(most - 1, 9995), is_above(most, 9995)) == (False, True)


def test_without_chance_there_is_one_count() -> None:
    assert lost_frames(100, 0) == (0, 0)
    assert lost_frames(100, 1) == (100, 100)


def test_a_probe_that_could_not_offer_the_rate_says_nothing_of_the_link() -> None:
    asked = link(rate_bits_per_s=1_000_000_000)
    disturbed = Found(rate_bits_per_s=6e8, offered_bits_per_s=6e8)
    said = verdict(asked, measured(100_000, disturbed))
    assert said is not None
    assert "outgoing rate can't be told: the probe had CPU time to offer 600 Mbit/s, asked was 1 Gbit/s" in said
    assert "the outgoing rate is 600 Mbit/s" in str(
        verdict(asked, measured(100_000, Found(rate_bits_per_s=6e8, offered_bits_per_s=1.2e9)))
    )


@pytest.mark.parametrize(
    ("reordering", "round_trip_ms", "holds"),
    [(0.1, 20, True), (0.1, 0, False), (0.5, 20, True), (0.5, 10, True), (0.5, 0, True), (0.5, 25, False)],
)
def test_where_half_of_the_frames_overtake_a_median_may_be_of_those(
    reordering: float, round_trip_ms: int, *, holds: bool
) -> None:
    said = verdict(link(delay_ns=10 * MS, reordering=reordering), measured(round_trip_ms * MS))
    assert (said is None) is holds
