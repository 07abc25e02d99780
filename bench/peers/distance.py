"""How far apart the two CPUs of a site are: what a cache line takes from one to the other and back.

A host may move the virtual CPUs of its guests to cores that are nearer or farther, and all that two CPUs do together
then takes a different time. `compare` compares only what was measured at one distance; nothing here measures a side.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from peer import Cores, Site
from tools.references import BUILT

PROGRAM = BUILT / "transfer"
LONGEST_S = 20.0
MOST_CHANGE = 1.3
"""Of the longest to the shortest at one distance: 1.16 was seen while nothing moved, 4 where the host moved them."""


class MovedError(Exception):
    """The CPUs were moved while both sides were measured, each time that it was tried."""


def missing() -> str | None:
    """Why it can't be measured, with the remedy."""
    return None if PROGRAM.exists() else "transfer is not built: bench/peers/programs/build.sh says why"


def measured_ns(site: Site) -> float | None:
    """It takes 0.1 s of both CPUs; none where both ends are on one."""
    if site.cores is Cores.ONE:
        return None
    command = [str(PROGRAM), str(site.receiver), str(site.sender)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LONGEST_S).stdout)


def is_one(distances_ns: Sequence[float | None]) -> bool:
    """Whether nothing was moved from the first to the last."""
    known_ns = [distance_ns for distance_ns in distances_ns if distance_ns is not None]
    return not known_ns or max(known_ns) <= MOST_CHANGE * min(known_ns)
