"""How often verdicts over several machines are wrong where the truth is known, and what other methods would say.

    PYTHONPATH=src:tests/support python bench/simulations/machines.py [REPEATS]

Every table is in Markdown, as `docs/background/method.md` has it; the simulation error is 0.5 points at the usual 2000
repeats. The other methods are those of statsmodels, without which their table is left out:
`pip install -r setup/requirements/bench.txt`, best in an environment of its own.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.judge import Verdict, judge_difference
from middlemark.analysis.verdicts.values import BlockValues
from verdicts import NOISES, SPREAD, drawn, table

Floats = NDArray[np.float64]
FLEETS = ((5, 5), (3, 3, 3, 3), (2,) * 10, (9, 2, 2), (20, 5, 5, 5, 5), (30, 2, 2, 2))
"""The blocks of each machine."""
APART = (0.0, 0.02, 0.1)
"""By how much the logarithms of machines' own ratios spread."""


def sides(
    rng: np.random.Generator, noise: str, blocks: Sequence[int], apart: float, shift: float
) -> tuple[BlockValues, BlockValues]:
    """Two sides on machines of very different speeds; their ratio is `shift` on average over machines."""
    of_block = {n: f"m{machine}" for n, machine in enumerate(np.repeat(range(len(blocks)), blocks).tolist())}
    own = shift * np.exp(rng.normal(0, apart, len(blocks)))
    speeds = np.exp(rng.normal(0, 0.5, len(blocks)))
    values = drawn(rng, noise, 2, sum(blocks)) * np.repeat(speeds, blocks)
    values[1] *= np.repeat(own, blocks)
    first, second = (BlockValues(dict(enumerate(row.tolist())), machines=of_block) for row in values)
    return first, second


def seeded(blocks: Sequence[int], apart: float, shift: float) -> np.random.Generator:
    """The same draws for all methods."""
    return np.random.default_rng([len(blocks), sum(blocks), round(1000 * apart), round(100 * shift)])


def machines_differ(noise: str, blocks: Sequence[int], apart: float, shift: float, repeats: int) -> tuple[float, float]:
    """How often a pair seems different whose ratio is `shift` on average, and machines seem so in their order."""
    rng = seeded(blocks, apart, shift)
    differ = disagree = 0
    for _ in range(repeats):
        found = ratio(*sides(rng, noise, blocks, apart, shift), paired=True)
        said = judge_difference(found, lower_is_better=True, margin=0.0)
        differ += said.verdict in {Verdict.BETTER, Verdict.WORSE}
        disagree += isinstance(found, Difference) and found.across is not None and found.across.disagree
    return differ / repeats, disagree / repeats


def next_held(noise: str, n_machines: int, apart: float, repeats: int) -> float:
    """How often one more machine, with as many blocks, shows a ratio within what is said of it."""
    rng = np.random.default_rng([n_machines, round(1000 * apart), 3])
    held, blocks = 0, 4
    for _ in range(repeats):
        found = ratio(*sides(rng, noise, (blocks,) * n_machines, apart, 1.0), paired=True)
        another = SPREAD * np.subtract(*NOISES[noise](rng, (2, blocks))).mean() + rng.normal(0, apart)
        across = found.across if isinstance(found, Difference) else None
        if across is not None and across.next_low is not None and across.next_high is not None:
            held += across.next_low <= math.exp(another) <= across.next_high
    return held / repeats


Interval = tuple[float, float]
"""The middle of the logarithm of a ratio, and half of its width."""


def one_value_each(changes: Floats, _: Floats) -> Interval:
    """What verdicts are of: Student's interval of the machines' mean."""
    return float(changes.mean()), _reach(changes) * float(np.std(changes, ddof=1)) / math.sqrt(len(changes))


def _reach(changes: Floats) -> float:
    return float(scipy.special.stdtrit(len(changes) - 1, (1 + CONFIDENCE) / 2))


def _weighted(changes: Floats, variances: Floats, estimator: str) -> tuple[float, float, float]:
    """The mean of random effects, its error by Hartung and Knapp (Sidik and Jonkman), and without their correction."""
    from statsmodels.stats.meta_analysis import combine_effects  # noqa: PLC0415 - nothing else needs it

    found = combine_effects(changes, variances, method_re=estimator, use_t=True)
    if found.tau2 > 0:
        return float(found.mean_effect_re), float(found.sd_eff_w_re_hksj), float(found.sd_eff_w_re)
    return float(found.mean_effect_fe), float(found.sd_eff_w_fe_hksj), float(found.sd_eff_w_fe)


def dersimonian_laird(changes: Floats, variances: Floats) -> Interval:
    """With Hartung and Knapp's interval."""
    middle, error, _ = _weighted(changes, variances, "chi2")
    return middle, _reach(changes) * error


def paule_mandel(changes: Floats, variances: Floats) -> Interval:
    """The same, with another estimate of how far machines differ."""
    middle, error, _ = _weighted(changes, variances, "iterated")
    return middle, _reach(changes) * error


