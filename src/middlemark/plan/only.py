"""`--only factor=value,value`: the part of a plan that a user asks for.

Values of one factor are alternatives, different factors must all hold.
What matches nothing is refused with what there is.
"""

from collections.abc import Sequence

from middlemark.errors import UsageError
from middlemark.plan.experiment import Experiment
from middlemark.suite import respelled


def only(experiments: Sequence[Experiment], conditions: Sequence[str]) -> tuple[Experiment, ...]:
    """The experiments that have the named values; all of them where nothing is named."""
    wanted: dict[str, set[str]] = {}
    for condition in conditions:
        factor, values = _parse(condition, experiments)
        wanted.setdefault(factor, set()).update(values)
    chosen = tuple(e for e in experiments if all(e.factors.get(factor) in values for factor, values in wanted.items()))
    if not chosen:
        raise UsageError(
            f"no experiment of the suite has {' and '.join(conditions)}", remedy="see all of them with `--dry-run`"
        )
    return chosen


def _parse(condition: str, experiments: Sequence[Experiment]) -> tuple[str, list[str]]:
    factor, equals, written = (part.strip() for part in condition.partition("="))
    if not equals:
        raise UsageError(f"`--only {condition}` is no condition", remedy="write `--only factor=value`")
    factors = sorted({name for experiment in experiments for name in experiment.factors})
    if factor not in factors:
        raise UsageError(f"`--only {condition}`: no factor `{factor}`", remedy=f"factors: {', '.join(factors)}")
    values = {e.factors[factor] for e in experiments if factor in e.factors}
    spelled = {_unspaced(value): value for value in values}
    # A value may hold commas itself: `link=1 Gbit/s, 10 ms`.
    parts = [written] if _unspaced(written) in spelled else written.split(",")
    wanted = [spelled.get(_unspaced(part)) or respelled(factor, part.strip()) for part in parts]
    if not values.issuperset(wanted):
        raise UsageError(
            f"`--only {condition}`: no experiment has this {factor}", remedy=f"{factor}: {', '.join(sorted(values))}"
        )
    return factor, wanted


def _unspaced(value: str) -> str:
    return value.replace(" ", "")
