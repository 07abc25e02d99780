"""Where the time of a chain of nodes goes: communication, idle and computation, node by node, in charts and tables.

`analysis.chain_metrics` has the figures. A setting's chain is shown in its section; `chains_overview` puts the settings
of one chain beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from middlemark.analysis.chain import ChainPart, positions
from middlemark.analysis.comparison import Comparison
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.metrics import TRIAL, of_chain, of_node, of_place
from middlemark.plan import Chain
from middlemark.report.answer import condition_words, distinguishing
from middlemark.report.charts import INK, ROW_HEIGHT, Chart, finished
from middlemark.report.contender import Contender
from middlemark.report.display import (
    ABSENT,
    MICROSECONDS,
    MILLISECONDS,
    PER_SECOND,
    PERCENT,
    Unit,
    cell,
    digits,
    show,
)
from middlemark.report.tables import Table

PARTS: dict[ChainPart, str] = {
    ChainPart.COMMUNICATION: "#c65a11",
    ChainPart.IDLE: "#9aa3ad",
    ChainPart.COMPUTATION: "#1f5f99",
}
"""With the colour of each."""
IN_TERMINAL = ("", "lost, %", "missed", "missed, %", "start-up, ms")
WAYS = ("typical", "slow")
MEANING = (
    "Communication: from the end of a node's computation until the next node's application has the message. Idle: from "
    "there until that node takes it; it waits for a timer, for other inputs, or the node is busy. Computation: until "
    "the node has computed."
)
WAY = (
    f"{MEANING} In the order of the way, of a typical one (the mean of the middle fifth); the line is the interval of "
    "the whole. Medians of trials."
)
SHARES = "The same, each part of all nodes together, as a share of the middleware's own whole."
NODES = "Medians of trials. Start-up: from the common start of all applications to the node's first execution."


@dataclass(frozen=True)
class ChainShown:
    """What the page shows of a setting's chain."""

    title: str
    charts: tuple[Chart, ...]
    split: Table
    fates: Table
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class _Bar:
    """One typical way to draw."""

    label: str
    each: ExperimentFindings
    chain: Chain


def chain_shown(comparison: Comparison, who: Mapping[str, Contender]) -> ChainShown | None:
    """All of it; None where the setting is of no chain, or nothing was measured."""
    known = [each for each in comparison.experiments if each.n_valid]
    if not comparison.setting.of_chain or not known:
        return None
    chain = _chain(comparison, known[0])
    bars = [_Bar(who[each.experiment.id].label, each, chain) for each in known]
    return ChainShown(
        title=" → ".join(_words(node) for node in chain.nodes),
        charts=tuple(_charts(bars)),
        split=split_table(comparison, who),
        fates=_fate_table(comparison, who),
        tables=(*(_place_table(bars, kind) for kind in WAYS), _node_table(bars)),
    )


def lines_of_chain(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[Table, ...]:
    """What a terminal of 80 columns has room for: the split, and what was missed; none where the setting is of none."""
    shown = chain_shown(comparison, who)
    if shown is None:
        return ()
    kept = [shown.fates.headings.index(heading) for heading in IN_TERMINAL]
    rows = tuple(tuple(row[place] for place in kept) for row in shown.fates.rows)
    return shown.split, Table(shown.fates.title, IN_TERMINAL, rows)


def _chain(comparison: Comparison, each: ExperimentFindings) -> Chain:
    return next(chain for chain in each.experiment.chains if chain.name == comparison.setting.stream)


def _words(name: str) -> str:
    return name.replace("_", " ")


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
            _Bar(_in_setting(who[each.experiment.id].label, comparison, beside), each, _chain(comparison, each))
            for comparison in group
            for each in comparison.experiments
            if each.n_valid
        ]
        if len(group) > 1 and (made := _way_chart(sorted(bars, key=lambda bar: bar.label), f"chain{number}")):
            drawn.append(_titled(made, f"{_words(workload)}, {_words(name)}: where the time goes"))
    return drawn


def _in_setting(label: str, comparison: Comparison, beside: frozenset[str]) -> str:
    differs = [condition_words(name, value) for name, value in comparison.setting.factors if name in beside]
    return ", ".join([label, *differs])


def _titled(chart: Chart, title: str) -> Chart:
    return Chart(chart.id, title, chart.caption, chart.description, chart.spec)


def _charts(bars: Sequence[_Bar]) -> list[Chart]:
    return [chart for chart in (_way_chart(bars, "chainway"), _shares_chart(bars)) if chart]


