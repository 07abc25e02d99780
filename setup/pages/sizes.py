"""Writes what a run of the suite `sizes` found into the pages of its middlewares, as a table between two marks.

`python setup/pages/sizes.py RUN`. A page without the marks is left as it is, and so is all that stands beside them.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

import middlemark

PAGES = Path(__file__).resolve().parents[2] / "docs/middlewares"
BEGIN, END = "<!-- what follows is written by setup/pages/sizes.py -->", "<!-- until here -->"
ONE_WAY, ROUND_TRIP, UNDELIVERED = "latency_from_send_p50_ns", "round_trip_p50_ns", "undelivered_share"
COLUMNS = {
    **dict.fromkeys(("64 B", "1 kB", "64 kB", "1 MB", "4 MB"), ONE_WAY),
    "round trip, 64 B": ROUND_TRIP,
}
"""Each with its metric."""
WORDS = (
    "one way reliable, where nobody waits for a slow receiver (`drop`), round trips best effort; two processes, "
    "each on a CPU of its own that is kept awake. Medians over trials of each trial's median, with their intervals."
)
Cells = Mapping[str, Mapping[str, str]]
"""By profile and column."""


def main() -> None:
    run = middlemark.load(sys.argv[1])
    about = run.manifest
    said = f"`middlemark run sizes`, {about.started_at[:10]}, {about.machine_in_short}, library {{version}}: {WORDS}"
    for middleware, cells in tables(run.estimates).items():
        page = PAGES / f"{middleware}.md"
        version = about.middlewares[middleware].library.version
        text = page.read_text(encoding="utf-8")
        page.write_text(replaced(text, said.format(version=version), table(cells)), encoding="utf-8")


def tables(estimates: pl.DataFrame) -> dict[str, Cells]:
    """By middleware: what was found of each profile."""
    found: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    unobserved = estimates.filter(pl.col("observation").is_null())
    lost = {_place(row): row["estimate"] for row in _of(unobserved, {UNDELIVERED})}
    for row in _of(unobserved, {ONE_WAY, ROUND_TRIP}):
        middleware, profile, column = _place(row)
        if COLUMNS.get(column) == row["metric"]:
            found[middleware][profile][column] = cell(row, lost.get(_place(row)))
    return dict(found)


def _of(estimates: pl.DataFrame, metrics: set[str]) -> Iterable[dict[str, object]]:
    return estimates.filter(pl.col("metric").is_in(metrics)).iter_rows(named=True)


def _place(row: Mapping[str, object]) -> tuple[str, str, str]:
    """Middleware, profile and column."""
    size = re.search(r"\bsize=(\S+ k?M?B)", str(row["factors"]))
    column = size[1] if size else ""
    if row["workload"] == "ping_pong":
        column = f"round trip, {column}"
    return str(row["middleware"]), str(row["profile"]), column


def cell(row: Mapping[str, object], lost: object) -> str:
    """A median with its interval, and how much of it never came."""
    value, low, high = row["estimate"], row["low"], row["high"]
    missing = f", {100 * lost:.2g} % undelivered" if isinstance(lost, float) and lost > 0 else ""
    if not isinstance(value, float):
        return f"–{missing}"
    has_interval = isinstance(low, float) and isinstance(high, float)
    scale, unit = (1e6, "ms") if max(value, high if has_interval else value) >= 1e6 else (1e3, "µs")
    ends = f" [{low / scale:.3g}; {high / scale:.3g}]" if has_interval else ""
    return f"{value / scale:.3g} {unit}{ends}{missing}"


def table(cells: Cells) -> str:
    """In Markdown, a row for each profile."""
    head = f"| | {' | '.join(COLUMNS)} |\n|{' --- |' * (len(COLUMNS) + 1)}"
    rows = [
        f"| `{profile}` | {' | '.join(row.get(column, '–') for column in COLUMNS)} |"
        for profile, row in sorted(cells.items())
    ]
    return "\n".join([head, *rows])


def replaced(page: str, said: str, written: str) -> str:
    """The page with this between its marks, where it has them."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{mark}\n\n{said}\n\n{written}\n\n{end}{after}" if mark and end else page


if __name__ == "__main__":
    main()
