"""Where the workers are, executables named `middlemark-worker-<middleware>`, and which libraries they are loaded with.

It runs none of them (`description` does) and knows none by name; the first folder that has a name wins. How much code
and data they hold, `footprint` reads.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.installation import FOLDERS_VARIABLE, build_folder, program_folders

PREFIX = "middlemark-worker-"
BUILD_RECORD = "middlemark-workers.json"
ALTERNATIVES = "alternatives"
"""The folder beside the workers of a wheel that has some of them once more, for another release of their library."""
LOADER = "ldd"


@dataclass(frozen=True)
class Build:
    """What the build said of one worker."""

    worker: str
    status: str
    """`built` or `left_out`."""
    reason: str | None = None
    seconds: float | None = None
    packages: Sequence[Sequence[str]] = ()
    """Of a wheel: the Debian packages that hold what the worker loads; more than one set for several releases."""
    programs: Sequence[str] = ()
    """Of a wheel: the Debian packages of the installed programs that the worker runs."""


def workers(within: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every worker there is, or that these folders have, by middleware, in the order of the names."""
    path_of: dict[str, Path] = {}
    for folder in program_folders() if within is None else within:
        if os.access(folder, os.R_OK | os.X_OK):
            for path in folder.glob(f"{PREFIX}*"):
                middleware = path.name.removeprefix(PREFIX)
                if "." not in middleware and path.is_file() and os.access(path, os.X_OK):
                    path_of.setdefault(middleware, _loadable(path.absolute()))
    return dict(sorted(path_of.items()))


def _loadable(worker: Path) -> Path:
    """The same worker built against another release of its library, where this one can't be loaded here."""
    alternative = worker.parent / ALTERNATIVES / worker.name
    return alternative if alternative.is_file() and not _loads(worker) else worker


def _loads(worker: Path) -> bool:
    try:
        return bool([*libraries(worker)])
    except EnvironmentNotReady:
        return False


def worker(middleware: str) -> Path:
    """The worker of one middleware."""
    paths = workers()
    if middleware in paths:
        return paths[middleware]
    build = next((build for build in builds() if build.worker == middleware and build.reason), None)
    why = f": the build left it out, {build.reason}" if build else f"; there are: {', '.join(paths) or 'none'}"
    raise EnvironmentNotReady(
        f"there is no worker for `{middleware}`{why}",
        remedy=f"`middlemark doctor` says what is missing; workers elsewhere: {FOLDERS_VARIABLE}=FOLDER",
    )


def builds() -> list[Build]:
    """What the build of this installation said of its workers; empty where it was never built."""
    try:
        record = json.loads((build_folder() / BUILD_RECORD).read_text())
    except FileNotFoundError:
        return []
    names = [field.name for field in fields(Build)]
    return [Build(**{name: entry[name] for name in names if name in entry}) for entry in record["workers"]]


def remedy(middleware: str) -> str:
    """What to install where a worker that is there can't be loaded; nothing where its build named no packages."""
    sets = [" ".join(names) for build in builds() if build.worker == middleware for names in build.packages]
    return f"; it needs: sudo apt-get install {', or '.join(sets)}" if sets else ""


def libraries(executable: Path) -> Iterator[Path]:
    """What the loader would load for it, the loader among them."""
    listing = subprocess.run([LOADER, str(executable)], capture_output=True, text=True, check=False)
    if listing.returncode and "not a dynamic executable" not in listing.stderr + listing.stdout:
        raise EnvironmentNotReady(
            f"the libraries of {executable} are not known: {listing.stderr.strip()}", remedy=f"try it: ldd {executable}"
        )
    for line in listing.stdout.splitlines():
        name, _, location = line.strip().partition(" => ")
        if location.startswith("not found"):
            raise EnvironmentNotReady(
                f"{executable} needs {name}, which is not there", remedy="build the workers again: `make workers`"
            )
        path = (location or name).partition(" (")[0]
        if path.startswith("/"):  # the kernel's own page has no file
            yield Path(path).resolve()
