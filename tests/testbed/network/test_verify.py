"""Whether a link is what was asked: the bounds that are stated, and nothing beyond them."""

import numpy as np
import pytest
from scipy.stats import binom

from middlemark.plan.topology.network import Link
from middlemark.suite import Direction
from middlemark.testbed.network.probe import DirectionMeasured, Loss, Measured, RoundTrip
from middlemark.testbed.network.verify import link_verdict, route_verdict

MS = 1_000_000


def link(**both: float) -> Link:
    direction = Direction.model_validate(both)
    return Link(host="camera", network="lan", outgoing=direction, incoming=direction, offloads=not both)


def measured(
    round_trip_ns: int | None,
    outgoing: DirectionMeasured | None = None,
    incoming: DirectionMeasured | None = None,
    *,
    reachable: bool = True,
    spread_ns: int = 0,
) -> Measured:
    trip = RoundTrip(
        sent=40,
        lost=0 if round_trip_ns is not None else 40,
        min_ns=round_trip_ns,
        p50_ns=round_trip_ns,
        p90_ns=None if round_trip_ns is None else round_trip_ns + spread_ns,
        p99_ns=round_trip_ns,
        max_ns=round_trip_ns,
    )
    return Measured(
        reachable=reachable,
        round_trip=trip,
        outgoing=outgoing or DirectionMeasured(),
        incoming=incoming or outgoing or DirectionMeasured(),
    )


def lost(count: int, of: int = 2000, dropped_by_receiver: int = 0) -> DirectionMeasured:
    return train(sent=of, lost=count, dropped_by_receiver=dropped_by_receiver)


def train(**counted: int) -> DirectionMeasured:
    nothing = {"sent": 2000, "lost": 0, "duplicates": 0, "reordered": 0, "overtaking": 0, "dropped_by_receiver": 0}
    return DirectionMeasured(loss=Loss(**nothing | counted))


@pytest.mark.parametrize("ms", [0, 0.05, 0.6])
def test_a_plain_link_answers_within_the_floor(ms: float) -> None:
    assert link_verdict(link(), measured(round(ms * MS))) is None


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
    said = link_verdict(link(delay_ns=delay_ms * MS), measured(round(round_trip_ms * MS)))
    assert (said is None) is holds
    assert holds or "round trip" in str(said)


def test_jitter_grants_the_median_what_chance_does() -> None:
    asked = {"delay_ns": 10 * MS}
    assert link_verdict(link(**asked), measured(21_500_000)) is not None
    assert link_verdict(link(**asked, jitter_ns=5 * MS), measured(21_500_000, spread_ns=9 * MS)) is None
    assert link_verdict(link(**asked, jitter_ns=5 * MS), measured(30 * MS, spread_ns=9 * MS)) is not None


@pytest.mark.parametrize(
    ("jitter_ms", "spread_ms", "holds"), [(1, 0.1, False), (1, 2, True), (1, 6, False), (5, 0.2, False), (5, 10, True)]
)
def test_a_jitter_spreads_round_trips_as_far_as_chance_has_it(jitter_ms: int, spread_ms: float, *, holds: bool) -> None:
    asked = link(delay_ns=10 * MS, jitter_ns=jitter_ms * MS)
    said = link_verdict(asked, measured(20 * MS, spread_ns=round(spread_ms * MS)))
    assert (said is None) is holds
    assert holds or f"a jitter of {2 * jitter_ms} ms it should be" in str(said)


@pytest.mark.parametrize(
    ("rate", "holds"), [(0.96e9, True), (1.04e9, True), (0.94e9, False), (1.06e9, False), (None, False)]
)
def test_a_rate_may_be_off_by_a_twentieth(rate: float | None, *, holds: bool) -> None:
    said = link_verdict(link(rate_bits_per_s=1e9), measured(0, DirectionMeasured(rate_bits_per_s=rate)))
    assert (said is None) is holds
    assert holds or "outgoing rate" in str(said)
    assert holds or "incoming rate" in str(said)


