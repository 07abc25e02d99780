"""How often 95 % intervals hold what they are of: pooled quantiles, shares and capacities, as tables in Markdown.

    PYTHONPATH=src:tests/support python bench/simulations/coverage.py [REPEATS [LEVEL … | shares | lossy | searches]]

Trials are drawn from populations of which what is true is known (`tests/support/populations.py`); the
simulation error is 0.5 points at the usual 2000 repeats. Of quantiles it gives the ranges over the shapes of
populations: how often all intervals hold, how many are marked as rough, and how many are not marked and don't hold.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from middlemark.analysis.search.threshold import Threshold, fit_threshold
from middlemark.analysis.stats.estimate import Estimate, quantile_of_trials, share_of_trials
from middlemark.analysis.stats.quantiles import Measured, Samples, Sketch, exact_sketch, sketch_of
from populations import (
    CURVES,
    SHAPES,
    drawn_events,
    drawn_searches,
    drawn_stalling_times_ns,
    drawn_times_ns,
    true_quantile_ns,
    true_stalling_quantile_ns,
)

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
SEARCHES = (3, 10)
FALLS = (1, 2, 4, 8, 16)
"""Over how many steps of 5 % the share of trials that sustain their load falls from 73 to 27 %."""


@dataclass(frozen=True)
class Held:
    """Shares of all intervals."""

    held: float
    marked: float
    misleading: float
    """Neither marked nor true."""


def quantile_held(  # noqa: PLR0913, PLR0917 - all that makes a simulation
    level: float,
    n_trials: int,
    beyond: float,
    spread: float | None,
    shape: str,
    repeats: int,
    lost_of_tail: float = 0.0,
) -> Held:
    """Of quantiles that no trial supports alone; `spread` is that of trials, or None where some stall.

    Of the messages beyond the quantile a share was lost.
    """
    messages = math.ceil(beyond / (1 - level))
    rng = np.random.default_rng([n_trials, messages, 7 if spread is None else round(100 * spread)])
    loss = lost_of_tail * (1 - level)
    of_arrived = level / (1 - loss)
    true_ns = (
        true_stalling_quantile_ns(shape, of_arrived) if spread is None else true_quantile_ns(shape, spread, of_arrived)
    )
    held, marked = np.zeros(repeats, dtype=bool), np.zeros(repeats, dtype=bool)
    for place in range(repeats):
        lost = drawn_events(rng, loss, LOST_APART, n_trials, messages) if loss else np.zeros(n_trials, dtype=np.int64)
        if spread is None:
            times = drawn_stalling_times_ns(rng, shape, n_trials, messages)
        else:
            times = drawn_times_ns(rng, shape, spread, n_trials, messages)
        trials = [_losing(rng, each, int(n)) for each, n in zip(times, lost, strict=True)]
        own = [each.quantile(level) for each in trials]
        found = quantile_of_trials(own, [sketch_of(each) for each in trials], level)
        held[place], marked[place] = _holds(found, true_ns), found.is_rough
    return Held(float(held.mean()), float(marked.mean()), float((~held & ~marked).mean()))


def _losing(rng: np.random.Generator, times: Samples, n: int) -> Sketch:
    return exact_sketch(np.sort(rng.permutation(times)[n:]), lost=n) if n else exact_sketch(times)


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
    columns = [*(f"spread {spread:.0%}" for spread in SPREADS), "one in five stalls"]
    print("| quantile | trials | beyond it | " + " | ".join(columns) + " |")
    print("| --- | ---: | ---: |" + " ---: |" * len(columns))
    settings = [(level, n, beyond) for level, n in product(levels, TRIALS) for beyond in (LEAST / n, EACH)]
    with ProcessPoolExecutor() as pool:
        waiting = [
            [[pool.submit(quantile_held, *each, kind, shape, repeats) for shape in SHAPES] for kind in (*SPREADS, None)]
            for each in settings
        ]
        for (level, n, beyond), row in zip(settings, waiting, strict=True):
            found = [[each.result() for each in shapes] for shapes in row]
            print(f"| p{100 * level:g} | {n} | {n * beyond:.0f} | {' | '.join(map(_in_words, found))} |", flush=True)


def _in_words(shapes: Sequence[Held]) -> str:
    names = ("held", "marked", "misleading")
    ends = [[100 * getattr(each, name) for each in shapes] for name in names]
    return "; ".join(f"{name} {min(each):.1f}–{max(each):.1f}" for name, each in zip(names, ends, strict=True))


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
            found = [[each.result() for each in shapes] for shapes in row]
            print(f"| p{100 * level:g} | {n} | {' | '.join(map(_in_words, found))} |", flush=True)


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


def search_held(curve: str, n_steps: int, n_searches: int, repeats: int) -> float:
    rng = np.random.default_rng([n_steps, n_searches, list(CURVES).index(curve)])
    held = 0
    for _ in range(repeats):
        true_hz = 100 * 1.05 ** rng.uniform(40, 100)
        found = fit_threshold(drawn_searches(rng, curve, true_hz, n_steps, n_searches), n_searches)
        held += isinstance(found, Threshold) and found.low <= true_hz <= found.high
    return held / repeats


def searches(repeats: int) -> None:
    print("\n| curve | searches | " + " | ".join(f"falls over {n} steps" for n in FALLS) + " |")
    print("| --- | ---: |" + " ---: |" * len(FALLS))
    settings = list(product(CURVES, SEARCHES))
    with ProcessPoolExecutor() as pool:
        waiting = [[pool.submit(search_held, curve, n_steps, n, repeats) for n_steps in FALLS] for curve, n in settings]
        for (curve, n), row in zip(settings, waiting, strict=True):
            print(f"| {curve} | {n} | {' | '.join(f'{100 * each.result():.1f}' for each in row)} |", flush=True)


KINDS = {"shares": shares, "lossy": lossy, "searches": searches}


def main(repeats: int, asked: Sequence[str]) -> None:
    levels = [float(each) for each in asked if each not in KINDS]
    if levels or not asked:
        quantiles(levels or LEVELS, repeats)
    for name, simulate in KINDS.items():
        if name in asked or not asked:
            simulate(repeats)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, sys.argv[2:])
