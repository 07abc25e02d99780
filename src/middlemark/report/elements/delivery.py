"""Who calls the applications with messages, for wherever middlewares stand beside each other.

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


def delivery_cell(candidate: ExperimentFindings) -> Cell:
    """The delivery of a row of `DELIVERY`; unknown in runs from before it was recorded."""
    return Cell(candidate.configuration.delivery or "unknown") if candidate.configuration.effective else NOTHING


def deliveries_cell(experiments: Iterable[ExperimentFindings]) -> Cell:
    """The same of a row that is of several experiments: each delivery once."""
    cells = [delivery_cell(candidate) for candidate in experiments]
    return Cell(", ".join(sorted({cell.text for cell in cells if not cell.is_missing})) or None)


def delivery_columns(candidate: ExperimentFindings, series_of: Mapping[str, Series]) -> tuple[str, Cell]:
    """What a row begins with below `MIDDLEWARE` and `DELIVERY`."""
    return series_of[candidate.experiment.id].label, delivery_cell(candidate)


def differing_deliveries(experiments: Iterable[ExperimentFindings], series_of: Mapping[str, Series]) -> str:
    """In a sentence, who has which delivery; empty where all have the same."""
    return deliveries_of((series_of[candidate.experiment.id].label, candidate) for candidate in experiments)


def deliveries_of(labelled: Iterable[tuple[str, ExperimentFindings]]) -> str:
    """The same of experiments with names of their own; those that most have are not named one by one."""
    having: dict[str, dict[str, None]] = {}
    for label, candidate in labelled:
        delivery = delivery_cell(candidate)
        if not delivery.is_missing:
            having.setdefault(delivery.text, {})[label] = None
    if len(having) < 2:
        return ""
    *fewer, (usual, labels) = sorted(having.items(), key=lambda item: (len(item[1]), item[0]))
    words = [f"{delivery} ({listed(list(names))})" for delivery, names in fewer]
    last = f"{usual} ({next(iter(labels))})" if len(labels) == 1 else f"all others {usual}"
    return f"Deliveries differ: {'; '.join([*words, last])}."
