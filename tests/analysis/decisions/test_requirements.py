"""Requirements are met or missed only where their interval says so, and ranks tell apart only what is told apart."""

import pytest

from middlemark.analysis.decisions.requirements import Check, Requirement, judge_loss, tightest_use, use_by_block
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.verdicts.bounds import Evidence
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.analysis.verdicts.values import BlockValues
from middlemark.suite import StreamDemand

MET, MISSED, OPEN = Judgement.HOLDS, Judgement.REFUTED, Judgement.UNDECIDED


def stream(topic: str, deadline: str = "10 ms") -> StreamDemand:
    return StreamDemand.model_validate(
        {"topic": topic, "publishers": "a", "subscribers": "b", "size": "64 B", "rate": "1 Hz", "deadline": deadline}
    )


def estimate(value: float, low: float | None, high: float | None, trials: int = 6) -> Estimate:
    return Estimate(value, low, high, 0.95, trials, 1000, Method.MEDIAN_OF_TRIALS)


def losing(events: list[int], size: int) -> Evidence:
    counts = {block: (n, size) for block, n in enumerate(events)}
    values = {block: n / size for block, n in enumerate(events)}
    return Evidence(block_values=BlockValues(values), counts=counts, is_share=True)


@pytest.mark.parametrize(
    ("events", "size", "allowed", "judgement"),
    [
        ([0, 0, 0], 1000, 0.0, MET),
        ([0, 0, 0], 1000, 0.01, MET),
        ([0, 0, 0], 100, 0.01, OPEN),
        ([0, 1, 0], 1000, 0.0, MISSED),
        ([20, 18, 22], 10_000, 0.01, MET),
        ([5, 12, 8], 1000, 0.01, OPEN),
        ([300, 280, 320], 10_000, 0.01, MISSED),
        ([0], 1000, 0.01, OPEN),
        ([20], 10_000, 0.01, OPEN),
        ([], 1, 0.01, OPEN),
    ],
)
def test_loss_is_judged_by_its_interval_and_none_allowed_by_a_single_message(
    events: list[int], size: int, allowed: float, judgement: Judgement
) -> None:
    assert judge_loss(losing(events, size), allowed).result.judgement is judgement


def test_the_tightest_stream_is_the_one_that_uses_most_of_its_deadline() -> None:
    checks = [
        Check(stream("a"), Requirement.DEADLINE, MET, estimate(5e6, 4e6, 9e6)),
        Check(stream("b", "1 ms"), Requirement.DEADLINE, MET, estimate(0.6e6, 0.5e6, 0.7e6)),
        Check(stream("c"), Requirement.LOSS, MET, estimate(0, 0, 0)),
    ]
    use = tightest_use(checks)
    assert use is not None
    assert (use.stream.topic, use.value, use.low, use.high) == ("b", 0.6, 0.5, 0.9)


def test_streams_with_values_of_their_own_in_every_trial_give_a_use_a_trial() -> None:
    checks = (
        Check(stream("a"), Requirement.DEADLINE, MET, estimate(5e6, 4e6, 6e6), by_block={1: 5e6, 2: 4e6}),
        Check(stream("b", "1 ms"), Requirement.DEADLINE, MET, estimate(4e5, 3e5, 5e5), by_block={1: 4e5, 2: 6e5}),
    )
    assert use_by_block(checks, {}).low == {1: 0.5, 2: 0.6}
    assert use_by_block((), {}).low == {}
