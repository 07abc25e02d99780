"""What the comparison found, as a table for the terminal and as JSON with every block's values; it computes nothing."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from peer import Metric, Pair, Site
from ratios import Compared, Goal

Row = tuple[Pair, Site, list[Compared]]
WIDTH = 120
"""Where the output is no terminal."""
WORDS = {
    Metric.MEDIAN: "median round trip",
    Metric.P99: "99 % round trip",
    Metric.RATE: "rate",
    Metric.CPU: "CPU a message",
}


def show(rows: Sequence[Row], failed: Sequence[str]) -> None:
    """Medians over blocks, the ratio with its interval, and the goal."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for pair, site, found in rows:
        title = f"{pair.name}: {pair.load}, {site.cores}"
        table = Table("", "ours", "peer", "ours / peer", "ours − peer, µs", "goal", box=box.SIMPLE, title=title)
        for each in found:
            table.add_row(*_cells(each))
        console.print(table)
    if rows:
        found = rows[0][2][0]
        coverage = f"{100 * found.ratio.coverage:.0f} %"
        console.print(
            f"Medians over {len(found.ours)} blocks; in brackets their {coverage} intervals.", highlight=False
        )
    for reason in failed:
        console.print(f"failed: {reason}", markup=False, highlight=False)


def _cells(found: Compared) -> tuple[str, ...]:
    ratio, beyond = found.ratio, found.beyond
    goal = "" if found.goal is Goal.NONE else found.goal.value
    span = (beyond.median, beyond.low, beyond.high)
    difference = "" if found.metric is Metric.RATE else "{:+.2f} [{:+.2f}; {:+.2f}]".format(*(ns / 1e3 for ns in span))
    return (
        WORDS[found.metric],
        _shown(found.metric, found.ours),
        _shown(found.metric, found.peers),
        f"{ratio.median:.3f} [{ratio.low:.3f}; {ratio.high:.3f}]",
        difference,
        goal,
    )


def _shown(metric: Metric, values: Sequence[float]) -> str:
    middle = sorted(values)[len(values) // 2]
    return f"{middle / 1e3:,.1f} k/s" if metric is Metric.RATE else f"{middle / 1e3:.2f} µs"


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
