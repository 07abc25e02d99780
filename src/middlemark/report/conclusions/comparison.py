"""A comparison in words and tables: each metric in base and head, how they differ, and the verdict.

The terminal and Markdown have the same rows, JSON keeps every digit. It judges nothing: `analysis.verdicts` did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from middlemark.analysis.compare.metrics import MetricComparison
from middlemark.analysis.compare.pairing import Pair
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.across_machines import AcrossMachines
from middlemark.analysis.verdicts.difference import Difference, NoDifference
from middlemark.analysis.verdicts.judge import SHARE_MARGIN, Verdict, direction
from middlemark.report.elements.formatting import (
    ABSENT,
    COUNT,
    MEBIBYTES,
    MEGABYTES_PER_S,
    MICROSECONDS,
    MILLISECONDS,
    NARROW_SPACE,
    PERCENT,
    PERCENT_OF_CORE,
    Span,
    Unit,
    digits,
    times,
)
from middlemark.report.elements.labels import deliveries_of, delivery_cell, setting_words, stream_beside
from middlemark.report.elements.tables import estimate_cell
from middlemark.report.elements.terminal_tables import grid
from middlemark.report.internals.machines import across_words
from middlemark.suite import Dimension
from middlemark.suite.metrics import Metric
from middlemark.suite.yaml.quantity import plural

UNITS = {
    Dimension.TIME: MICROSECONDS,
    Dimension.SHARE: PERCENT,
    Dimension.BYTES: MEBIBYTES,
    Dimension.BYTES_PER_S: MEGABYTES_PER_S,
    Dimension.PERCENT_OF_CORE: PERCENT_OF_CORE,
    Dimension.FRACTION: PERCENT,
    Dimension.NUMBER: COUNT,
}
MINUS = "−"
NO_WIDTH = "its interval has no width, so that the smallest detectable difference is unknown"
_STYLES = {Verdict.BETTER: "bold green", Verdict.WORSE: "bold red", Verdict.UNDECIDED: "dim"}


@dataclass(frozen=True)
class Row:
    """One metric as it is shown."""

    metric: str
    unit: str
    first: str
    second: str
    difference: str
    verdict: str
    why: str
    """Why it is undecided, and what could have been found."""
    style: str


def unit_of(metric: Metric) -> Unit:
    """The unit that a metric is shown in."""
    return MILLISECONDS if metric.is_long else UNITS[metric.dimension]


def verdict_words(metric: Metric, verdict: Verdict) -> str:
    """`faster` and `slower` of times, `better` and `worse` of all else."""
    if metric.dimension is Dimension.TIME and verdict in {Verdict.BETTER, Verdict.WORSE}:
        return "faster" if verdict is Verdict.BETTER else "slower"
    return {Verdict.NO_DIFFERENCE: "no significant difference"}.get(verdict, verdict.value)


def difference_words(difference: Difference | NoDifference) -> str:
    """The ratio or the difference with its interval, or why there is none."""
    if isinstance(difference, NoDifference):
        return difference.reason
    return times(difference) if difference.is_ratio else points(difference)


def points(span: Span) -> str:
    """A difference of shares with its interval: `+0.5 pp (−0.1 to +1.1)`."""
    low, middle, high = (
        f"{100 * value:+.2g}".replace("-", MINUS) if value else "0" for value in (span.low, span.value, span.high)
    )
    return f"{middle}{NARROW_SPACE}pp ({low} to {high})"


def detectable_words(difference: Difference | NoDifference) -> str:
    """The smallest difference that so many trials, so far apart, would have found in four cases of five.

    Where the trials do not differ at all, as with a whole number that is always the same, it can't be known.
    """
    if isinstance(difference, NoDifference):
        return ""
    if not difference.has_width:
        return NO_WIDTH
    if difference.detectable == math.inf:
        return ""
    least = f"{digits(100 * difference.detectable)} {'%' if difference.is_ratio else 'percentage points'}"
    return f"detectable: {least} or more"


def row(compared: MetricComparison) -> Row:
    """One comparison as a row."""
    unit = unit_of(compared.metric)
    stream = stream_beside(compared.pair.setting, compared.stream)
    first, second = (_value(estimate, unit) for estimate in compared.estimates)
    return Row(
        metric=f"{stream} {compared.metric.name}".strip(),
        unit=unit.name,
        first=first,
        second=second,
        difference=difference_words(compared.difference),
        verdict=verdict_words(compared.metric, compared.decided.verdict),
        why=_why(compared),
        style=_STYLES.get(compared.decided.verdict, ""),
    )


def _why(compared: MetricComparison) -> str:
    """Beside what is no difference, or undecided: the reason, or how small a difference could have been found."""
    if isinstance(compared.difference, NoDifference) and compared.difference.reason == compared.decided.reason:
        return ""
    difference = compared.difference
    reason = compared.decided.reason or ("" if direction(difference) else detectable_words(difference))
    across = across_words(difference.across) if isinstance(difference, Difference) and difference.across else ""
    return "; ".join(part for part in (reason, across) if part)


def _value(estimate: Estimate | None, unit: Unit) -> str:
    shown = estimate_cell(estimate, unit)
    return ABSENT if shown.is_missing else shown.text


def print_compared(all_compared: Sequence[MetricComparison], margin: float, console: Console) -> None:
    """One table a pair, then what it takes to read them."""
    for pair, group in groupby(all_compared, key=lambda cells: cells.pair):
        console.print()
        console.print(Text(f"{pair.names[1]} compared with {pair.names[0]}, {setting_words(pair.setting)}", "bold"))
        table = grid()
        table.add_column("", no_wrap=True)
        for heading in (*pair.names, f"{pair.names[1]} /\n{pair.names[0]}"):
            table.add_column(heading, justify="right", overflow="fold")
        table.add_column("", overflow="fold")
        for cells in map(row, group):
            metric = Text.assemble(cells.metric, (f" {cells.unit}", "dim"))
            verdict = Text(cells.verdict, cells.style)
            if cells.why:
                verdict.append(f"\n{cells.why}", "dim")
            table.add_row(metric, *map(Text, (cells.first, cells.second, cells.difference)), verdict)
        console.print(table)
        if deliveries := pair_deliveries(pair):
            console.print(Text(deliveries, "dim"))
    console.print(Text(reading(all_compared, margin), "dim"))


def pair_deliveries(pair: Pair) -> str:
    """In a sentence, which side has which delivery; empty where both have the same."""
    return deliveries_of(zip(pair.names, pair.sides, strict=True))


def reading(all_compared: Sequence[MetricComparison], margin: float) -> str:
    """What a table of comparisons means."""
    n_decided = sum(isinstance(comparison.difference, Difference) for comparison in all_compared)
    paired = any(comparison.pair.paired for comparison in all_compared)
    how = (
        "Trials of one block are compared with each other."
        if paired
        else "The two runs did not alternate. Runs differ even without any change; this is part of every difference, "
        "and one run of each can't separate it."
    )
    chance = (1 - CONFIDENCE) * n_decided
    of_searches = (
        "A capacity has one value per search; the interval of its ratio reaches from what one side sustains to what "
        "the other does not. "
        if any(comparison.metric.of_search for comparison in all_compared)
        else ""
    )
    detectable = "Detectable: a difference that such trials show in four of five cases. "
    return (
        f"Ratios over trials with {100 * CONFIDENCE:.0f} % confidence intervals. {of_searches}No significant "
        f"difference: the interval lies within {digits(100 * margin)} % of 1 (of shares, within "
        f"{100 * SHARE_MARGIN:g} percentage points). {detectable}{how} Each comparison is judged alone: if both sides "
        f"were equal, {digits(chance)} of {plural(n_decided, 'comparison')} would show a difference by chance."
    )


def json_values(values: Mapping[str, object]) -> dict[str, object]:
    """Values as JSON has them: an end that is not known is null, for it has no number for infinity."""
    return {name: None if value == math.inf else value for name, value in values.items()}


def _data_of(difference: Difference) -> dict[str, object]:
    across = None if difference.across is None else across_data(difference.across)
    return json_values({**asdict(difference), "detectable": difference.detectable, "across": across})


def across_data(across: AcrossMachines) -> dict[str, object]:
    """The ratio on each machine, and how far machines differ, for a program to read."""
    ratios = [json_values(asdict(ratio)) for ratio in across.ratios]
    return {**asdict(across), "ratios": ratios, "disagree": across.disagree}


def comparison_data(all_compared: Iterable[MetricComparison]) -> list[dict[str, object]]:
    """Every comparison for a program to read; values in the units that the metrics' names end in."""
    return [
        {
            "setting": comparison.pair.setting,
            "experiments": [side.experiment.id for side in comparison.pair.sides],
            "sides": list(comparison.pair.names),
            "deliveries": [
                None if (cell := delivery_cell(side)).is_missing else cell.text for side in comparison.pair.sides
            ],
            "stream": comparison.stream,
            "figure": comparison.metric.name,
            "metric": comparison.metric.stored_name,
            "estimates": [
                None if estimate is None else json_values(asdict(estimate)) for estimate in comparison.estimates
            ],
            "difference": _data_of(comparison.difference) if isinstance(comparison.difference, Difference) else None,
            "reason": comparison.decided.reason or None,
            "verdict": verdict_words(comparison.metric, comparison.decided.verdict),
        }
        for comparison in all_compared
    ]
