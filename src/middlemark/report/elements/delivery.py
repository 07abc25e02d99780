"""Who calls the applications with messages, told wherever middlewares stand beside each other.

A column of tables, and a sentence where deliveries differ. It judges nothing: a delivery is a part of what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.elements.formatting import listed
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import NOTHING, Cell, Column, Holds

DELIVERY = Column("delivery", holds=Holds.NAMES)
"""Who called the applications with messages, which makes a part of every latency."""
DIFFER = "; deliveries differ"
"""What ends a headline about middlewares whose deliveries differ."""


def delivery_cell(each: ExperimentFindings) -> Cell:
    """The delivery of a row of `DELIVERY`; unknown in runs from before it was recorded."""
    return Cell(each.configuration.delivery or "unknown") if each.configuration.effective else NOTHING


def deliveries_cell(experiments: Iterable[ExperimentFindings]) -> Cell:
    """The same of a row that is of several experiments: each delivery once."""
    cells = [delivery_cell(each) for each in experiments]
    return Cell(", ".join(sorted({cell.text for cell in cells if not cell.is_missing})) or None)


def differing_deliveries(experiments: Iterable[ExperimentFindings], who: Mapping[str, Series]) -> str:
    """In a sentence, who has which delivery; empty where all have the same."""
    having: dict[str, list[str]] = {}
    for each in experiments:
        delivery = delivery_cell(each)
        if not delivery.is_missing:
            having.setdefault(delivery.text, []).append(who[each.experiment.id].label)
    if len(having) < 2:
        return ""
    words = "; ".join(f"{delivery}: {listed(labels)}" for delivery, labels in having.items())
    return f"Deliveries differ, and are a part of what is compared ({words})."
