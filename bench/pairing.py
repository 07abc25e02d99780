"""What pairing by block is worth in a run: the variance of paired differences over that of unpaired ones.

    python bench/pairing.py RUN …

The two sides are middlewares of one setting, whose trials run one after another in each block; below 1, what the
machine did changed both. The same is told of one middleware in two settings, whose trials of a block lie farther apart.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.run import analyse
from middlemark.analysis.verdicts.values import Values
from middlemark.results.run_folder import RunFolder
from middlemark.suite.metrics import Key

FEWEST_BLOCKS = 4
Sides = tuple[Values, Values]
"""The logarithms of two experiments' values by block."""


def main(folders: Iterable[str]) -> None:
    values = [logarithms(comparison) for folder in folders for comparison in analysed(folder)]
    print("| two trials of a block | pairs | variance paired / unpaired |")
    print("| --- | --- | --- |")
    for words, pairs in (
        ("of one setting, one after another", list(within_settings(values))),
        ("of one middleware in two settings", list(across_settings(values))),
    ):
        print(f"| {words} | {len(pairs)} | {described(pairs)} |")


def analysed(folder: str) -> tuple[Comparison, ...]:
    return analyse(RunFolder(Path(folder))).comparisons


def logarithms(comparison: Comparison) -> dict[str, Values]:
    """Of what is ranked, by label of the candidate."""
    key = Key(comparison.setting.subject, comparison.criterion.metric)
    return {
        f"{candidate.experiment.middleware} {candidate.experiment.profile} {candidate.experiment.options}": {
            block: float(np.log(value)) for block, value in candidate.block_values(key).finite.low.items() if value > 0
        }
        for candidate in comparison.ranked
    }


def within_settings(values: Iterable[Mapping[str, Values]]) -> Iterator[Sides]:
    return (pair for of_setting in values for pair in combinations(of_setting.values(), 2))


def across_settings(values: Iterable[Mapping[str, Values]]) -> Iterator[Sides]:
    for first, second in combinations(values, 2):
        yield from ((first[name], second[name]) for name in first.keys() & second.keys())


def described(pairs: Iterable[Sides]) -> str:
    """The median over pairs; without an interval, as pairs share experiments and are not independent."""
    ratios = np.array([ratio for sides in pairs if (ratio := variance_ratio(*sides)) is not None])
    return f"{np.median(ratios):.2f}" if len(ratios) else "too few blocks"


def variance_ratio(first: Values, second: Values) -> float | None:
    """Of the differences, over what it would be if the two had nothing in common but their levels."""
    blocks = sorted(first.keys() & second.keys())
    if len(blocks) < FEWEST_BLOCKS:
        return None
    own, others = (np.array([side[block] for block in blocks]) for side in (first, second))
    unpaired = own.var() + others.var()
    return float((own - others).var() / unpaired) if unpaired else None


if __name__ == "__main__":
    main(sys.argv[1:])
