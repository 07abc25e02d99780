"""The conditions under which a gate fails, such as `p99(latency) > +5 %`, and the judgement of each.

The judged statement is that the change stays within its bound: it holds (the condition passed), is refuted (it failed),
or is undecided; so neither noise nor missing trials pass or fail a gate. `compare` makes the comparisons, `verdicts`
judges them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.metrics import MetricComparison, compare_metrics
from middlemark.analysis.compare.pairing import Pair
from middlemark.analysis.verdicts.bounds import BoundResult, judge_against_bound
from middlemark.analysis.verdicts.difference import Lacks, NoDifference
from middlemark.analysis.verdicts.judge import Judgement, ReasonedJudgement, judge_change
from middlemark.errors import UsageError
from middlemark.suite import bound_of
from middlemark.suite.metrics import Metric, metric_named

EXAMPLES = "`p99(latency) > +5 %`, `goodput < -10 %`, `loss > +0.1 pp`, `median(round_trip) > 200 µs`"
_WRITTEN = re.compile(r"\s*(?P<metric>[^<>]+?)\s*(?P<side>[<>])\s*(?P<sign>[+-]?)\s*(?P<bound>[^<>+-]+?)\s*")
_POINTS = re.compile(r"(?P<number>\d+(\.\d+)?)\s*pp")
_PERCENT = re.compile(r"(?P<number>\d+(\.\d+)?)\s*%")


@dataclass(frozen=True)
class Condition:
    """A condition under which a change is not accepted."""

    text: str
    metric: Metric
    above: bool
    """Whether the gate fails above the bound, not below it."""
    of_change: bool
    """Whether the bound is a change of head against base, not a value of head alone."""
    bound: float
    """A relative change, for shares a difference; or a value in the unit at the end of the metric's name."""


@dataclass(frozen=True)
class JudgedCondition:
    """A condition applied to one metric of one pair."""

    condition: Condition
    compared: MetricComparison
    result: ReasonedJudgement
    """Whether the change stays within the bound."""
    against: BoundResult | None = None
    """Where head alone is compared with a bound: its value with the interval that decides."""

    @property
    def lacks(self) -> Lacks | None:
        """What there is too little of to decide about a change."""
        difference = self.compared.difference
        is_open = self.condition.of_change and self.result.judgement is Judgement.UNDECIDED
        return difference.lacks if is_open and isinstance(difference, NoDifference) else None


def parse_condition(written: str) -> Condition:
    """Read a condition; what can't be read is refused with examples."""
    parts = _WRITTEN.fullmatch(written)
    if parts is None:
        raise UsageError(f"`{written}` is no condition", remedy=f"as in {EXAMPLES}")
    metric = metric_named(parts["metric"])
    of_change = bool(parts["sign"])
    read = _change(parts["bound"], metric) if of_change else bound_of(metric.dimension, parts["bound"])
    if read is None:
        example = _bound_example(metric, of_change=of_change)
        raise UsageError(f"`{written}`: `{parts['bound']}` is no bound of {metric.name}", remedy=f"write {example}")
    sign = -1 if parts["sign"] == "-" else 1
    return Condition(" ".join(written.split()), metric, parts["side"] == ">", of_change, sign * read)


def _change(written: str, metric: Metric) -> float | None:
    matched = (_POINTS if metric.is_share else _PERCENT).fullmatch(written)
    return float(matched["number"]) / 100 if matched else None


def _bound_example(metric: Metric, *, of_change: bool) -> str:
    if of_change:
        return "`+0.1 pp`, percentage points" if metric.is_share else "a relative change, such as `+5 %`"
    return f"a value, such as `{metric.dimension.example}`, or a change with its sign"


def judge_conditions(pairs: Sequence[Pair], conditions: Sequence[Condition]) -> tuple[JudgedCondition, ...]:
    """Applies every condition to every pair and stream that has its metric."""
    return tuple(
        _gated(comparison, condition)
        for condition in conditions
        for comparison in compare_metrics(pairs, [condition.metric], margin=0.0)
    )


def _gated(comparison: MetricComparison, condition: Condition) -> JudgedCondition:
    if condition.of_change:
        bound = condition.bound if condition.metric.is_share else 1 + condition.bound
        lower, setbacks = condition.metric.lower_is_better, comparison.setbacks
        result = judge_change(
            comparison.difference, bound, above=condition.above, lower_is_better=lower, setbacks=setbacks
        )
        return JudgedCondition(condition, comparison, result)
    head = comparison.pair.sides[1].evidence(condition.metric, comparison.stream)
    tested = judge_against_bound(head, condition.bound, above=not condition.above)
    return JudgedCondition(condition, comparison, tested.result, tested)
