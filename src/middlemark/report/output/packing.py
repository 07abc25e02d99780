"""What a page carries packed: the program that draws charts, the charts with their data, and folded parts.

Nothing is left out: `templates/report.js` unpacks it. What is alike stands together, because the compression looks back
no further than 32 KiB. What a page carries in plain text is `markup`'s.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from middlemark.errors import StoreError
from middlemark.installation.user_folders import cache_folder, make_cache_folder
from middlemark.results.files import read_bytes, write_text

if TYPE_CHECKING:
    from middlemark.report.elements.chart import Chart

MOST_BYTES = 1 << 24
"""Of the program that draws."""


@cache
def program() -> str:
    """The script that draws charts; in the cache once it was put together."""
    cached = _cache_file()
    stored = _cached(cached)
    if stored is not None:
        return stored
    import vl_convert  # noqa: PLC0415 - only who has no script yet pays for loading it

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
