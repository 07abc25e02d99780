"""Renders what every worker's profiles do on each axis of tuning into docs/background/tuning.md, by their descriptions.

`python setup/pages/tuning.py` writes, `--check` only compares; workers that aren't built keep the rows that they have.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

from middlemark.worker.contract import Axis, Description
from middlemark.worker.description import describe
from middlemark.worker.executables import workers

PAGE = Path(__file__).resolve().parents[2] / "docs/background/tuning.md"
MARK = "<!-- what follows is written by setup/pages/tuning.py -->"
HEADINGS = {
    "wake_up": "Wake-up",
    "copies": "Copies",
    "discovery": "Discovery",
    "buffers": "Buffers",
    "batching": "Batching",
    "other": "Other",
}
HEAD = ("| middleware | profile | set | on whose advice, or why nothing is |", "| --- | --- | --- | --- |")
# A known answer, not a middleware.
LEFT_OUT = "synthetic"


def rendered(page: str) -> str:
    """The page with the rows of the workers that are built."""
    text, _, old = page.partition(MARK)
    known = [describe(path) for name, path in sorted(workers().items()) if name != LEFT_OUT]
    kept = [row for row in old.splitlines() if row.startswith("| ")]
    tables = [table(axis, known, kept_of(axis, kept)) for axis in get_args(Axis.__value__)]
    return text + MARK + "\n\n" + "\n".join(tables)


def kept_of(axis: str, rows: list[str]) -> list[str]:
    """The rows of one axis: those behind its heading row, up to the next."""
    heads = [number for number, row in enumerate(rows) if row.startswith("| middleware |")] + [len(rows)]
    position = list(HEADINGS).index(axis)
    return rows[heads[position] + 2 : heads[position + 1]] if position + 1 < len(heads) else []


def table(axis: str, known: list[Description], kept: list[str]) -> str:
    """One axis: a row for each middleware, and for each of its profiles that differ on it."""
    described = {each.middleware for each in known}
    rows = [row for row in kept if row.split("|")[1].strip() not in described]
    rows += [row for each in known for row in rows_of(each, axis)]
    return "\n".join([f"## {HEADINGS[axis]}\n", *HEAD, *sorted(rows), ""])


def rows_of(description: Description, axis: str) -> list[str]:
    """The profiles that do the same share a row."""
    profiles: dict[tuple[str, str], list[str]] = {}
    for name, profile in description.profiles.items():
        own = [each for each in profile.tuning or () if each.axis == axis]
        values = profile.options | {"delivery": profile.delivery}
        named = [option for each in own for option in each.set_by]
        done = ", ".join(f"`{option}: {written(values[option])}`" for option in named) or "–"
        if own:
            profiles.setdefault((done, "; ".join(each.why for each in own)), []).append(f"`{name}`")
    return [
        f"| {description.middleware} | {', '.join(names)} | {done} | {why} |" for (done, why), names in profiles.items()
    ]


def written(value: object) -> str:
    """As YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> int:
    """Write, or compare."""
    page = PAGE.read_text()
    fresh = rendered(page)
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(fresh)
    elif fresh != page:
        sys.stderr.write(f"{PAGE} is not what the workers describe: python setup/pages/tuning.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
