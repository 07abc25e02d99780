"""Where the time of chains goes, in charts: node by node along the way, as shares, and settings beside each other.

`chain_parts` has the rows, `stacked` the bars.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.metric_names import of_chain
from middlemark.report.answer import condition_words, distinguishing
from middlemark.report.canvas import Chart
from middlemark.report.chain_parts import MEANING, PARTS, MeasuredChain, chain_of, steps, sums, wholes, words
from middlemark.report.contender import Contender
from middlemark.report.counts import n_words
from middlemark.report.stacked import Bars
from middlemark.report.trials import trials_behind

WAY = (
    f"{MEANING} In the order of the way, of a typical one (the mean of the middle fifth); the line is the interval of "
    "the whole; a part's own stands beside it where one points at it, and in the table below. Medians of trials."
)
SHARES = "The same, each part of all nodes together, as a share of the middleware's own whole."
DESCRIPTION = "A stacked bar for each; the tables below have the figures."


def chain_charts(bars: Sequence[MeasuredChain]) -> list[Chart]:
    """Of the bars of one setting: their steps, and the shares of their parts; none where there is nothing to draw."""
    return [chart for chart in (_way_chart(bars, "chainway"), _shares_chart(bars)) if chart]


def chains_overview(comparisons: Sequence[Comparison], who: Mapping[str, Contender]) -> list[Chart]:
    """A chart for each chain that was measured in several settings: all of them, in one scale."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for each in comparisons:
        if each.setting.of_chain:
            groups.setdefault((each.setting.workload, each.setting.stream), []).append(each)
    beside = distinguishing(comparisons)
    drawn = []
    for number, ((workload, name), group) in enumerate(groups.items()):
        bars = [
            MeasuredChain(
                _in_setting(who[each.experiment.id].label, comparison, beside), each, chain_of(comparison, each)
            )
            for comparison in group
            for each in comparison.experiments
            if each.n_valid
        ]
        if len(group) > 1 and (made := _way_chart(sorted(bars, key=lambda bar: bar.label), f"chain{number}")):
            title = f"{words(workload)}, {words(name)}: where the time goes"
            drawn.append(replace(made, title=title, trials=trials_behind((bar.label, bar.each) for bar in bars)))
    return drawn


def _in_setting(label: str, comparison: Comparison, beside: frozenset[str]) -> str:
    differs = [condition_words(name, value) for name, value in comparison.setting.factors if name in beside]
    return ", ".join([label, *differs])


def _way_chart(bars: Sequence[MeasuredChain], name: str) -> Chart | None:
    """Every step of a typical way, one after the other."""
    rows = [row for bar in bars for row in steps(bar)]
    if not rows:
        return None
    drawn = _bars(rows, [whole for bar in bars for whole in wholes(bar)])
    return Chart(
        id=name,
        title="Where the time goes, node by node",
        caption=f"{WAY} {_n(bars)}",
        description=DESCRIPTION,
        spec=drawn.lengths("ms from the first node's start"),
    )


def _shares_chart(bars: Sequence[MeasuredChain]) -> Chart | None:
    rows = [row for bar in bars for row in sums(bar)]
    if not rows:
        return None
    return Chart(
        id="chainshares",
        title="Where the time goes, as shares",
        caption=f"{SHARES} {_n(bars)}",
        description=DESCRIPTION,
        spec=_bars(rows, []).shares("share of the end-to-end latency"),
    )


def _n(bars: Sequence[MeasuredChain]) -> str:
    return n_words((bar.each.estimate(of_chain(bar.chain.name), "typical_whole_ns") for bar in bars), "way")


def _bars(rows: list[dict[str, Any]], intervals: list[dict[str, Any]]) -> Bars:
    return Bars(
        parts=rows,
        wholes=intervals,
        colours={str(part): colour for part, colour in PARTS.items()},
        value="ms",
        told=[
            alt.Tooltip("node:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("ms:Q", format=",.4~g"),
            alt.Tooltip("interval:N", title="interval, ms"),
        ],
        label_limit=260,
    )
