"""What the page and the terminal show of a setting's chain of nodes: where its time goes, and what became of it.

`chain_charts` draws it, `chain_tables` writes it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from middlemark.analysis.comparison import Comparison
from middlemark.report.canvas import Chart
from middlemark.report.chain_charts import chain_charts
from middlemark.report.chain_parts import MeasuredChain, chain_of, words
from middlemark.report.chain_tables import WAYS, fate_table, node_table, place_table, split_table
from middlemark.report.contender import Contender
from middlemark.report.tables import Table

IN_TERMINAL = ("", "lost, %", "missed", "missed, %", "start-up, ms")


@dataclass(frozen=True)
class ChainShown:
    """What the page shows of a setting's chain."""

    title: str
    charts: tuple[Chart, ...]
    split: Table
    fates: Table
    tables: tuple[Table, ...]


def chain_shown(comparison: Comparison, who: Mapping[str, Contender]) -> ChainShown | None:
    """All of it; None where the setting is of no chain, or nothing was measured."""
    known = [each for each in comparison.experiments if each.n_valid]
    if not comparison.setting.of_chain or not known:
        return None
    chain = chain_of(comparison, known[0])
    bars = [MeasuredChain(who[each.experiment.id].label, each, chain) for each in known]
    return ChainShown(
        title=" → ".join(words(node) for node in chain.nodes),
        charts=tuple(chain_charts(bars)),
        split=split_table(comparison, who),
        fates=fate_table(comparison, who),
        tables=(*(place_table(bars, kind) for kind in WAYS), node_table(bars)),
    )


def lines_of_chain(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[Table, ...]:
    """What a terminal of 80 columns has room for: the split, and what was missed; none where the setting is of none."""
    shown = chain_shown(comparison, who)
    if shown is None:
        return ()
    kept = [shown.fates.headings.index(heading) for heading in IN_TERMINAL]
    rows = tuple(tuple(row[place] for place in kept) for row in shown.fates.rows)
    return shown.split, Table(shown.fates.title, IN_TERMINAL, rows)