def test_what_is_lost_had_its_share_of_the_rate() -> None:
    asked = link(rate_bits_per_s=1e9, loss=0.1)
    assert link_verdict(asked, measured(0, DirectionMeasured(rate_bits_per_s=0.9e9))) is None
    assert link_verdict(asked, measured(0, DirectionMeasured(rate_bits_per_s=1e9))) is not None


@pytest.mark.parametrize(("count", "holds"), [(20, True), (0, False), (8, True), (4, False), (36, True), (40, False)])
def test_a_loss_is_within_what_chance_makes_of_it(count: int, *, holds: bool) -> None:
    assert (link_verdict(link(loss=0.01), measured(0, lost(count))) is None) is holds


def test_a_frame_that_found_no_room_at_the_end_was_not_lost_by_the_link() -> None:
    assert link_verdict(link(loss=0.01), measured(0, lost(60, dropped_by_receiver=40))) is None


def test_each_direction_is_judged_by_itself() -> None:
    asked = Link(host="camera", network="lan", outgoing=Direction(loss=0.1), offloads=False)
    assert link_verdict(asked, measured(0, lost(200), lost(0))) is None
    assert str(link_verdict(asked, measured(0, lost(200), lost(3)))).startswith("of 2000 incoming frames 3 were lost")


@pytest.mark.parametrize(("count", "holds"), [(20, True), (0, False), (5, False), (8, True), (36, True), (40, False)])
def test_copies_are_within_what_chance_makes_of_a_duplication(count: int, *, holds: bool) -> None:
    said = link_verdict(link(duplication=0.01), measured(0, train(duplicates=count)))
    assert (said is None) is holds
    assert holds or f"of 2000 outgoing frames {count} came twice; with 1 % it should be 7 to 36" in str(said)


def test_copies_that_nobody_asked_for_are_not_of_the_link_that_was_asked() -> None:
    assert "came twice" in str(link_verdict(link(loss=0.01), measured(0, train(lost=20, duplicates=1))))


def test_no_copy_comes_of_what_is_lost_or_damaged() -> None:
    asked = link(duplication=0.5, loss=0.3, corruption=0.2)
    assert link_verdict(asked, measured(0, train(lost=880, duplicates=560))) is None
    assert link_verdict(asked, measured(0, train(lost=880, duplicates=1000))) is not None


@pytest.mark.parametrize(
    ("asked", "counted"),
    [("duplication", "duplicates"), ("loss", "lost")],
)
@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_a_link_that_is_as_requested_is_refused_at_most_once_in_a_thousand_probes(
    asked: str, counted: str, share: float
) -> None:
    one_way = Link(host="camera", network="lan", outgoing=Direction.model_validate({asked: share}), offloads=False)
    accepted = [
        count
        for count in range(round(6000 * share) + 30)
        if link_verdict(one_way, measured(0, train(**{counted: count}), train())) is None
    ]
    assert 0.999 <= sum(binom.pmf(count, 2000, share) for count in accepted) < 1
    assert len(accepted) < round(6000 * share) + 30


def overtaking(share: float, interval_ns: int, trains: int) -> list[int]:
    """Of trains of 2000 over a link of 10 ms, by the instants at which each frame arrives."""
    generator = np.random.default_rng(7)
    skips = generator.random((trains, 2000)) < share
    arrivals = np.arange(2000) * interval_ns + np.where(skips, 0, 10 * MS)
    order = np.argsort(arrivals, axis=1, kind="stable")
    lowest_later = np.minimum.accumulate(order[:, ::-1], axis=1)[:, ::-1]
    return [int(count) for count in (order[:, :-1] > lowest_later[:, 1:]).sum(axis=1)]


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("interval_ns", [100_000, 190_000])
def test_frames_that_overtake_are_within_what_chance_makes_of_a_reordering(share: float, interval_ns: int) -> None:
    one_way = Direction(delay_ns=10 * MS, reordering=share)
    asked = Link(host="camera", network="lan", outgoing=one_way, offloads=False)
    said = [
        link_verdict(asked, measured(10 * MS if share < 0.5 else 0, train(overtaking=count), train()))
        for count in overtaking(share, interval_ns, 200)
    ]
    assert sum(each is not None for each in said) <= 1
    for wrong in (0, min(round(3000 * share) + 20, 2000)):
        found = measured(10 * MS if share < 0.5 else 0, train(overtaking=wrong), train())
        assert f"of 2000 outgoing frames {wrong} overtook others" in str(link_verdict(asked, found))


