"""Looks for pinned packages in a copy of the Python Packaging Advisory Database, where pip-audit has no service.

The copy is a clone that is brought up to date where that can be; what it says of a version, `packaging` decides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from ruamel.yaml import YAML

SOURCE = "https://github.com/pypa/advisory-database"
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def copy_path() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache, "middlemark", "advisory-database")


def vulnerabilities(copy: Path, locked: Path) -> list[str]:
    """What the database knows of the pinned versions, a line each."""
    pins = {(canonicalize_name(name), version) for name, version in PIN.findall(locked.read_text())}
    return sorted(
        f"{name} {version}: {advisory['id']}"
        for name, version in pins
        for advisory in _advisories(copy / "vulns" / name)
        if any(_is_affected(affected, Version(version)) for affected in advisory.get("affected", ()))
    )


def _advisories(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.yaml")):
        advisory = YAML(typ="safe").load(path)
        if "withdrawn" not in advisory:
            yield advisory


def _is_affected(affected: dict[str, Any], version: Version) -> bool:
    if str(version) in map(str, affected.get("versions", ())):
        return True
    return any(
        _is_within(each.get("events", ()), version)
        for each in affected.get("ranges", ())
        if each.get("type") == "ECOSYSTEM"
    )


def _is_within(events: list[dict[str, str]], version: Version) -> bool:
    """As the OSV format has it: the last event at or below the version decides."""
    is_in = False
    for event in events:
        ((kind, at),) = event.items()
        try:
            bound = Version(str(at))
        except InvalidVersion:
            continue
        if kind == "introduced":
            is_in = is_in or version >= bound
        elif (kind == "fixed" and version >= bound) or (kind == "last_affected" and version > bound):
            is_in = False
    return is_in
