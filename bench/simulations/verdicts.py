"""How often verdicts are wrong where the truth is known, and how often a difference that is there is found.

    PYTHONPATH=src:tests/support python bench/simulations/verdicts.py [REPEATS]

Every table is in Markdown, as `docs/background/method.md` has it; the simulation error is 0.5 points at the usual 2000
repeats. What intervals cover, `coverage.py` simulates; verdicts over several machines, `machines.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numpy.typing import NDArray

from middlemark.analysis.compare.metrics import difference_of
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.verdicts.across_runs import difference_to_next_run
from middlemark.analysis.verdicts.bounds import Evidence, judge_against_bound
from middlemark.analysis.verdicts.difference import Difference, difference_of_shares, ratio
from middlemark.analysis.verdicts.judge import Judgement, Setbacks, Verdict, judge_change, judge_difference
from middlemark.analysis.verdicts.ranking import Candidate, ranking
from middlemark.analysis.verdicts.values import BlockValues
from populations import drawn_events

NOISES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy-tailed": lambda rng, shape: rng.standard_t(2, shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - np.log(2),
}
"""Of the logarithms of trials, with the median 0."""
SPREAD = 0.05
LOST_OF = 1000
"""Messages of each trial whose losses are compared."""


def drawn(rng: np.random.Generator, noise: str, sides: int, blocks: int) -> NDArray[np.float64]:
    """Trials of several sides, side by side in blocks that all share what the machine does."""
    return 100 * np.exp(rng.normal(0, 0.2, blocks) + SPREAD * NOISES[noise](rng, (sides, blocks)))


def known(values: NDArray[np.float64]) -> BlockValues:
    return BlockValues(dict(enumerate(values.tolist())))


def pair_differs(noise: str, blocks: int, shift: float, repeats: int) -> float:
    """The share of pairs that seem different, the second being `shift` times the first."""
    rng = np.random.default_rng([blocks, round(100 * shift)])
    found = 0
    for _ in range(repeats):
        first, second = drawn(rng, noise, 2, blocks)
        said = judge_difference(
            ratio(known(first), known(second * shift), paired=True), lower_is_better=True, margin=0.0
        )
        found += said.verdict in {Verdict.BETTER, Verdict.WORSE}
    return found / repeats


def table_errs(noise: str, sides: int, blocks: int, repeats: int) -> float:
    """The share of tables of equals in which somebody is behind somebody."""
    rng = np.random.default_rng([sides, blocks])
    found = 0
    for _ in range(repeats):
        rows = drawn(rng, noise, sides, blocks)
        candidates = {n: Candidate(known(row), float(np.median(row)), Setbacks(blocks)) for n, row in enumerate(rows)}
        found += any(place.behind for place in ranking(candidates, lower_is_better=True, margin=0.0))
    return found / repeats


def overloaded_table_errs(share: float, sides: int, blocks: int, repeats: int) -> float:
    """The same, of equals overloaded with this probability in each trial, unranked where in most."""
    rng = np.random.default_rng([sides, blocks, round(100 * share)])
    errors = 0
    for _ in range(repeats):
        candidates = {}
        for n, row in enumerate(drawn(rng, "normal", sides, blocks).tolist()):
            counted = {block: value for block, value in enumerate(row) if rng.random() >= share}
            setbacks = Setbacks(blocks, {"overloaded": blocks - len(counted)})
            if not setbacks.is_majority:
                candidates[n] = Candidate(BlockValues(counted), float(np.median(row)), setbacks)
        errors += any(rank.behind for rank in ranking(candidates, lower_is_better=True, margin=0.0))
    return errors / repeats


def loss_differs(share: float, more: float, trials: int, variation: float, repeats: int) -> float:
    """The share of pairs whose losses seem different, the second losing `more` times as much."""
    rng = np.random.default_rng([trials, round(1e4 * share), round(10 * variation)])
    found = 0
    for _ in range(repeats):
        sides = [
            {n: (lost, LOST_OF) for n, lost in enumerate(drawn_events(rng, own, variation, trials, LOST_OF).tolist())}
            for own in (share, more * share)
        ]
        difference = difference_of_shares(*sides)
        found += isinstance(difference, Difference) and not difference.low <= 0 <= difference.high
    return found / repeats


def bound_errs(noise: str, trials: int, repeats: int) -> float:
    """The share of decisions about a bound that is the true value, in which neither side is right."""
    rng = np.random.default_rng([trials, 8])
    found = 0
    for _ in range(repeats):
        values = 100 * np.exp(SPREAD * NOISES[noise](rng, (trials,)))
        judged = judge_against_bound(Evidence(block_values=known(values)), 100.0, above=False).result.judgement
        found += judged is not Judgement.UNDECIDED
    return found / repeats


def gate_passes(overloaded: int, trials: int, repeats: int) -> tuple[float, float]:
    """How often a head that is 10 % slower passes `> +5 %`, and is undecided, by the trials that are left of it."""
    rng = np.random.default_rng([trials, overloaded])
    passed = undecided = 0
    for _ in range(repeats):
        first, second = drawn(rng, "normal", 2, trials)
        left = sorted(1.1 * second)[: trials - overloaded]  # the slowest are those that were overloaded
        head = BlockValues(dict(enumerate(np.array(left))))
        both = Setbacks(trials), Setbacks(trials, {"overloaded": overloaded} if overloaded else {})
        found = ratio(known(first), head, paired=False)
        said = judge_change(found, 1.05, above=True, lower_is_better=True, setbacks=both).judgement
        passed += said is Judgement.HOLDS
        undecided += said is Judgement.UNDECIDED
    return passed / repeats, undecided / repeats


def of_run(rng: np.random.Generator, apart: float, trials: int = 8) -> Evidence:
    """A run whose trials share by how much it is apart from others."""
    values = 100 * np.exp(rng.normal(0, apart) + SPREAD * rng.normal(size=trials))
    estimate = Estimate(float(np.median(values)), None, None, None, trials, trials, Method.MEDIAN_OF_TRIALS)
    return Evidence(known(values), estimate=estimate)


def losses_of_run(rng: np.random.Generator, apart: float, trials: int = 8) -> Evidence:
    """The same of a loss of 1 %, apart by so much more than times are."""
    lost = rng.binomial(LOST_OF, 0.01 * np.exp(rng.normal(0, 5 * apart)).clip(max=100), trials)
    counts = {n: (each, LOST_OF) for n, each in enumerate(lost.tolist())}
    estimate = Estimate(float(lost.mean() / LOST_OF), None, None, None, trials, trials, Method.SHARE_OF_ALL)
    return Evidence(BlockValues({}), counts, estimate, is_share=True)


_RUNS = {"times": of_run, "losses": losses_of_run}


def next_run_seems_worse(kind: str, runs: int, apart: float, repeats: int) -> float:
    """How often a run like all others lies wholly above them; by its trials alone where there is one other."""
    rng, draw = np.random.default_rng([runs, round(1000 * apart)]), _RUNS[kind]
    found = 0
    for _ in range(repeats):
        base, head = [draw(rng, apart) for _ in range(runs)], draw(rng, apart)
        said = difference_to_next_run(base, head) if runs > 1 else difference_of(base[0], head, paired=False)
        found += isinstance(said, Difference) and said.low > said.equal
    return found / repeats


def table(headings: Iterable[str], rows: Iterable[tuple[str, Iterable[float]]]) -> None:
    columns = list(headings)
    print(f"\n| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}")
    for name, shares in rows:
        print(f"| {name} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |", flush=True)


def main(repeats: int) -> None:
    with ProcessPoolExecutor() as pool:

        def all_of(function: Callable[..., float], *settings: tuple[object, ...]) -> list[float]:
            return [each.result() for each in [pool.submit(function, *own, repeats) for own in settings]]

        blocks = (3, 5, 6, 10, 20)
        table(
            ("equal sides differ, %", *(f"{n} blocks" for n in blocks)),
            [(noise, all_of(pair_differs, *((noise, n, 1.0) for n in blocks))) for noise in NOISES],
        )
        table(
            ("10 % slower is found, %", *(f"{n} blocks" for n in blocks)),
            [(noise, all_of(pair_differs, *((noise, n, 1.1) for n in blocks))) for noise in NOISES],
        )
        sides = (2, 5, 10, 16)
        table(
            ("of equals somebody is behind, % of tables", *(f"{n} candidates" for n in sides)),
            [
                (f"{noise}, {n} blocks", all_of(table_errs, *((noise, each, n) for each in sides)))
                for noise in NOISES
                for n in (3, 6, 10)
            ],
        )
        table(
            (
                "of equals that are overloaded by chance somebody is behind, % of tables",
                *(f"{n} candidates" for n in sides),
            ),
            [
                (
                    f"{share:.0%} of trials, {n} blocks",
                    all_of(overloaded_table_errs, *((share, own, n) for own in sides)),
                )
                for share in (0.1, 0.2, 0.4)
                for n in (6, 10, 20)
            ],
        )
        trials = (3, 6, 10)
        table(
            ("losses differ, %", *(f"{n} trials" for n in trials)),
            [
                (
                    f"{share:.1%} against {more:g} times as much, variation {variation:g}",
                    all_of(loss_differs, *((share, more, n, variation) for n in trials)),
                )
                for share, more in ((0.001, 1.0), (0.02, 1.0), (0.02, 3.0))
                for variation in (0.0, 0.5, 1.0)
            ],
        )
        table(
            ("a bound that is the true value is decided, %", *(f"{n} trials" for n in (2, *trials))),
            [(noise, all_of(bound_errs, *((noise, n) for n in (2, *trials)))) for noise in NOISES],
        )
        runs = (1, 3, 5, 10)
        table(
            ("a run like those of the base seems worse, %", *(f"{n} base run{'s' if n > 1 else ''}" for n in runs)),
            [
                (f"{name}, runs apart by {words}", all_of(next_run_seems_worse, *((name, n, apart) for n in runs)))
                for name, each in (("times", 1), ("losses", 5))
                for apart in (0.0, 0.05, 0.2)
                for words in (f"{each * apart:.0%}",)
            ],
        )
    found = [gate_passes(n, 10, repeats) for n in (0, 1, 3, 7)]
    table(
        ("of 10 trials of a head that is 10 % slower the slowest are overloaded", "passes, %", "undecided, %"),
        [(f"{n}", each) for n, each in zip((0, 1, 3, 7), found, strict=True)],
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
