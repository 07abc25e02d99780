"""Requirements are met or missed only where their interval says so, and ranks tell apart only what is told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.estimate import Estimate, Method, no_estimate
from middlemark.analysis.fitness import Check, Judgement, Requirement, Use, judged_loss, judged_worst, ranked, tightest
from middlemark.suite import StreamDemand

MET, MISSED, OPEN = Judgement.MET, Judgement.MISSED, Judgement.CANNOT_TELL


def stream(topic: str, deadline: str = "10 ms") -> StreamDemand:
    return StreamDemand.model_validate(
        {"topic": topic, "publishers": "a", "subscribers": "b", "size": "64 B", "rate": "1 Hz", "deadline": deadline}
    )


def estimate(value: float, low: float | None, high: float | None, trials: int = 6) -> Estimate:
    return Estimate(value, low, high, 0.95, trials, 1000, Method.MEDIAN_OF_TRIALS)


@pytest.mark.parametrize(
    ("found", "allowed", "judgement"),
    [
        (estimate(0.0, 0.0, 0.0), 0.0, MET),
        (estimate(0.0, 0.0, 0.02), 0.01, MET),
        (estimate(0.0001, 0.0, 0.001), 0.0, MISSED),
        (estimate(0.002, 0.001, 0.004), 0.01, MET),
        (estimate(0.008, 0.004, 0.02), 0.01, OPEN),
        (estimate(0.03, 0.02, 0.04), 0.01, MISSED),
        (estimate(0.0, None, None, 1), 0.01, MET),
        (estimate(0.002, None, None, 1), 0.01, OPEN),
        (no_estimate("nothing was sent"), 0.01, OPEN),
    ],
)
def test_loss_is_judged_by_its_interval_and_none_allowed_by_a_single_message(
    found: Estimate, allowed: float, judgement: Judgement
) -> None:
    assert judged_loss(found, allowed) is judgement


def test_where_all_have_a_deadline_one_late_message_decides() -> None:
    assert judged_worst(estimate(10.1, 3, 10.1), 10) is MISSED
    assert judged_worst(estimate(9.9, 3, 9.9), 10) is MET


def test_the_tightest_stream_uses_most_of_its_deadline_and_the_interval_is_of_the_most_that_any_uses() -> None:
    checks = [
        Check(stream("a"), Requirement.DEADLINE, MET, estimate(5e6, 4e6, 9e6)),
        Check(stream("b", "1 ms"), Requirement.DEADLINE, MET, estimate(0.6e6, 0.5e6, 0.7e6)),
        Check(stream("c"), Requirement.LOSS, MET, estimate(0, 0, 0)),
    ]
    use = tightest(checks)
    assert use is not None
    assert (use.stream.topic, use.value, use.low, use.high) == ("b", 0.6, 0.5, 0.9)


def test_without_an_interval_nothing_is_told_apart() -> None:
    one, many = Use(stream("a"), 0.1, None, None), Use(stream("a"), 0.9, 0.8, 1.0)
    assert [place.rank for place in ranked({"x": one, "y": many, "z": None})] == [1, 1, 1]


ENDS = st.tuples(st.floats(0.001, 1), st.floats(0.001, 1)).map(sorted)
USES = st.lists(ENDS, min_size=1, max_size=8).map(
    lambda ends: {f"m{n}": Use(stream("a"), (low + high) / 2, low, high) for n, (low, high) in enumerate(ends)}
)


@given(USES)
def test_ranks_follow_certain_differences_alone(uses: dict[str, Use]) -> None:
    places = {place.key: place for place in ranked(uses)}
    assert min(place.rank for place in places.values()) == 1
    for name, use in uses.items():
        better = [n for n, other in uses.items() if (other.high or 0) < (use.low or 0)]
        assert places[name].rank == 1 + len(better)
        for other in places[name].tied_with:
            assert name in places[other].tied_with
            assert not uses[other].is_surely_less_than(use)
            assert not use.is_surely_less_than(uses[other])


@given(USES, st.randoms())
def test_the_order_of_candidates_changes_no_rank(uses: dict[str, Use], rng: object) -> None:
    names = list(uses)
    rng.shuffle(names)  # type: ignore[attr-defined]
    again = {place.key: place.rank for place in ranked({name: uses[name] for name in names})}
    assert again == {place.key: place.rank for place in ranked(uses)}


@given(USES)
def test_lines_stand_in_the_order_of_their_ranks(uses: dict[str, Use]) -> None:
    ranks = [place.rank for place in ranked(uses)]
    assert ranks == sorted(ranks)
