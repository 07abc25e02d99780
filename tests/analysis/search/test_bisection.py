"""The search of a capacity finds what is true in few trials, and one disturbed trial decides nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.search.bisection import Limit, StepTrials, bracket, next_step
from middlemark.plan.experiment import Search

SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)


def searched(truth: int, noise: float, rng: np.random.Generator) -> tuple[dict[int, StepTrials], int]:
    """A search whose trials tell the truth but for a share of them."""
    steps: dict[int, StepTrials] = {}
    for n_trials in range(SEARCH.max_trials + 1):
        step = next_step(SEARCH, steps, n_trials)
        if step is None:
            return steps, n_trials
        tried = steps.setdefault(step, StepTrials())
        if (step <= truth) != (rng.random() < noise):
            tried.sustained += 1
        else:
            tried.limits[Limit.LOSS] += 1
    raise AssertionError("it went beyond its most trials")


@given(st.integers(-1, 200))
def test_without_noise_the_bracket_is_the_truth_and_confirmed(truth: int) -> None:
    steps, n_trials = searched(truth, 0.0, np.random.default_rng(1))
    last = SEARCH.last_step
    below, above = bracket(steps)
    assert below == (None if truth < 0 else min(truth, last))
    assert above == (None if truth >= last else truth + 1)
    assert all(steps[end].decided(SEARCH.confirm) for end in (below, above) if end is not None)
    assert n_trials <= 24


def test_one_trial_in_twenty_that_errs_seldom_moves_the_bracket() -> None:
    rng = np.random.default_rng(5)
    exact = [bracket(searched(truth, 0.05, rng)[0])[0] == truth for truth in range(20, 120) for _ in range(10)]
    assert np.mean(exact) > 0.88