def never_narrower(changes: Floats, variances: Floats) -> Interval:
    """DerSimonian and Laird's with Hartung and Knapp's interval, at least as wide as without their correction."""
    middle, error, uncorrected = _weighted(changes, variances, "chi2")
    return middle, _reach(changes) * max(error, uncorrected)


METHODS: dict[str, Callable[[Floats, Floats], Interval]] = {
    "one value each, Student": one_value_each,
    "DerSimonian–Laird, Hartung–Knapp": dersimonian_laird,
    "Paule–Mandel, Hartung–Knapp": paule_mandel,
    "DerSimonian–Laird, Hartung–Knapp, never narrower": never_narrower,
}


def errs(  # noqa: PLR0913, PLR0917 - what is drawn, and how it is judged
    method: str, noise: str, blocks: Sequence[int], apart: float, shift: float, repeats: int
) -> float:
    """How often a method finds a difference; variances are by what all machines' blocks scatter."""
    warnings.simplefilter("ignore")  # the library takes roots of a negative variance of machines, and says so
    rng, found = seeded(blocks, apart, shift), 0
    ends = np.cumsum(blocks)[:-1]
    for _ in range(repeats):
        first, second = sides(rng, noise, blocks, apart, shift)
        of_machines = np.split(np.log([second.low[n] / first.low[n] for n in first.low]), ends)
        squares = sum(float(np.sum((own - own.mean()) ** 2)) for own in of_machines)
        variances = squares / (sum(blocks) - len(blocks)) / np.array(blocks)
        middle, reach = METHODS[method](np.array([own.mean() for own in of_machines]), variances)
        found += abs(middle) > reach
    return found / repeats


def methods_table(pool: ProcessPoolExecutor, repeats: int) -> None:
    """The least and the most errors of each method over noises and how far machines are apart; and what it finds."""
    if find_spec("statsmodels") is None:
        print("\nother methods: no statsmodels: pip install -r setup/requirements/bench.txt", flush=True)
        return
    kinds = list(product(NOISES, APART))
    waiting = {
        method: [
            [pool.submit(errs, method, noise, blocks, apart, 1.0, repeats) for noise, apart in kinds]
            for blocks in FLEETS
        ]
        for method in METHODS
    }
    finding = {
        method: [pool.submit(errs, method, "normal", blocks, 0.02, 1.1, repeats) for blocks in FLEETS]
        for method in METHODS
    }
    print(f"\n| equal sides differ, %; blocks | {' | '.join(headings())} |\n| --- |{' ---: |' * len(FLEETS)}")
    for method, cells in waiting.items():
        spans = [[100 * each.result() for each in cell] for cell in cells]
        print(f"| {method} | {' | '.join(f'{min(each):.1f}–{max(each):.1f}' for each in spans)} |", flush=True)
    table(
        ("10 % slower is found, %; machines apart by 2 %", *headings()),
        [(method, [each.result() for each in cells]) for method, cells in finding.items()],
    )


def headings() -> list[str]:
    return [" + ".join(map(str, own)) if len(own) < 6 else f"{len(own)} × {own[0]}" for own in FLEETS]


def differing_table(pool: ProcessPoolExecutor, shift: float, words: str, repeats: int) -> None:
    """How often the two sides seem different; of equal ones also how often machines seem so in their order."""
    rows = [
        (f"{noise}, machines apart by {apart:.0%}", [(noise, own, apart, shift) for own in FLEETS])
        for noise, apart in product(NOISES, APART)
    ]
    waiting = [(name, [pool.submit(machines_differ, *cell, repeats) for cell in cells]) for name, cells in rows]
    found = [(name, [each.result() for each in cells]) for name, cells in waiting]
    table((f"{words}, %; blocks", *headings()), [(name, [differ for differ, _ in cells]) for name, cells in found])
    if shift == 1.0:
        disagreeing = [(name, [disagree for _, disagree in cells]) for name, cells in found]
        table(("machines disagree on the order, %; blocks", *headings()), disagreeing)


def next_table(pool: ProcessPoolExecutor, repeats: int) -> None:
    """What is said of one more machine, by how many there are."""
    counts = (3, 4, 6, 10)
    waiting = [
        (f"{noise}, machines apart by {apart:.0%}", [pool.submit(next_held, noise, n, apart, repeats) for n in counts])
        for noise, apart in product(NOISES, APART)
    ]
    table(
        ("one more machine lies within, %", *(f"{n} machines" for n in counts)),
        [(name, [each.result() for each in cells]) for name, cells in waiting],
    )


def main(repeats: int) -> None:
    with ProcessPoolExecutor() as pool:
        differing_table(pool, 1.0, "of several machines equal sides differ", repeats)
        differing_table(pool, 1.1, "10 % slower is found", repeats)
        next_table(pool, repeats)
        methods_table(pool, repeats)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
