"""Reads what a report's page carries, for tests."""

import base64
import gzip
import json
import re
from typing import Any


def specs(page: str) -> dict[str, Any]:
    """The page's charts by their names, unpacked as its script does it."""
    charts = _unpacked(page, "charts")
    return {
        name: {
            **spec,
            "config": charts["config"],
            "datasets": {key: _rows(columns) for key, columns in charts["data"][name].items()},
        }
        for name, spec in charts["specs"].items()
    }


def opened(page: str) -> str:
    """The page with all that is folded at its place, as when a reader has opened it."""
    parts = _unpacked(page, "parts")

    def part(gap: re.Match[str]) -> str:
        return str(parts[gap[1]][int(gap[2])])

    return re.sub(r'<div data-packed="(\w+) (\d+)"></div>', part, page)


def _unpacked(page: str, name: str) -> dict[str, Any]:
    found = re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    unpacked: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return unpacked


def _rows(columns: list[dict[str, Any]] | dict[str, list[Any]]) -> list[dict[str, Any]]:
    if isinstance(columns, list):
        return columns
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
