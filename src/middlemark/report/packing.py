"""What a page carries packed: its program, the charts with their data by columns, and what is folded.

Packing leaves nothing out; `templates/report.js` unpacks. What is alike stands together and keeps its order, because
the compression looks back no further than 32 KiB.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

from middlemark.report.canvas import Chart

Rows = Sequence[Mapping[str, Any]]


def packed(text: str) -> str:
    """Text as the page's script unpacks it: about a tenth of its size."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def packed_json(value: object) -> str:
    """The same of what JSON can say."""
    return packed(json.dumps(value, separators=(",", ":")))


def without_repetition(charts: Mapping[str, Chart]) -> dict[str, Any]:
    """All charts by name: what they are configured with once, what is drawn and its data each by itself."""
    kinds: dict[str, list[str]] = {}
    for name, chart in charts.items():
        kinds.setdefault(chart.id, []).append(name)
    ordered = [name for alike in kinds.values() for name in alike]
    config: dict[str, Any] = next((chart.spec["config"] for chart in charts.values()), {})
    apart = ("config", "datasets")
    return {
        "config": config,
        "specs": {name: {k: v for k, v in charts[name].spec.items() if k not in apart} for name in ordered},
        "data": {name: {k: by_columns(v) for k, v in charts[name].spec["datasets"].items()} for name in ordered},
    }


def by_columns(rows: Rows) -> Rows | dict[str, list[Any]]:
    """Rows that have the same fields as a list for each field; others as they are."""
    if not rows or any(row.keys() != rows[0].keys() for row in rows):
        return rows
    return {name: [row[name] for row in rows] for name in rows[0]}


class Folded:
    """The parts of a page that a reader has to open, each under a name for its place."""

    def __init__(self) -> None:
        self.parts: dict[str, list[str]] = {}

    def hold(self, kind: str, text: str) -> str:
        """Keep a part beside those of its kind."""
        alike = self.parts.setdefault(kind, [])
        alike.append(text)
        return f"{kind} {len(alike) - 1}"
