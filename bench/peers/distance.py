"""Whether the two CPUs of a site stayed where they are while both sides were measured.

A host may move the virtual CPUs of its guests to cores that are nearer or farther, and all that two CPUs do together
then takes a different time. `compare` compares only what was measured at one distance; nothing here measures a side.
"""

from __future__ import annotations

from collections.abc import Sequence

from middlemark.analysis.experiment.distance import is_one_distance
from middlemark.testbed.machine.distance import cpu_distance_ns
from peer import Cores, Site


class MovedError(Exception):
    """The CPUs were moved while both sides were measured, each time that it was tried."""


def measured_ns(site: Site) -> float | None:
    """None where both ends are on one core."""
    return None if site.cores is Cores.ONE else cpu_distance_ns(site.receiver, site.sender)


def is_one(distances_ns: Sequence[float | None]) -> bool:
    """Whether nothing was moved from the first to the last; what could not be measured says nothing."""
    known_ns = [distance_ns for distance_ns in distances_ns if distance_ns is not None]
    return not known_ns or is_one_distance(known_ns)
