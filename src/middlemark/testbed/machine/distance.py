"""How far apart two CPUs of this machine are now: what a cache line takes from one to the other and back.

A host may move the virtual CPUs of its guests, and all that two CPUs do together then takes a different time.
`middlemark-probe` measures it in some milliseconds; whether it differed between trials, `analysis` says.
"""

from __future__ import annotations

from middlemark.errors import EnvironmentUnusable
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.suite import Model
from middlemark.testbed.processes.child import executable

_PATIENCE_S = 10.0


class _Found(Model):
    round_trip_ns: float | None


def cpu_distance_ns(first: int, second: int) -> float | None:
    """None where it can't be measured: the CPUs are busy, or not this process's, or the probe is not built."""
    try:
        answer = answer_of([executable("probe"), "distance", str(first), str(second)], within_s=_PATIENCE_S)
        return None if answer.exit_status else _Found.model_validate_json(answer.output).round_trip_ns
    except (EnvironmentUnusable, NoAnswer, ValueError):
        return None