def _way_chart(bars: Sequence[_Bar], name: str) -> Chart | None:
    """Every step of a typical way, one after the other."""
    rows = [row for bar in bars for row in _steps(bar)]
    if not rows:
        return None
    spans = [span for bar in bars for span in _span(bar)]
    names = list(dict.fromkeys(row["who"] for row in rows))
    y = alt.Y("who:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    steps = _stacked(rows, y, alt.X("ms:Q", stack="zero", title="ms from the first node's start"))
    rule = alt.Chart(alt.InlineData(values=spans)).mark_rule(strokeWidth=1.5)
    rule = rule.encode(y=y, x="low:Q", x2="high:Q", color=alt.value(INK))
    layers = alt.layer(*([steps, rule] if spans else [steps]))
    return Chart(
        id=name,
        title="Where the time goes, node by node",
        caption=WAY,
        description="A stacked bar for each; the tables below have the figures.",
        spec=finished(layers.properties(width="container", height=ROW_HEIGHT * len(names))),
    )


def _shares_chart(bars: Sequence[_Bar]) -> Chart | None:
    rows = [row for bar in bars for row in _sums(bar)]
    if not rows:
        return None
    names = list(dict.fromkeys(row["who"] for row in rows))
    y = alt.Y("who:N", sort=names, title=None, axis=alt.Axis(labelLimit=260))
    drawn = _stacked(rows, y, alt.X("ms:Q", stack="normalize", title="share of the end-to-end latency"))
    return Chart(
        id="chainshares",
        title="Where the time goes, as shares",
        caption=SHARES,
        description="A stacked bar for each; the tables below have the figures.",
        spec=finished(alt.layer(drawn).properties(width="container", height=ROW_HEIGHT * len(names))),
    )


def _stacked(rows: list[dict[str, Any]], y: alt.Y, x: alt.X) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(height=14)
        .encode(
            y=y,
            x=x,
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=[str(part) for part in PARTS], range=list(PARTS.values())),
                title=None,
                legend=alt.Legend(orient="bottom", columns=3, labelColor=INK),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("who:N", title="middleware"),
                alt.Tooltip("node:N"),
                alt.Tooltip("part:N"),
                alt.Tooltip("ms:Q", format=",.4~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    return drawn


def _steps(bar: _Bar) -> list[dict[str, Any]]:
    """A row a node and part, in the order of the way."""
    whole_ns = _value(bar.each, of_chain(bar.chain.name), "typical_whole_ns")
    rows: list[dict[str, Any]] = []
    for position, node in enumerate(bar.chain.nodes):
        for part in PARTS:
            value_ns = _value(bar.each, of_place(bar.chain.name, position), f"typical_{part}_ns")
            if value_ns and whole_ns:
                rows.append(_row(bar.label, _words(node), part, value_ns, whole_ns, len(rows)))
    return rows


def _sums(bar: _Bar) -> list[dict[str, Any]]:
    """A row a part, of all nodes together."""
    subject = of_chain(bar.chain.name)
    whole_ns = _value(bar.each, subject, "typical_whole_ns")
    values = {part: _value(bar.each, subject, f"typical_{part}_ns") for part in PARTS}
    return [
        _row(bar.label, "all", part, value_ns, whole_ns, order)
        for order, (part, value_ns) in enumerate(values.items())
        if value_ns and whole_ns
    ]


def _row(label: str, node: str, part: ChainPart, value_ns: float, whole_ns: float, order: int) -> dict[str, Any]:  # noqa: PLR0913, PLR0917 - a step has so many sides
    share = value_ns / whole_ns
    return {"who": label, "node": node, "part": str(part), "order": order, "ms": value_ns / 1e6, "share": share}


def _span(bar: _Bar) -> list[dict[str, Any]]:
    whole = bar.each.estimate(of_chain(bar.chain.name), "typical_whole_ns")
    if whole is None or whole.low is None or whole.high is None:
        return []
    return [{"who": bar.label, "low": whole.low / 1e6, "high": whole.high / 1e6}]


def _value(each: ExperimentFindings, subject: str, metric: str) -> float | None:
    found = each.estimate(subject, metric)
    return None if found is None else found.value


def split_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """The parts of typical and slow ways, deadline misses, and the start-up: a row for each way."""
    subject = comparison.setting.subject
    rows = []
    for each in comparison.experiments:
        for kind in WAYS:
            whole = each.estimate(subject, f"{kind}_whole_ns")
            if whole is not None and whole.value:
                parts = (_with_share(each, subject, f"{kind}_{part}_ns", whole.value) for part in PARTS)
                rows.append((who[each.experiment.id].label, kind, cell(show(whole, MILLISECONDS)), *parts))
    caption = (
        f"{MEANING} Medians of trials, so that parts may miss the whole by a little. Slow: the mean of the slowest "
        "hundredth, where a trial has two hundred ways."
    )
    headings = ("", "way", "end to end, ms", *(f"{part}, ms" for part in PARTS))
    return Table("The way split", headings, tuple(rows), caption)


def _with_share(each: ExperimentFindings, subject: str, metric: str, whole_ns: float) -> str:
    value = _value(each, subject, metric)
    if value is None:
        return ABSENT
    return f"{cell(show(each.estimate(subject, metric), MILLISECONDS))}, {100 * value / whole_ns:.0f} %"


def _fate_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """What became of all that began, deadline misses, and the start-up."""
    subject, rows = comparison.setting.subject, []
    for each in comparison.experiments:
        began = each.estimate(subject, "set_aside_share")
        if began is not None:
            shares = (f"{name}_share" for name in ("loss", "passed_over", "set_aside"))
            rows.append(
                (
                    who[each.experiment.id].label,
                    digits(began.n_messages),
                    *(cell(show(each.estimate(subject, metric), PERCENT)) for metric in shares),
                    *deadline_cells(comparison, each),
                    cell(show(each.estimate(TRIAL, "start_up_ns"), MILLISECONDS)),
                )
            )
    headings = (
        "",
        "began",
        "lost, %",
        "passed over, %",
        "set aside, %",
        "deadline, ms",
        "missed",
        "missed, %",
        "start-up, ms",
    )
    caption = (
        "Began: executions of the first node within the windows of all valid trials. Lost: a message on the way never "
        "came or was refused. Passed over: a node took a later message in its place, as a slow timer is meant to. Set "
        "aside: so near the window's end that the way might have been cut. Missed: of those that ended, how many took "
        "longer than the deadline; the interval is the wider of Wilson's and that of resampled trials. Start-up: until "
        "every node has run once."
    )
    return Table("What became of it", headings, tuple(rows), caption)


def deadline_cells(comparison: Comparison, each: ExperimentFindings) -> tuple[str, str, str]:
    """The deadline, how many missed it, and their share."""
    missed = each.estimate(comparison.setting.subject, "deadline_missed_share")
    deadline_ns = _chain(comparison, each).deadline_ns
    if deadline_ns is None or missed is None or missed.value is None:
        return ABSENT, ABSENT, ABSENT
    count = f"{missed.value * missed.n_messages:.0f} of {missed.n_messages}"
    return MILLISECONDS.write(deadline_ns), count, cell(show(missed, PERCENT))


def _place_table(bars: Sequence[_Bar], kind: str) -> Table:
    """Node by node: what each takes, and what does not pass it."""
    shares = ("loss_share", "passed_over_share", "stale_share")
    rows = []
    for bar in bars:
        whole_ns = _value(bar.each, of_chain(bar.chain.name), f"{kind}_whole_ns")
        for position, node in enumerate(bar.chain.nodes if whole_ns else ()):
            subject = of_place(bar.chain.name, position)
            parts = [_at(bar, subject, kind, part, position) for part in PARTS]
            let_go = [cell(show(bar.each.estimate(subject, metric), PERCENT)) for metric in shares]
            rows.append((bar.label, _words(node), *parts, *let_go))
    headings = ("", "node", *(f"{part}, µs" for part in PARTS), "lost, %", "passed over, %", "without new, %")
    caption = (
        "Communication is that of the message to the node. Lost and passed over: of what had come to the node before. "
        "Without new: how often its timer fired without a new message of this chain. Medians of trials."
    )
    return Table(f"A {kind} way, node by node", headings, tuple(rows), caption)


def _at(bar: _Bar, subject: str, kind: str, part: ChainPart, position: int) -> str:
    if position not in positions(part, len(bar.chain.nodes)):
        return ABSENT
    return cell(show(bar.each.estimate(subject, f"{kind}_{part}_ns"), MICROSECONDS))


OF_NODES: tuple[tuple[str, str, Unit], ...] = (
    ("start-up, ms", "start_up_ns", MILLISECONDS),
    ("executions/s", "executions_hz", PER_SECOND),
    ("computation, µs", "computation_p50_ns", MICROSECONDS),
    ("busy, %", "busy_share", PERCENT),
    ("timer skipped, %", "skipped_share", PERCENT),
    ("passed over, %", "passed_over_share", PERCENT),
    ("overflowed, %", "overflowed_share", PERCENT),
)


def _node_table(bars: Iterable[_Bar]) -> Table:
    """All nodes of the graph, whether or not they are of this chain."""
    rows = []
    for bar in bars:
        for node in bar.each.experiment.nodes:
            cells = (cell(show(bar.each.estimate(of_node(node.name), metric), unit)) for _, metric, unit in OF_NODES)
            rows.append((bar.label, _words(node.name), node.application, *cells))
    headings = ("", "node", "application", *(heading for heading, _, _ in OF_NODES))
    caption = (
        f"{NODES} Busy: the share of the window spent computing. Timer skipped: instants that passed while the node "
        "still computed. Passed over and overflowed: of all messages that came to it, on whatever input."
    )
    return Table("All nodes", headings, tuple(rows), caption)
