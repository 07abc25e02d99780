"""How long a campaign takes at least, from its windows and a fixed cost for each trial.

An estimate before anything has run; `campaign` replaces the fixed cost by the one it sees.
"""

from collections.abc import Iterable

from middlemark.plan.trial import Trial

FIXED_COST_NS = 500_000_000
"""Start, discovery, closing and storing of one trial: a run of ten middlewares on two cores took 0.35 s a trial."""


def trial_duration_ns(trial: Trial, *, fixed_cost_ns: int = FIXED_COST_NS) -> int:
    """One trial that goes well: nothing lost, no waiting for its deadlines."""
    windows = trial.experiment.windows
    return fixed_cost_ns + windows.warm_up_ns + windows.window_ns


def campaign_duration_ns(trials: Iterable[Trial], *, fixed_cost_ns: int = FIXED_COST_NS) -> int:
    """All trials, one after another."""
    return sum(trial_duration_ns(trial, fixed_cost_ns=fixed_cost_ns) for trial in trials)
