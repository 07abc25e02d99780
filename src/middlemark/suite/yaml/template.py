"""A first suite for a user's own case, as YAML with a comment on each line that a user would change.

`cli.measure.init` has the answers that it is made of; what it gives is read by `load` like any other suite.
"""

from __future__ import annotations

import re
from typing import Final

from middlemark.errors import UsageError
from middlemark.suite.load import shipped_workloads
from middlemark.suite.yaml.model import closest_first

_LOAD: Final = re.compile(r"\s*(?P<size>[0-9.]+\s*[kKMG]?i?B)\s+at\s+(?P<rate>[0-9.]+\s*k?Hz)\s*")


def suite_text(name: str, middlewares: str, messages: str, topology: str) -> str:
    """A suite of this name: middlewares with commas or `all`; a shipped workload, or `2 MB at 10 Hz`; a topology."""
    chosen = ", ".join(part for part in re.split(r"[\s,]+", middlewares.strip()) if part)
    return f"""\
# What would run, in which order and for how long: middlemark run {name}.yaml --dry-run
# Everything that a suite can say: docs/guide/suites.md
suite: {name}
summary: {messages.strip()} on {topology}
seed: 1                      # the same seed gives the same order of trials
trials: 5                    # of each experiment; more make the intervals narrower

middlewares: {"all" if chosen == "all" else f"[{chosen}]"}   # all of them: middlemark list middlewares
profiles: [default]          # add `tuned` for what its documentation advises

workloads:
{_workload(messages)}

topologies: [{topology}]         # others: middlemark list topologies; a drawing: middlemark topology show {topology}

conditions: {{cpus: spread, keep_awake: true}}   # also CPU load, links with delay or loss, containers, faults
windows: {{warm_up: 200 ms, window: 2 s}}        # how long each trial measures
"""


def _workload(messages: str) -> str:
    load = _LOAD.fullmatch(messages)
    if load is not None:
        return f"""\
  - workload: own            # a name for your messages
    pattern: periodic
    size: {load["size"]}
    rate: {load["rate"]}
    qos: {{reliability: reliable}}   # or best_effort"""
    names = list(shipped_workloads())
    if messages.strip() not in names:
        raise UsageError(
            f"{messages!r} is neither a shipped workload nor a size and a rate",
            remedy=f"`2 MB at 10 Hz`, or one of: {closest_first(messages, names)}",
        )
    return f"""\
  # Its sizes and rates: middlemark list workloads. Others: {{workload: …, size: 2 MB, rate: 10 Hz}}
  - {{workload: {messages.strip()}}}"""
