"""The factors of an experiment: which belong to its candidate, and which to the setting that it is compared in.

A candidate is a middleware with its configuration, on one side where two builds are compared. `resolve` names the
factors of a point of the matrix; nothing here plans or compares.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence

from middlemark.plan.experiment import Experiment
from middlemark.suite import OPTION

SIDE_FACTOR = "side"
"""What an experiment with the base's workers and the same with the head's differ in."""
WITH_OPTIONS = ("middleware", "profile")
"""The factors that options go with: what differs in these is compared each with its own options."""
CANDIDATE_FACTORS = (*WITH_OPTIONS, SIDE_FACTOR)
"""The factors that a ranking varies: its candidates differ in these, and in their options."""
SENT_FACTORS = ("workload", "size", "rate")
"""The factors that say what is sent."""

Factors = tuple[tuple[str, str], ...]
"""Name and value of each."""


def is_of_candidate(factor: str) -> bool:
    """Whether candidates of one setting may differ in it."""
    return factor in CANDIDATE_FACTORS or factor.startswith(OPTION)


def setting_factors(experiment: Experiment) -> Factors:
    """What an experiment has in common with those that it is compared with."""
    return tuple((name, value) for name, value in experiment.factors.items() if not is_of_candidate(name))


def sent_factors(experiment: Experiment) -> Factors:
    """What an experiment sends, under whatever conditions."""
    return tuple((name, experiment.factors[name]) for name in SENT_FACTORS if name in experiment.factors)


def fixed_factors(experiment: Experiment, varied: Collection[str]) -> Factors:
    """The factors in which experiments must agree to be compared: all but those varied, and options where they go."""
    without_options = any(name in WITH_OPTIONS for name in varied)
    return tuple(
        sorted(
            (name, value)
            for name, value in experiment.factors.items()
            if name not in varied and not (without_options and name.startswith(OPTION))
        )
    )


def varying_factors(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """The factors that tell these experiments apart; the middleware always is one."""
    names = dict.fromkeys(name for experiment in experiments for name in experiment.factors)
    values = {name: {experiment.factors.get(name) for experiment in experiments} for name in names}
    return tuple(name for name in names if name == "middleware" or len(values[name]) > 1)


def experiment_id(factors: Mapping[str, str]) -> str:
    """A name for people with a digest of all factors: `zenoh-camera-C1-1-1f0c9a3e`."""
    digest = hashlib.sha256(json.dumps(factors, sort_keys=True).encode()).hexdigest()[:8]
    return f"{factors['middleware']}-{factors['workload']}-{factors['topology']}-{digest}"