def test_frames_that_overtake_unasked_are_not_of_the_link_that_was_asked() -> None:
    assert "1 overtook others" in str(link_verdict(link(loss=0.01), measured(0, train(lost=20, overtaking=1))))


def test_with_a_delay_shorter_than_the_interval_no_frame_has_to_overtake() -> None:
    asked = link(delay_ns=MS // 10, reordering=0.1)
    assert link_verdict(asked, measured(0, train(overtaking=0))) is None
    assert link_verdict(asked, measured(0, train(overtaking=300))) is not None


def test_a_dead_link_is_no_link() -> None:
    assert link_verdict(link(), measured(None, reachable=False)) == "no reply from the other end"
    assert link_verdict(link(), measured(None)) == "no ping was answered"


def test_a_probe_that_could_not_offer_the_rate_says_nothing_of_the_link() -> None:
    asked = link(rate_bits_per_s=1_000_000_000)
    disturbed = DirectionMeasured(rate_bits_per_s=6e8, offered_bits_per_s=6e8)
    said = link_verdict(asked, measured(100_000, disturbed))
    assert said is not None
    assert "the outgoing rate is unknown" in said
    assert "the probe had too little CPU time and offered only 600 Mbit/s, requested: 1 Gbit/s" in said
    assert "the outgoing rate is 600 Mbit/s" in str(
        link_verdict(asked, measured(100_000, DirectionMeasured(rate_bits_per_s=6e8, offered_bits_per_s=1.2e9)))
    )


@pytest.mark.parametrize(
    ("reordering", "round_trip_ms", "holds"),
    [(0.1, 20, True), (0.1, 0, False), (0.5, 20, False), (0.5, 10, True), (0.5, 0, False), (0.9, 0, True)],
)
def test_where_most_frames_overtake_a_median_is_of_those(reordering: float, round_trip_ms: int, *, holds: bool) -> None:
    said = link_verdict(link(delay_ns=10 * MS, reordering=reordering), measured(round_trip_ms * MS))
    assert (said is None) is holds


def carrying(rate: float, offered: float) -> DirectionMeasured:
    return DirectionMeasured(rate_bits_per_s=rate, offered_bits_per_s=offered, loss=lost(0).loss)


def test_of_a_route_only_what_is_declared_is_judged() -> None:
    found = measured(50 * MS, train(lost=900, duplicates=50, overtaking=700), spread_ns=30 * MS)
    assert route_verdict(link(), found) is None
    assert str(route_verdict(link(delay_ns=MS), found)).startswith("the round trip takes 50 ms, requested: 2 ms")
    assert str(route_verdict(link(loss=0.01), found)).startswith("of 2000 outgoing frames 900 were lost")
    assert "outgoing loss is unknown" in str(route_verdict(link(loss=0.01), measured(MS)))


def test_a_routes_rate_is_judged_and_a_slow_sender_is_named() -> None:
    declared = link(rate_bits_per_s=10**9)
    assert route_verdict(declared, measured(MS, carrying(0.98e9, 1.2e9))) is None
    assert route_verdict(declared, measured(MS, carrying(0.1e9, 1.2e9), carrying(1e9, 1.2e9))) == (
        "the outgoing rate is 100 Mbit/s, declared: 1 Gbit/s (± 5%)"
    )
    slow = str(route_verdict(declared, measured(MS, carrying(0.1e9, 0.1e9), carrying(1e9, 1.2e9))))
    assert slow.endswith("; the sender could offer no more than 100 Mbit/s")


def test_a_route_without_an_answer_is_no_route() -> None:
    assert "no reply from the other end" in str(route_verdict(link(), measured(None, reachable=False)))
    assert route_verdict(link(), measured(None)) == "no ping was answered"
