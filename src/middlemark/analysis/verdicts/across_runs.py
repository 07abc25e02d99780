"""By how much one run differs from several runs of the base: the run is the unit, as the machine changes between runs.

The head is compared with what a next run of the base would be, by Student's prediction interval from k runs (Hahn &
Meeker, "Statistical intervals", 1991, §4.7; runs as the top level of variance: Kalibera & Jones, ISMM'13).
`difference` compares by the trials of one run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.stats.intervals import CONFIDENCE, share_interval, student
from middlemark.analysis.verdicts.bounds import TOO_FEW, Evidence
from middlemark.analysis.verdicts.difference import (
    FEWEST_BLOCKS,
    Difference,
    Lacks,
    NoDifference,
    Test,
    difference_between_bounds,
    share_with_interval,
)
from middlemark.analysis.verdicts.judge import NO_SETBACKS, Setbacks, SetbacksPair
from middlemark.analysis.verdicts.values import BlockValues, ShareCounts, Values, from_logarithm

FEWEST_RUNS = 3
"""Two runs that agree by chance would suggest that runs don't differ."""
TOO_FEW_RUNS = NoDifference(
    f"fewer than {FEWEST_RUNS} runs of the base have this experiment: how much runs differ without any change is "
    f"unknown (give {FEWEST_RUNS} or more, or measure both in alternation with `run --against`)",
    Lacks.RUNS,
)
OF_TWO_KINDS = "some runs have it for single trials, others pooled over all trials' messages: not the same metric"


def difference_to_next_run(
    runs: Sequence[Evidence], head: Evidence, *, confidence: float = CONFIDENCE
) -> Difference | NoDifference:
    """The head's value against that of a next run of the base, from the runs that have a value."""
    if len(runs) < FEWEST_RUNS:
        return TOO_FEW_RUNS
    lacking = [run for run in runs if not run.has_values]
    runs, n_runs = [run for run in runs if run.has_values], len(runs)
    if len(runs) < FEWEST_RUNS:
        return _too_few_values(lacking, n_runs)
    if head.is_share:
        return _difference_of_shares([run.counts for run in runs], head.counts, confidence)
    estimates = [evidence.estimate for evidence in (*runs, head)]
    if len({estimate.method for estimate in estimates if estimate is not None}) > 1:
        return NoDifference(OF_TWO_KINDS)
    n_trials = [estimate.n_trials for estimate in estimates if estimate is not None]
    base = _together([_of_run(run) for run in runs])
    exact = partial(_ratio, fewer=_fewer(n_trials[:-1], n_trials[-1]), confidence=confidence)
    head_values = _of_run(head)
    return (
        exact(base.low, head_values.low)
        if base.is_exact and head_values.is_exact
        else difference_between_bounds(base, head_values, exact)
    )


def _too_few_values(lacking: Sequence[Evidence], n_runs: int) -> NoDifference:
    why = "; ".join(dict.fromkeys(run.missing for run in lacking))
    return NoDifference(
        f"{len(lacking)} of {n_runs} runs of the base have no value ({why}), and {FEWEST_RUNS} with one are needed",
        Lacks.VALUES,
    )


def _of_run(evidence: Evidence) -> BlockValues:
    """A run's one value, the one that is shown of it; or the two that it lies between."""
    estimate, values = evidence.estimate, evidence.block_values
    if estimate is not None and estimate.value is not None and estimate.is_pooled:
        off = estimate.bound_ns
        return BlockValues({0: estimate.value - off}, {0: estimate.value + off} if off else None)
    low, high = (float(np.median(list(side.values()))) for side in (values.low, values.upper))
    return BlockValues({0: low}, None if values.is_exact else {0: high})


def _together(runs: Sequence[BlockValues]) -> BlockValues:
    """The number of a run in the place of a block."""
    low = {number: values.low[0] for number, values in enumerate(runs)}
    high = {number: values.upper[0] for number, values in enumerate(runs)}
    return BlockValues(low, None if low == high else high)


def _fewer(n_of_runs: Sequence[int], n_head: int) -> float:
    """How many times the variance of a run of the base the head's may have, as it has fewer trials."""
    usual = len(n_of_runs) / sum(1 / n for n in n_of_runs)
    return max(1.0, usual / n_head)


