"""Of a run over a fleet: what each machine says of the candidates, how far machines differ, and whether they disagree.

`analysis.verdicts.across_machines` computed it with the ratio that the ranking shows; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.across_machines import AcrossMachines, MachineRatio
from middlemark.analysis.verdicts.difference import Difference
from middlemark.report.elements.candidate_tables import candidate_table
from middlemark.report.elements.formatting import NARROW_SPACE, WHOLE, Unit, digits, factor, listed
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import Cell, Column, Row, Table, named, values

RATIO = Unit("×", written=factor)
MOST_MACHINES = 20
"""With more of them those with the smallest and the largest ratios are shown."""


def machine_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table | None:
    """The ratio of each candidate to the best one on each machine; None where one machine measured."""
    rows = [(candidate, row) for candidate, to_best in _across(comparison) for row in _rows(to_best)]
    if not rows:
        return None
    best = series_of[comparison.ranked[0].experiment.id].label
    return candidate_table(
        "Machines",
        (*named("machine"), *values("blocks"), Column(f"ratio to {best}", "×"), *values("I²", "p")),
        rows,
        series_of,
        "On each machine trials are compared within their block; the intervals of a candidate's machines hold together "
        "with 95 %. All machines: combined with the machine as a random effect, as if these were drawn from many. "
        "One more: between these its ratio would lie in 95 % of cases. I²: the share of the variance of machines' "
        "ratios that is not chance; p: how often equal machines would differ as much (Cochran's Q).",
    )


def machine_lines(comparison: Comparison, series_of: Mapping[str, Series]) -> list[str]:
    """A line for each candidate: how far machines differ in its ratio to the best, and where their order is another."""
    best = series_of[comparison.ranked[0].experiment.id].label if comparison.ranked else ""
    return [
        f"{series_of[candidate.experiment.id].label} to {best} {across_words(to_best.across)}"
        for candidate, to_best in _across(comparison)
        if to_best.across
    ]


def across_words(across: AcrossMachines) -> str:
    """`on 4 machines: 1.1 × to 1.3 ×, one more: 0.9 × to 1.5 ×, I² 40 % (p 0.17)`; and which disagree on the order."""
    values = [ratio.value for ratio in across.ratios]
    words = f"on {len(values)} machines: {_span(min(values), max(values))}"
    if across.next_low is not None and across.next_high is not None:
        words += f", one more: {_span(across.next_low, across.next_high)}"
    if across.i_squared is not None and across.p_value is not None:
        words += f", I² {100 * across.i_squared:.0f} % (p {digits(across.p_value)})"
    return f"{words}. {disagreement(across)}" if across.disagree else words


def _span(low: float, high: float) -> str:
    return " to ".join(f"{factor(end)}{NARROW_SPACE}×" for end in (low, high))


def disagreement(across: AcrossMachines) -> str:
    """Which machines have the opposite order of which."""
    less, more = ([ratio.machine for ratio in across.ratios if on_side(ratio)] for on_side in (_is_less, _is_more))
    return f"Machines disagree on the order: it is less on {listed(less)}, and more on {listed(more)}"


def _is_less(ratio: MachineRatio) -> bool:
    return ratio.high < 1


def _is_more(ratio: MachineRatio) -> bool:
    return ratio.low > 1


def _across(comparison: Comparison) -> Iterator[tuple[ExperimentFindings, Difference]]:
    for candidate in comparison.ranked:
        difference = comparison.to_best.get(candidate.experiment.id)
        if difference is not None and difference.across is not None:
            yield candidate, difference


def _rows(to_best: Difference) -> Iterator[Row]:
    across = to_best.across
    if across is None:
        return
    for ratio in _shown(across.ratios):
        of_machine = Cell(ratio.value, RATIO, ratio.low, ratio.high)
        yield ratio.machine or "this machine", Cell(ratio.n_blocks), of_machine, "", ""
    heterogeneity = (
        Cell(None if across.i_squared is None else f"{100 * across.i_squared:.0f} %", reason="a block each"),
        Cell(None if across.p_value is None else digits(across.p_value), reason="a block each"),
    )
    n = sum(ratio.n_blocks for ratio in across.ratios)
    combined = Cell(to_best.value, RATIO, to_best.low, to_best.high)
    yield f"all {len(across.ratios)}", Cell(n, WHOLE), combined, *heterogeneity
    if across.next_low is not None:
        yield "one more", "", Cell(to_best.value, RATIO, across.next_low, across.next_high), "", ""
    if across.disagree:
        yield disagreement(across), "", "", "", ""


def _shown(ratios: Sequence[MachineRatio]) -> Sequence[MachineRatio]:
    ordered = sorted(ratios, key=lambda ratio: ratio.value)
    return ratios if len(ratios) <= MOST_MACHINES else [*ordered[: MOST_MACHINES // 2], *ordered[-MOST_MACHINES // 2 :]]
