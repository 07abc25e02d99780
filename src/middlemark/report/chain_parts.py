"""The parts of measured chains as rows to be drawn: step by step along the way, and summed over all nodes.

`analysis.chain_metrics` has the figures; `chain_charts` draws the rows, and `chain_tables` writes the figures out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from middlemark.analysis.chain import ChainPart
from middlemark.analysis.comparison import Comparison
from middlemark.analysis.estimate import Estimate, Method
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.metric_names import of_chain, of_place
from middlemark.plan import Chain
from middlemark.report.display import ABSENT, MILLISECONDS, interval

PARTS: dict[ChainPart, str] = {
    ChainPart.COMMUNICATION: "#c65a11",
    ChainPart.IDLE: "#9aa3ad",
    ChainPart.COMPUTATION: "#1f5f99",
}
"""With the colour of each."""
MEANING = (
    "Communication: from the end of a node's computation until the next node's application has the message. Idle: from "
    "there until that node takes it; it waits for a timer, for other inputs, or the node is busy. Computation: until "
    "the node has computed."
)


@dataclass(frozen=True)
class MeasuredChain:
    """A chain as one experiment measured it."""

    label: str
    each: ExperimentFindings
    chain: Chain


def chain_of(comparison: Comparison, each: ExperimentFindings) -> Chain:
    """The chain that a comparison is of, as an experiment planned it."""
    return next(chain for chain in each.experiment.chains if chain.name == comparison.setting.stream)


def words(name: str) -> str:
    """A name as the page writes it."""
    return name.replace("_", " ")


def value_of(each: ExperimentFindings, subject: str, metric: str) -> float | None:
    """An estimate's value, where there is one."""
    found = each.estimate(subject, metric)
    return None if found is None else found.value


def _is_told(measured: MeasuredChain) -> bool:
    """Whether clocks tell every part of a typical way: without one of them a bar would show another whole."""
    name, nodes = measured.chain.name, measured.chain.nodes
    subjects = [of_chain(name), *(of_place(name, position) for position in range(len(nodes)))]
    found = [measured.each.estimate(subject, f"typical_{part}_ns") for subject in subjects for part in PARTS]
    return not any(each is not None and each.method is Method.WITHIN_CLOCKS for each in found)


def steps(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row a node and part, in the order of the way; none where clocks don't tell them all."""
    whole_ns = value_of(measured.each, of_chain(measured.chain.name), "typical_whole_ns")
    rows: list[dict[str, Any]] = []
    for position, node in enumerate(measured.chain.nodes if _is_told(measured) else ()):
        for part in PARTS:
            found = measured.each.estimate(of_place(measured.chain.name, position), f"typical_{part}_ns")
            if found and found.value and whole_ns:
                rows.append(_row(measured.label, words(node), part, found, whole_ns, len(rows)))
    return rows


def sums(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row a part, of all nodes together; none where clocks don't tell them all."""
    subject = of_chain(measured.chain.name)
    whole_ns = value_of(measured.each, subject, "typical_whole_ns")
    estimates = {part: measured.each.estimate(subject, f"typical_{part}_ns") for part in PARTS}
    return [
        _row(measured.label, "all", part, found, whole_ns, order)
        for order, (part, found) in enumerate(estimates.items())
        if found and found.value and whole_ns and _is_told(measured)
    ]


def wholes(measured: MeasuredChain) -> list[dict[str, Any]]:
    """A row for the whole, where it has an interval and its parts are drawn."""
    whole = measured.each.estimate(of_chain(measured.chain.name), "typical_whole_ns")
    if whole is None or whole.low is None or whole.high is None or not _is_told(measured):
        return []
    return [{"who": measured.label, "low": whole.low / 1e6, "high": whole.high / 1e6}]


def _row(label: str, node: str, part: ChainPart, found: Estimate, whole_ns: float, order: int) -> dict[str, Any]:  # noqa: PLR0913, PLR0917 - a step has so many sides
    value_ns = found.value or 0.0
    length = {"ms": value_ns / 1e6, "interval": interval(found, MILLISECONDS) or ABSENT, "share": value_ns / whole_ns}
    return {"who": label, "node": node, "part": str(part), "order": order, **length}