def _ratio(runs: Values, head: Values, *, fewer: float, confidence: float) -> Difference | NoDifference:
    if min(*runs.values(), *head.values()) <= 0:
        return NoDifference("a value that is not positive has no ratio")
    run_logs, head_logs = (np.log(list(side.values())) for side in (runs, head))
    k, spread = len(run_logs), float(np.std(run_logs, ddof=1))
    error = spread * math.sqrt(fewer + 1 / k)
    value, low, high, p_value = student(float(head_logs[0] - run_logs.mean()), error, k - 1, confidence)
    return Difference(
        value=from_logarithm(value),
        low=from_logarithm(low),
        high=from_logarithm(high),
        n_first=k,
        n_second=1,
        is_ratio=True,
        test=Test.NEXT_RUN,
        p_value=p_value,
    )


def _difference_of_shares(
    runs: Sequence[ShareCounts], head: ShareCounts, confidence: float
) -> Difference | NoDifference:
    """The base's interval has runs in the place of trials; the head's is widened by how far runs' logits scatter.

    Both make one of the difference (MOVER: Zou & Donner 2008), as `difference_of_shares` does.
    """
    if len(head) < FEWEST_BLOCKS:
        return NoDifference(TOO_FEW)
    events, sizes = (np.array(side, dtype=np.int64) for side in zip(*map(_pooled, runs), strict=True))
    before = float(events.sum() / sizes.sum())
    low_before, high_before = (float(end) for end in share_interval(events, sizes, confidence, 1))
    after, low_after, high_after = _widened(head, _logits(events, sizes), confidence)
    down = math.hypot(after - low_after, high_before - before)
    up = math.hypot(high_after - after, before - low_before)
    value = after - before
    return Difference(value, value - down, value + up, len(runs), 1, is_ratio=False, test=Test.NEXT_SHARE)


def _pooled(counts: ShareCounts) -> tuple[int, int]:
    return sum(events for events, _ in counts.values()), sum(size for _, size in counts.values())


def _logits(events: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Empirical logits, which exist for a share of 0 too (Haldane 1956, Anscombe 1956)."""
    return np.log((events + 0.5) / (sizes - events + 0.5))


def _widened(head: ShareCounts, runs: NDArray[np.float64], confidence: float) -> tuple[float, float, float]:
    """The head's share with its interval by its own trials, and beyond that by how runs scatter."""
    share, low, high = share_with_interval(head, confidence, max_weight=1)
    event, size = _pooled(head)
    middle = float(_logits(np.array([event]), np.array([size]))[0])
    reach = float(scipy.special.stdtrit(len(runs) - 1, (1 + confidence) / 2)) * float(np.std(runs, ddof=1))

    def end(limit: float, sign: int) -> float:
        if limit in {0.0, 1.0}:
            return limit
        widened = math.hypot(float(scipy.special.logit(limit)) - middle, reach)
        return float(scipy.special.expit(middle + sign * widened))

    return share, min(low, end(low, -1)), max(high, end(high, 1))


def estimate_over_runs(runs: Sequence[Evidence]) -> Estimate | None:
    """What is shown of several runs: the geometric mean of their estimates, or the share of all messages."""
    estimates = [run.estimate for run in runs if run.estimate is not None and run.estimate.value is not None]
    if len(runs) == 1 or not estimates:
        return runs[-1].estimate
    with np.errstate(divide="ignore"):  # of a value of 0 the mean is 0
        value = float(np.exp(np.mean(np.log([estimate.value for estimate in estimates if estimate.value is not None]))))
    if runs[-1].is_share:
        events, size = map(sum, zip(*(_pooled(run.counts) for run in runs), strict=True))
        value = events / size
    n_trials, n_messages = (
        sum(estimate.n_trials for estimate in estimates),
        sum(estimate.n_messages for estimate in estimates),
    )
    return Estimate(value, None, None, None, n_trials, n_messages, Method.MEAN_OF_RUNS)


def setbacks_over_runs(runs: Sequence[Setbacks], head: Setbacks) -> SetbacksPair:
    """Those of the base's run that had most, beside the head's; of too few runs only that the head never works."""
    if len(runs) < FEWEST_RUNS and not (head.share == 1 and all(run.share == 0 for run in runs)):
        return NO_SETBACKS
    return max(runs, key=lambda setbacks: setbacks.share), head
