"""What a figure's ratios over all settings come to: their geometric mean, as benchstat ends with.

A geometric mean is the same whichever side is the base (Fleming & Wallace, CACM 29, 1986). It sums up the settings that
were chosen and tells nothing of others, so its interval is over blocks, not over settings: all settings of a block
share what the machine did. It decides nothing; `pairing` made the ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.pairing import Compared
from middlemark.analysis.metrics.catalog import Metric
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.values import Block, Known, Values


@dataclass(frozen=True)
class OverSettings:
    """One figure of the same two sides over all settings that have it, a stream of an experiment being one."""

    names: tuple[str, str]
    figure: Metric
    n_settings: int
    value: float | None
    """The geometric mean of the second side's ratios to the first; None where a setting has no ratio."""
    low: float | None = None
    """None where there is no interval: no block has all values."""
    high: float | None = None
    missing: tuple[str, ...] = ()
    """The settings without a ratio, or with one that trials which could not keep up flatter; `Compared` has why."""


def over_settings(all_compared: Iterable[Compared]) -> tuple[OverSettings, ...]:
    """Of every figure that has ratios, where two settings or more have been compared."""
    groups: dict[tuple[tuple[str, str], Metric], list[Compared]] = {}
    for each in all_compared:
        if not each.figure.is_share:
            groups.setdefault((each.pair.names, each.figure), []).append(each)
    return tuple(_over(names, figure, own) for (names, figure), own in groups.items() if len(own) > 1)


def _over(names: tuple[str, str], figure: Metric, own: Sequence[Compared]) -> OverSettings:
    missing = tuple(_setting(each) for each in own if each.decided.reason)
    ratios = [each.difference for each in own if isinstance(each.difference, Difference)]
    if missing or len(ratios) < len(own):
        return OverSettings(names, figure, len(own), None, missing=missing)
    value = geometric_mean([each.value for each in ratios])
    first, second = (
        _of_blocks([each.pair.sides[n].evidence(figure, each.stream).known for each in own]) for n in (0, 1)
    )
    found = ratio(first, second, paired=own[0].pair.paired)
    if not isinstance(found, Difference):
        return OverSettings(names, figure, len(own), value)
    # Of medians over blocks, the mean and the median of means differ a little.
    return OverSettings(names, figure, len(own), value, min(found.low, value), max(found.high, value))


def _setting(each: Compared) -> str:
    return f"{each.pair.setting} {each.stream or ''}".strip()


def _of_blocks(settings: Sequence[Known]) -> Known:
    """By block the geometric mean over all settings, of the blocks that have a value in each."""
    told = [each.finite for each in settings]
    blocks = sorted(set.intersection(*(set(each.low) for each in told)))
    low = _means([each.low for each in told], blocks)
    if all(each.is_exact for each in told):
        return Known(low)
    return Known(low, _means([each.upper for each in told], blocks), told[0].of_searches)


def _means(settings: Sequence[Values], blocks: Sequence[Block]) -> Values:
    return {block: geometric_mean([each[block] for each in settings]) for block in blocks}


def geometric_mean(values: Sequence[float]) -> float:
    """Nought where one of them is."""
    return math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0
