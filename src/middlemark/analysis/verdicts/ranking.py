"""Which of several candidates is best: ranks as intervals that hold together, so that a table errs in 5 % of cases.

All pairs are tested, for their values and their setbacks, under Holm's procedure (Scandinavian J. of Statistics 6,
1979), and a rank reaches from one more than the number of those significantly better to the number of those not
significantly worse (Mohamad, Goeman & van Zwet, arXiv:1708.02729, 2018). The best is who alone is left without those
significantly behind another (multiple comparison with the best: Hsu, Annals of Statistics 12, 1984); `difference`
tests a pair.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.difference import FEWEST_BLOCKS, Difference, NoDifference, ratio, ratio_of_pooled
from middlemark.analysis.verdicts.judge import (
    MARGIN,
    Setbacks,
    Significant,
    Verdict,
    judge_difference,
    p_value_of_setbacks,
)
from middlemark.analysis.verdicts.values import BlockValues, PooledValue

K = TypeVar("K", bound=Hashable)
_VALUES, _SETBACKS = "values", "setbacks"
"""The two tests of a pair: of its values, and of how often each could not keep up."""


@dataclass(frozen=True)
class Candidate:
    """One of those to rank."""

    block_values: BlockValues
    """What it is ranked by, by block."""
    value: float
    """The value that is shown, by which lines are ordered."""
    setbacks: Setbacks = Setbacks()  # noqa: RUF009 - frozen
    whole: PooledValue | None = None
    """Of all trials' messages together, where single trials have too few."""


@dataclass(frozen=True)
class Rank(Generic[K]):
    """A rank as an interval."""

    key: K
    first: int
    """One more than the number of those that are significantly better."""
    last: int
    """The number of those that are not significantly worse."""
    behind: tuple[K, ...] = ()
    """Those that are significantly better."""
    tied_with: tuple[K, ...] = ()
    """Those that are neither significantly better nor significantly worse."""

    @property
    def text(self) -> str:
        """`1`, or `2-5`."""
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


def ranking(candidates: Mapping[K, Candidate], *, lower_is_better: bool, margin: float = MARGIN) -> list[Rank[K]]:
    """The rank of each, in the order of the values that are shown."""
    better = _significantly_better(candidates, lower_is_better=lower_is_better, margin=margin)
    n = len(candidates)
    ranks = [
        Rank(
            key=key,
            first=1 + sum(worse == key for _, worse in better),
            last=n - sum(ahead == key for ahead, _ in better),
            behind=tuple(ahead for ahead, worse in better if worse == key),
            tied_with=tuple(
                other for other in candidates if other != key and not {(other, key), (key, other)} & better
            ),
        )
        for key in candidates
    ]
    sign = 1 if lower_is_better else -1
    return sorted(ranks, key=lambda rank: sign * candidates[rank.key].value)


def _significantly_better(
    candidates: Mapping[K, Candidate], *, lower_is_better: bool, margin: float
) -> set[tuple[K, K]]:
    """Pairs of which the first is significantly better than the second."""
    pairs = list(combinations(candidates, 2))
    of_values, of_setbacks = _p_values_of_ratios(candidates, pairs), _p_values_of_setbacks(candidates, pairs)
    significant = holm(
        {(_VALUES, pair): p_value for pair, p_value in of_values.items()}
        | {(_SETBACKS, pair): p_value for pair, p_value in of_setbacks.items()}
    )

    def better(pair: tuple[K, K], *, is_significant: bool) -> tuple[K, K] | None:
        verdict = judge_difference(
            _ratio(candidates, pair, CONFIDENCE),
            lower_is_better=lower_is_better,
            margin=margin,
            setbacks=(candidates[pair[0]].setbacks, candidates[pair[1]].setbacks),
            significant=Significant(values=is_significant, setbacks=(_SETBACKS, pair) in significant),
        ).verdict
        return {Verdict.BETTER: (pair[1], pair[0]), Verdict.WORSE: pair}.get(verdict)

    decided = (better(pair, is_significant=(_VALUES, pair) in significant) for _, pair in significant)
    better_pairs = {ordered for ordered in decided if ordered is not None}
    allowed = 2 * (1 - CONFIDENCE) / max(len(candidates) - 1, 1)  # one side of the test, of as many as it has rivals
    behind = (better(pair, is_significant=True) for pair, p_value in of_values.items() if p_value <= allowed)
    left = candidates.keys() - {ordered[1] for ordered in (*better_pairs, *behind) if ordered is not None}
    if len(left) == 1 and len(candidates) > 1:
        best = next(iter(left))
        better_pairs |= {(best, other) for other in candidates if other != best}
    return better_pairs


def _p_values_of_ratios(candidates: Mapping[K, Candidate], pairs: list[tuple[K, K]]) -> dict[tuple[K, K], float]:
    confidence = 1 - (1 - CONFIDENCE) / max(len(pairs), 1)
    ratios = {pair: _ratio(candidates, pair, confidence) for pair in pairs}
    p_values = {pair: difference.p_value for pair, difference in ratios.items() if isinstance(difference, Difference)}
    return {pair: p_value for pair, p_value in p_values.items() if p_value is not None}


def _p_values_of_setbacks(candidates: Mapping[K, Candidate], pairs: list[tuple[K, K]]) -> dict[tuple[K, K], float]:
    p_values = {(a, b): p_value_of_setbacks(candidates[a].setbacks, candidates[b].setbacks) for a, b in pairs}
    return {pair: p_value for pair, p_value in p_values.items() if p_value is not None}


def _ratio(candidates: Mapping[K, Candidate], pair: tuple[K, K], confidence: float) -> Difference | NoDifference:
    """Of the second to the first: block by block, or where there are no values a block, of all messages."""
    candidate, rival = candidates[pair[0]], candidates[pair[1]]
    first, second = candidate.block_values.finite, rival.block_values.finite
    if candidate.whole and rival.whole and len(first.low.keys() & second.low.keys()) < FEWEST_BLOCKS:
        return ratio_of_pooled(candidate.whole, rival.whole, confidence=confidence)
    return ratio(first, second, paired=True, confidence=confidence)


def holm(p_values: Mapping[K, float], error: float = 1 - CONFIDENCE) -> set[K]:
    """Those that are significant when no more than so many tables may have one that is not."""
    significant: set[K] = set()
    for number, (key, p_value) in enumerate(sorted(p_values.items(), key=lambda pair: pair[1])):
        if p_value > error / (len(p_values) - number):
            break
        significant.add(key)
    return significant
