"""The parts of a page that Python writes and not a template: rows of tables, sentences with code, and what is packed.

A large page has tens of thousands of cells, and a template's macro takes several times as long for each. All text comes
out escaped; the templates say where it stands. Packed are the program that draws charts, the charts with their data,
and folded parts: nothing is left out, `templates/report.js` unpacks, and what is alike stands together, because the
compression looks back no further than 32 KiB.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import vl_convert
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from middlemark.analysis.compare.comparison import Comparison
from middlemark.errors import StoreError
from middlemark.installation.user_folders import cache_folder, make_cache_folder
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import ABSENT
from middlemark.report.elements.labels import Series, distinguishing
from middlemark.report.elements.tables import Cell, Holds, Table
from middlemark.results.files import read_bytes, write_text

MOST_BYTES = 1 << 24


def table_rows(table: Table) -> Markup:
    """The rows of a table, the first cell of each as its heading."""
    kinds = [column.holds for column in table.columns[1:]]
    return Markup("".join(_row(first, others, kinds) for first, *others in table.rows))  # noqa: S704 - escaped below


def _row(first: Cell, others: list[Cell], kinds: list[Holds]) -> str:
    name = escape(first.text)
    cells = "".join(
        f'<td class="words">{marked(cell.line)}</td>' if holds is Holds.SENTENCES else _value_cell(cell)
        for cell, holds in zip(others, kinds, strict=True)
    )
    return f'<tr data-series="{name}"><th scope="row">{name}</th>{cells}</tr>\n'


def value_cell(cell: Cell, kind: str, before: Markup) -> Markup:
    """A value with what belongs to it; `before` is drawn above it."""
    return Markup(_value_cell(cell, f" {kind}" if kind else "", before))  # noqa: S704 - escaped below


def _value_cell(cell: Cell, kind: str = "", before: str = "") -> str:
    text = marked(cell.text) if cell.is_missing else escape(cell.text)
    linked = f'<a href="{escape(cell.link)}">{text}</a>' if cell.link else text
    parts = [
        f'<td class="value{kind}{_missing(cell)}">{escape(before)}',
        f'<span class="note">{escape(cell.quantile)}</span> ' if cell.quantile else "",
        f'<span class="number">{linked}</span>',
        *(f' <span class="interval">{escape(name)}</span>' for name in (cell.clocks, cell.interval) if name),
        f' <span class="interval">· {escape(share)}</span>' if (share := cell.percent_of_whole) else "",
        ' <span class="note">pooled</span>' if cell.is_pooled else "",
        "</td>\n",
    ]
    return "".join(parts)


def _missing(cell: Cell) -> str:
    """A reason needs room for its words; a dash needs none."""
    if not cell.is_missing:
        return ""
    return " missing" if cell.text == ABSENT else " missing reason"


QUOTED = re.compile(r"`([^`]+)`")

UNITS = r"(?:%|×|pp|percentage points|[nµm]?s|[kMG]?B|[KMG]iB|[kMG]bit/s|[kM]?Hz)(?!\w)"
WITHIN_A_QUANTITY = re.compile(rf"(?<=\d) (?={UNITS})|(?<=\bn) (?== \d)|(?<=\bn =) (?=\d)")
"""The spaces of `5 %` and of `n = 200`, at which no line may end."""
BETWEEN_ENDS = re.compile(r"(?<=\d)–(?=\d)")
"""The dash of an interval, at which no line may end either."""


def marked(text: str) -> Markup:
    """A sentence with its quantities and intervals kept on one line, and what stands between backticks as code."""
    unbroken = BETWEEN_ENDS.sub("\N{WORD JOINER}–\N{WORD JOINER}", WITHIN_A_QUANTITY.sub("\N{NO-BREAK SPACE}", text))
    return Markup(QUOTED.sub(r"<code>\1</code>", str(escape(unbroken))))  # noqa: S704 - escaped here


def script_json(value: object) -> Markup:
    """JSON that can't end the script element it stands in."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))  # noqa: S704 - escaped here


_FILTERS = {"marked": marked, "script_json": script_json, "table_rows": table_rows}
"""What the templates of every page may ask for."""


def page_environment(*packages: str, **filters: Callable[..., object]) -> Environment:
    """What makes a page of the templates of these packages and the report; a name that was not given is refused."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "middlemark.report")]),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS | filters
    environment.globals["value_cell"] = value_cell
    return environment


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
