"""What a page contains in compressed form: the program that draws charts, the charts with their data, and folded parts.

Packing leaves nothing out, and `templates/report.js` unpacks; what is alike stands together, because the compression
looks back no further than 32 KiB. It also lists what a reader can select, which the page's script hides and shows.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert

from middlemark.analysis.compare.comparison import Comparison
from middlemark.errors import StoreError
from middlemark.installation.cache import cache_folder, make_cache_folder
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import Series
from middlemark.report.elements.setting_words import distinguishing
from middlemark.results.files import read_bytes, write_text

MOST_BYTES = 1 << 24


@cache
def program() -> str:
    """The script."""
    cached = _cache_file()
    stored = _cached(cached)
    if stored is not None:
        return stored
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub forgets the default
    with suppress(OSError, StoreError):  # a report needs no cache
        make_cache_folder(cached.parent)
        write_text(cached, f"{_digest(bundle)}\n{bundle}")
    return bundle


def _cached(cached: Path) -> str | None:
    """As it was kept, by this user and whole."""
    try:
        if cached.lstat().st_uid != os.geteuid():
            return None
        digest, _, bundle = read_bytes(cached, MOST_BYTES).decode().partition("\n")
    except (StoreError, OSError, UnicodeDecodeError):
        return None
    return bundle if digest == _digest(bundle) else None


def _digest(bundle: str) -> str:
    return hashlib.sha256(bundle.encode()).hexdigest()


def _cache_file() -> Path:
    return cache_folder() / f"vega-{version('vl-convert-python')}.js"


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


@dataclass(frozen=True)
class MiddlewareShown:
    """One middleware with all labels that its configurations have on the page."""

    series: Series
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Selectable:
    """All that can be chosen."""

    middlewares: tuple[MiddlewareShown, ...]
    factors: tuple[tuple[str, tuple[str, ...]], ...]
    """Each with its values; the workload first, where there are several."""


def selectable(comparisons: Sequence[Comparison], listed: Iterable[Series]) -> Selectable:
    """Everything that varies on the page."""
    of_middleware: dict[str, list[Series]] = {}
    for series in listed:
        of_middleware.setdefault(series.middleware, []).append(series)
    settings = [dict(comparison.setting.factors) for comparison in comparisons]
    varying = distinguishing(comparisons)
    names = [name for name in dict.fromkeys(n for s in settings for n in s) if name in varying]
    values = {name: tuple(dict.fromkeys(s[name] for s in settings if name in s)) for name in ["workload", *names]}
    return Selectable(
        tuple(
            MiddlewareShown(
                min(alternatives, key=lambda shown: shown.place),
                tuple(dict.fromkeys(shown.label for shown in alternatives)),
            )
            for _, alternatives in sorted(of_middleware.items())
        ),
        tuple((name, texts) for name, texts in values.items() if len(texts) > 1),
    )
