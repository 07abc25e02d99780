"""Where the workers are: executables named `middlemark-worker-<middleware>` in the worker folders and on PATH.

It runs none of them (`description` does) and knows none by name. The first folder that has a name wins, so that a
worker under development goes before an installed one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from middlemark.errors import EnvironmentNotReady

PREFIX = "middlemark-worker-"
FOLDERS_VARIABLE = "MIDDLEMARK_WORKERS"
CHECKOUT = Path(__file__).resolve().parents[3]
BUILD_RECORD = "middlemark-workers.json"


@dataclass(frozen=True)
class Build:
    """What the build said of one worker."""

    worker: str
    status: str
    """`built` or `left_out`."""
    reason: str | None = None
    seconds: float | None = None


def folders() -> Iterator[Path]:
    """Where workers are looked for, in this order."""
    named = os.environ.get(FOLDERS_VARIABLE)
    if named:
        yield from (Path(folder) for folder in named.split(os.pathsep) if folder)
    yield build_folder()
    yield from (Path(folder) for folder in os.get_exec_path())


def build_folder() -> Path:
    """Where the checkout's own build leaves the workers."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or CHECKOUT / "target") / "release"


def workers(within: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every worker there is, or that these folders have, by middleware, in the order of the names."""
    found: dict[str, Path] = {}
    for folder in folders() if within is None else within:
        if os.access(folder, os.R_OK | os.X_OK):
            for path in folder.glob(f"{PREFIX}*"):
                middleware = path.name.removeprefix(PREFIX)
                if "." not in middleware and path.is_file() and os.access(path, os.X_OK):
                    found.setdefault(middleware, path.absolute())
    return dict(sorted(found.items()))


def worker(middleware: str) -> Path:
    """The worker of one middleware."""
    found = workers()
    if middleware in found:
        return found[middleware]
    build = next((build for build in builds() if build.worker == middleware and build.reason), None)
    why = f": the build left it out, {build.reason}" if build else f"; there are: {', '.join(found) or 'none'}"
    raise EnvironmentNotReady(
        f"there is no worker for `{middleware}`{why}",
        remedy=f"`middlemark doctor` says what is missing; workers elsewhere: {FOLDERS_VARIABLE}=FOLDER",
    )


def builds() -> list[Build]:
    """What the checkout's last build said of its workers; empty where it was never built."""
    try:
        record = json.loads((build_folder() / BUILD_RECORD).read_text())
    except FileNotFoundError:
        return []
    names = [field.name for field in fields(Build)]
    return [Build(**{name: entry.get(name) for name in names}) for entry in record["workers"]]
