"""How often 95 % intervals hold what they are of: of medians, pooled quantiles and shares, as tables in Markdown.

    PYTHONPATH=src:tests python bench/coverage.py [REPEATS [LEVEL … | shares | lossy]]

Trials are drawn from populations whose quantiles and shares are known (`tests/populations.py`); simulation error is
0.5 points at the usual 2000 repeats. Of quantiles it gives the range over the shapes of populations.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from middlemark.analysis.condensed import Condensed, condensed, whole
from middlemark.analysis.estimate import Estimate, quantile_of_trials, share_of_trials
from middlemark.analysis.quantile import Measured, Samples
from populations import SHAPES, drawn_events, drawn_times_ns, true_quantile_ns

LEVELS = (0.5, 0.9, 0.99, 0.999)
TRIALS = (3, 6, 10, 30)
SPREADS = (0.0, 0.05, 0.2, 0.5)
LEAST, EACH = 11, 4
"""Messages expected beyond a quantile: of all trials together, hardly more than are needed; of each trial, too few."""
SHARES = (0.001, 0.01, 0.1, 0.5)
EVENTS = (2, 20, 200)
LOST_OF_TAIL = (0.0, 0.25, 0.5)
"""Of the messages beyond a quantile the share that was lost, the others being slow."""
LOST_APART = 0.5
"""The coefficient of variation of trials' losses."""
VARIATIONS = (0.0, 0.2, 0.5, 1.0)


def quantile_held(  # noqa: PLR0913, PLR0917 - all that makes a simulation
    level: float, n_trials: int, beyond: float, spread: float, shape: str, repeats: int, lost_of_tail: float = 0.0
) -> float:
    """Of quantiles that no trial supports alone; of the messages beyond them a share was lost."""
    messages = math.ceil(beyond / (1 - level))
    rng = np.random.default_rng([n_trials, messages, round(100 * spread)])
    loss = lost_of_tail * (1 - level)
    true_ns = true_quantile_ns(shape, spread, level / (1 - loss))
    held = 0
    for _ in range(repeats):
        lost = drawn_events(rng, loss, LOST_APART, n_trials, messages) if loss else np.zeros(n_trials, dtype=np.int64)
        times = drawn_times_ns(rng, shape, spread, n_trials, messages)
        trials = [_losing(rng, each, int(n)) for each, n in zip(times, lost, strict=True)]
        own = [each.quantile(level) for each in trials]
        held += _holds(quantile_of_trials(own, [condensed(each) for each in trials], level), true_ns)
    return held / repeats


def _losing(rng: np.random.Generator, times: Samples, n: int) -> Condensed:
    return whole(np.sort(rng.permutation(times)[n:]), lost=n) if n else whole(times)


def share_held(share: float, n_trials: int, messages: int, variation: float, repeats: int) -> float:
    rng = np.random.default_rng([n_trials, messages, round(10 * variation)])
    held = 0
    for _ in range(repeats):
        events = drawn_events(rng, share, variation, n_trials, messages)
        held += _holds(share_of_trials([Measured(each / messages, messages) for each in events.tolist()]), share)
    return held / repeats


def _holds(found: Estimate, true: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= true <= found.high


def quantiles(levels: Sequence[float], repeats: int) -> None:
    print("| quantile | trials | beyond it | " + " | ".join(f"spread {spread:.0%}" for spread in SPREADS) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(SPREADS))
    settings = [(level, n, beyond) for level, n in product(levels, TRIALS) for beyond in (LEAST / n, EACH)]
    with ProcessPoolExecutor() as pool:
        waiting = [
            [[pool.submit(quantile_held, *each, spread, shape, repeats) for shape in SHAPES] for spread in SPREADS]
            for each in settings
        ]
        for (level, n, beyond), row in zip(settings, waiting, strict=True):
            found = [[100 * each.result() for each in shapes] for shapes in row]
            spans = " | ".join(f"{min(each):.1f}–{max(each):.1f}" for each in found)
            print(f"| p{100 * level:g} | {n} | {n * beyond:.0f} | {spans} |", flush=True)


def lossy(repeats: int) -> None:
    print("\n| quantile | trials | " + " | ".join(f"{lost:.0%} of the tail lost" for lost in LOST_OF_TAIL) + " |")
    print("| --- | ---: |" + " ---: |" * len(LOST_OF_TAIL))
    settings = list(product((0.99, 0.999), (6, 10, 20)))
    with ProcessPoolExecutor() as pool:
        waiting = [
            [
                [pool.submit(quantile_held, level, n, EACH, 0.05, shape, repeats, lost) for shape in SHAPES]
                for lost in LOST_OF_TAIL
            ]
            for level, n in settings
        ]
        for (level, n), row in zip(settings, waiting, strict=True):
            found = [[100 * each.result() for each in shapes] for shapes in row]
            print(f"| p{100 * level:g} | {n} | {' | '.join(f'{min(x):.1f}–{max(x):.1f}' for x in found)} |", flush=True)


def shares(repeats: int) -> None:
    print("\n| share | trials | events a trial | " + " | ".join(f"variation {v:g}" for v in VARIATIONS) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(VARIATIONS))
    settings = list(product(SHARES, (3, 6, 10, 20), EVENTS))
    with ProcessPoolExecutor() as pool:
        waiting = [
            [
                pool.submit(share_held, share, n, round(events / share), variation, repeats)
                for variation in VARIATIONS
                if share * (1 + variation**2) < 1 - 1e-9 and share <= 0.5 / max(variation, 0.5)
            ]
            for share, n, events in settings
        ]
        for (share, n, events), row in zip(settings, waiting, strict=True):
            found = [f"{100 * each.result():.1f}" for each in row] + ["–"] * (len(VARIATIONS) - len(row))
            print(f"| {share:.1%} | {n} | {events} | {' | '.join(found)} |", flush=True)


if __name__ == "__main__":
    asked = [float(each) for each in sys.argv[2:] if each not in {"shares", "lossy"}]
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    if asked or len(sys.argv) < 3:
        quantiles(asked or LEVELS, repeats)
    if not asked and "lossy" not in sys.argv:
        shares(repeats)
    if not asked and "shares" not in sys.argv:
        lossy(repeats)
