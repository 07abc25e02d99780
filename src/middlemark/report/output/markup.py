"""The parts of a page that Python writes and not a template: rows of tables, sentences with code, JSON in a script.

A large page has tens of thousands of cells, and a template's macro takes several times as long for each. All text comes
out escaped; the templates say where it stands. What a page carries packed is `packing`'s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from middlemark.report.elements.formatting import ABSENT
from middlemark.report.elements.tables import Cell, Holds, Table


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
