"""Control groups: where the kernel's controllers are, of version 2 or 1, and one group made, filled and removed.

Groups of a host have one name at the top of every hierarchy. It knows no host and enters nothing: `limits` does. A
group also gathers what a host's processes start, whatever they do to their environment, so that all of it can be ended.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Literal

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes import procfs

Controller = Literal["cpu", "cpuset", "memory", "pids"]
CONTROLLERS: tuple[Controller, ...] = ("cpu", "cpuset", "memory", "pids")
MEMBERS, KILL, MOST_MEMBERS = "cgroup.procs", "cgroup.kill", "pids.max"
# A killed process leaves its group only once the kernel has taken it apart.
PATIENCE_S, POLL_S = 5.0, 0.002
# Each process joins before it becomes the program: no instant of it is outside.
_JOIN = f'while [ "$1" != -- ]; do echo $$ > "$1/{MEMBERS}" || exit 125; shift; done; shift; exec "$@"'


@dataclass(frozen=True)
class Hierarchy:
    """Where groups of a controller are made."""

    top: Path
    version: Literal[1, 2]


def hierarchies(mounts: str | None = None) -> dict[Controller, Hierarchy]:
    """The hierarchy of each controller that there is, as the table of mounts says."""
    hierarchy_of: dict[Controller, Hierarchy] = {}
    for line in (Path("/proc/self/mounts").read_text() if mounts is None else mounts).splitlines():
        _, place, kind, options, *_ = line.split()
        for controller in CONTROLLERS:
            if kind == "cgroup2" and controller in _controllers(Path(place)):
                hierarchy_of[controller] = Hierarchy(Path(place), 2)
            elif kind == "cgroup" and controller in options.split(","):
                hierarchy_of.setdefault(controller, Hierarchy(Path(place), 1))
    return hierarchy_of


def _controllers(top: Path) -> list[str]:
    return _words(top / "cgroup.controllers")


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def create_group(group: Path, hierarchy: Hierarchy, controller: Controller, settings: Mapping[str, str]) -> None:
    """Makes a group with these settings; one that is there already, of another controller, gets them too."""
    try:
        if hierarchy.version == 2 and settings:
            enabled = hierarchy.top / "cgroup.subtree_control"
            if controller not in enabled.read_text().split():
                enabled.write_text(f"+{controller}")
        group.mkdir(exist_ok=True)
        for name, value in settings.items():
            (group / name).write_text(value)
    except OSError as error:
        raise EnvironmentNotReady(
            f"the limits of {group.name} can't be set: {error.filename or group}: {error.strerror}",
            remedy="run as root, outside of a container; or leave `cpus`, `cpu_quota` and `memory` of hosts out",
        ) from error


def joining_group(groups: Sequence[Path]) -> tuple[str, ...]:
    """The prefix of a program that is to be in these groups with all that it starts."""
    return ("sh", "-c", _JOIN, "sh", *(str(group) for group in groups), "--") if groups else ()


@cache
def gathering() -> Hierarchy | None:
    """Where a group can be made that only gathers processes, found out by making one; None where nowhere.

    Of version 2 it has no share of CPU time of its own: it is where processes are counted and CPU time is not allotted,
    or else beside this process, without any controller. Of version 1 the controller `pids` has no part in that.
    """
    counting = hierarchies().get("pids")
    places = [counting] if counting is not None and counting.version == 1 else []
    return next((place for place in (*places, *_around_this_process()) if _can_be_made(place)), None)


def _around_this_process(mounts: str | None = None, membership: str | None = None) -> Iterator[Hierarchy]:
    """The innermost groups that count processes, then this process's own."""
    groups = (Path("/proc/self/cgroup").read_text() if membership is None else membership).splitlines()
    paths = [line.partition("::/")[2] for line in groups if line[:3] == "0::"]
    lines = (Path("/proc/self/mounts").read_text() if mounts is None else mounts).splitlines()
    tops = [Path(place) for _, place, kind, *_ in (line.split() for line in lines) if kind == "cgroup2"]
    for top, path in product(tops, paths):
        around = [folder for folder in (top / path, *(top / path).parents) if folder.is_relative_to(top)]
        for place in (folder for folder in around if "cpu" not in _enabled(folder)):
            if counts_members(hierarchy := Hierarchy(place, 2)):
                yield hierarchy
        yield Hierarchy(top / path, 2)


def counts_members(place: Hierarchy) -> bool:
    """Whether a group made there can have only so many processes.

    A group of version 2 that has processes itself can't be made to count those of others, but for the outermost.
    """
    if place.version == 1 or "pids" in _enabled(place.top):
        return True
    is_outermost = not (place.top / "cgroup.type").exists()
    return is_outermost and "pids" in _controllers(place.top)


def _enabled(group: Path) -> list[str]:
    return _words(group / "cgroup.subtree_control")


def _can_be_made(place: Hierarchy) -> bool:
    group = place.top / f"middlemark-{secrets.token_hex(4)}"
    try:
        group.mkdir()
        group.rmdir()
    except OSError:
        return False
    return True


def remove_group(group: Path) -> None:
    """Kills what is still in the group, which only a host's own processes can be, and removes it."""
    deadline = time.monotonic() + PATIENCE_S
    while group.exists() and time.monotonic() < deadline:
        for folder, _, _ in os.walk(group, topdown=False):
            _kill_members(Path(folder))
            with suppress(OSError):  # busy until the last of them is gone
                Path(folder).rmdir()
        time.sleep(POLL_S)


def _kill_members(group: Path) -> None:
    with suppress(OSError):
        if (group / KILL).exists():
            (group / KILL).write_text("1")
            return
        with suppress(OSError):
            (group / MOST_MEMBERS).write_text("0")  # so that none is born while the others are killed
        members = (procfs.identity(int(pid)) for pid in (group / MEMBERS).read_text().split())
        procfs.end([member for member in members if member is not None], patience_s=0)
