"""Where the time of chains goes, in charts: node by node along the path, as shares, and settings beside each other.

`analysis.chains` has the values, `traffic.bars` the stacked bars; the tables are `chains`'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.chain_trace import ChainPart
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.plan import Chain
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import ABSENT, MILLISECONDS, interval
from middlemark.report.elements.labels import Series, condition_words, distinguishing, n_words, trials_behind
from middlemark.report.traffic.bars import StackedBars
from middlemark.suite.metrics import chain_position_subject, chain_subject

PARTS: dict[ChainPart, str] = {
    ChainPart.COMMUNICATION: "#c65a11",
    ChainPart.IDLE: "#9aa3ad",
    ChainPart.COMPUTATION: "#1f5f99",
}
"""With the colour of each."""
MEANING = (
    "Communication: from the end of a node's computation until the next node's application has the message. Idle: "
    "from there until that node takes it; it waits for a timer, for other inputs, or for a busy node. Computation: "
    "from there until the node has computed."
)


@dataclass(frozen=True)
class MeasuredChain:
    """A chain as one experiment measured it."""

    label: str
    findings: ExperimentFindings
    chain: Chain


def chain_of(comparison: Comparison, candidate: ExperimentFindings) -> Chain:
    """The chain that a comparison is of, as an experiment planned it."""
    return next(chain for chain in candidate.experiment.chains if chain.name == comparison.setting.stream)


def words(name: str) -> str:
    """A name as the page writes it."""
    return name.replace("_", " ")


def value_of(candidate: ExperimentFindings, subject: str, metric: str) -> float | None:
    """An estimate's value, where there is one."""
    estimate = candidate.estimate(subject, metric)
    return None if estimate is None else estimate.value


def _is_known(measured: MeasuredChain) -> bool:
    """Whether every part of a typical path is known: without one of them a bar would show another whole."""
    name, nodes = measured.chain.name, measured.chain.nodes
    subjects = [chain_subject(name), *(chain_position_subject(name, position) for position in range(len(nodes)))]
    estimates = [measured.findings.estimate(subject, f"typical_{part}_ns") for subject in subjects for part in PARTS]
    return not any(estimate is not None and estimate.method is Method.WITHIN_CLOCKS for estimate in estimates)


def steps(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row a node and part, in the order of the path; none where clocks don't allow to measure them all."""
    whole_ns = value_of(measured.findings, chain_subject(measured.chain.name), "typical_whole_ns")
    rows: list[dict[str, Any]] = []
    for position, node in enumerate(measured.chain.nodes if _is_known(measured) else ()):
        for part in PARTS:
            subject = chain_position_subject(measured.chain.name, position)
            estimate = measured.findings.estimate(subject, f"typical_{part}_ns")
            if estimate and estimate.value and whole_ns:
                rows.append(_row(measured.label, words(node), part, estimate, whole_ns, len(rows)))
    return rows


def sums(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row a part, of all nodes together; none where clocks don't allow to measure them all."""
    subject = chain_subject(measured.chain.name)
    whole_ns = value_of(measured.findings, subject, "typical_whole_ns")
    estimates = {part: measured.findings.estimate(subject, f"typical_{part}_ns") for part in PARTS}
    return [
        _row(measured.label, "all", part, estimate, whole_ns, order)
        for order, (part, estimate) in enumerate(estimates.items())
        if estimate and estimate.value and whole_ns and _is_known(measured)
    ]


def wholes(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row for the whole, where it has an interval and its parts are drawn."""
    whole = measured.findings.estimate(chain_subject(measured.chain.name), "typical_whole_ns")
    if whole is None or whole.low is None or whole.high is None or not _is_known(measured):
        return []
    return [{"series": measured.label, "low": whole.low / 1e6, "high": whole.high / 1e6}]


def _row(label: str, node: str, part: ChainPart, estimate: Estimate, whole_ns: float, order: int) -> dict[str, Any]:  # noqa: PLR0913, PLR0917 - a step has so many sides
    value_ns = estimate.value or 0.0
    length = {
        "ms": value_ns / 1e6,
        "interval": interval(estimate, MILLISECONDS) or ABSENT,
        "share": value_ns / whole_ns,
    }
    return {"series": label, "node": node, "part": str(part), "order": order, **length}


WAY = (
    f"{MEANING} In the order of the path, for a typical path (the mean of the middle fifth). The line is the "
    "confidence interval of the whole; that of a part is shown when the pointer is on it, and in the table below. "
    "Medians of trials."
)
SHARES = "The same, each part of all nodes together, as a share of each middleware's end-to-end latency."
DESCRIPTION = "A stacked bar for each; the tables below have the values."


def chain_charts(bars: Sequence[MeasuredChain]) -> list[Chart]:
    """Of the bars of one setting: their steps, and the shares of their parts; none where there is nothing to draw."""
    return [chart for chart in (_way_chart(bars, "chainway"), _shares_chart(bars)) if chart]


def chains_overview(comparisons: Sequence[Comparison], series_of: Mapping[str, Series]) -> list[Chart]:
    """A chart for each chain that was measured in several settings: all of them, in one scale."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for setting_comparison in comparisons:
        if setting_comparison.setting.of_chain:
            groups.setdefault((setting_comparison.setting.workload, setting_comparison.setting.stream), []).append(
                setting_comparison
            )
    varying = distinguishing(comparisons)
    drawn = []
    for number, ((workload, name), group) in enumerate(groups.items()):
        bars = [
            MeasuredChain(
                _in_setting(series_of[candidate.experiment.id].label, comparison, varying),
                candidate,
                chain_of(comparison, candidate),
            )
            for comparison in group
            for candidate in comparison.experiments
            if candidate.n_valid
        ]
        if len(group) > 1 and (made := _way_chart(sorted(bars, key=lambda bar: bar.label), f"chain{number}")):
            title = f"{words(workload)}, {words(name)}: where the time goes"
            drawn.append(replace(made, title=title, trials=trials_behind((bar.label, bar.findings) for bar in bars)))
    return drawn


def _in_setting(label: str, comparison: Comparison, varying: frozenset[str]) -> str:
    differs = [condition_words(name, value) for name, value in comparison.setting.factors if name in varying]
    return ", ".join([label, *differs])


def _way_chart(bars: Sequence[MeasuredChain], name: str) -> Chart | None:
    """Every step of a typical path, one after the other."""
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
    return n_words((bar.findings.estimate(chain_subject(bar.chain.name), "typical_whole_ns") for bar in bars), "path")


def _bars(rows: list[dict[str, Any]], intervals: list[dict[str, Any]]) -> StackedBars:
    return StackedBars(
        parts=rows,
        wholes=intervals,
        colours={str(part): colour for part, colour in PARTS.items()},
        value="ms",
        tooltips=[
            alt.Tooltip("node:N"),
            alt.Tooltip("part:N"),
            alt.Tooltip("ms:Q", format=",.4~g"),
            alt.Tooltip("interval:N", title="interval, ms"),
        ],
        label_limit=260,
    )
