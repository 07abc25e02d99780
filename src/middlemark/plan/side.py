"""Two sides of a comparison in one campaign: every experiment once with the base's workers, once with the head's.

The side is a factor like any other, so that blocks hold both and `compare` and `gate` pair them. Which worker a side
has is `campaign`'s business.
"""

from collections.abc import Sequence

from middlemark.plan.experiment import Experiment, Side, experiment_id

FACTOR = "side"


def sided(experiments: Sequence[Experiment]) -> tuple[Experiment, ...]:
    """Each experiment on both sides."""
    return tuple(_on(side, each) for each in experiments for side in Side)


def _on(side: Side, experiment: Experiment) -> Experiment:
    factors = {**experiment.factors, FACTOR: side.value}
    return experiment.model_copy(update={"id": experiment_id(factors), "factors": factors, "side": side})
