"""What the comparison found, as a table for the terminal and as JSON with every block's values, which it reads again.

It computes nothing; `ratios` does.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter
from rich import box
from rich.console import Console
from rich.table import Table

from peer import Load, Metric, Pair, Site
from ratios import Compared, Goal, Spread

Row = tuple[Pair, Site, list[Compared]]
_LOAD = TypeAdapter(Load)
WIDTH = 120
"""Where the output is no terminal."""
RATES = {Metric.RATE, Metric.UNFILLED}
WORDS = {
    Metric.MEDIAN: "median round trip",
    Metric.P99: "99 % round trip",
    Metric.RATE: "rate",
    Metric.UNFILLED: "without filling, at most",
    Metric.CPU: "CPU a message",
}


Key = tuple[str, str, str, str, str]
"""Worker, peer, load, cores, metric."""
Before = Mapping[Key, Spread]
"""The ratios of an earlier comparison."""


def show(rows: Sequence[Row], failed: Sequence[str], before: Before | None = None) -> None:
    """Medians over blocks, the ratio with its interval, what it was before, and the goal."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    head = () if before is None else ("before",)
    for pair, site, found in rows:
        title = f"{pair.name}: {pair.load}, {site.cores}"
        heads = ("", "ours", "peer", "ours / peer", *head, "ours − peer, µs", "goal")
        table = Table(*heads, box=box.SIMPLE, title=title)
        for each in found:
            was = () if before is None else (_ratio(before.get(_key(pair, site, each.metric))),)
            table.add_row(*_cells(each, was))
        console.print(table)
    if rows:
        first = rows[0][2][0]
        coverage = f"{100 * first.ratio.coverage:.0f} %"
        console.print(
            f"Medians over {len(first.ours)} blocks; in brackets their {coverage} intervals.", highlight=False
        )
    for reason in failed:
        console.print(f"failed: {reason}", markup=False, highlight=False)


def _cells(found: Compared, was: tuple[str, ...]) -> tuple[str, ...]:
    beyond = found.beyond
    goal = "" if found.goal is Goal.NONE else found.goal.value
    span = (beyond.median, beyond.low, beyond.high)
    difference = "" if found.metric in RATES else "{:+.2f} [{:+.2f}; {:+.2f}]".format(*(ns / 1e3 for ns in span))
    return (
        WORDS[found.metric],
        _shown(found.metric, found.ours),
        _shown(found.metric, found.peers),
        _ratio(found.ratio),
        *was,
        difference,
        goal,
    )


def _ratio(ratio: Spread | None) -> str:
    return "" if ratio is None else f"{ratio.median:.3f} [{ratio.low:.3f}; {ratio.high:.3f}]"


def _key(pair: Pair, site: Site, metric: Metric) -> Key:
    return pair.middleware, pair.peer.name, str(pair.load), site.cores.value, metric.value


def _shown(metric: Metric, values: Sequence[float]) -> str:
    middle = sorted(values)[len(values) // 2]
    return f"{middle / 1e3:,.1f} k/s" if metric in RATES else f"{middle / 1e3:.2f} µs"


def write(  # noqa: PLR0913 - all that the file holds
    path: Path, rows: Sequence[Row], absent: Sequence[str], failed: Sequence[str], *, blocks: int, seconds: float
) -> None:
    """Every value of every block, so that ratios can be computed anew."""
    content = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "blocks": blocks,
        "seconds": seconds,
        "not_available": list(absent),
        "failed": list(failed),
        "pairs": [
            {
                "middleware": pair.middleware,
                "peer": pair.peer.name,
                "load": asdict(pair.load),
                "options": dict(pair.options),
                "cores": site.cores,
                "metrics": [asdict(each) for each in found],
            }
            for pair, site, found in rows
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def earlier(path: Path) -> Before:
    """The ratios of a comparison that was written before; a ValueError says what is not one."""
    try:
        pairs = json.loads(path.read_text(encoding="utf-8"))["pairs"]
        return {
            (
                pair["middleware"],
                pair["peer"],
                str(_LOAD.validate_python(pair["load"])),
                pair["cores"],
                each["metric"],
            ): Spread(**each["ratio"])
            for pair in pairs
            for each in pair["metrics"]
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no comparison that was written here: {error}") from error
