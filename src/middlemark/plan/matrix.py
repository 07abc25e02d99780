"""A suite to its experiments: the product of its lists, less what `exclude` names, and the part that `--only` names.

What a point means `resolve` says, in which order its trials run `schedule`; the workers of the base and the head, which
both have every experiment where two are compared, are `campaign`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.application import Pair
from middlemark.plan.experiment import Experiment, Side
from middlemark.plan.factors import SIDE_FACTOR, experiment_id
from middlemark.plan.resolve import MatrixPoint, Subject, WorkloadPoint, factors_of, resolve
from middlemark.suite import (
    ALL_MIDDLEWARES,
    NOT_SET,
    Conditions,
    MiddlewareChoice,
    Pattern,
    Payload,
    Qos,
    Search,
    Selection,
    Suite,
    Workload,
    respelled,
    shipped_topologies,
    shipped_workloads,
)
from middlemark.suite.claims.claim import STREAM

# More would take weeks to measure; the product of a few long lists is soon more than memory holds.
_MOST_POINTS = 20_000


def expand(suite: Suite, *, available: Sequence[str]) -> tuple[Experiment, ...]:
    """All experiments of a suite, for the middlewares that are available here."""
    measured = [pair for choice in suite.middlewares for pair in _measured(suite, choice, available)]
    topologies = [choice.over(shipped_topologies()) for choice in suite.topologies]
    count = len(measured) * len(topologies) * len(suite.conditions)
    if count > _MOST_POINTS:
        raise UsageError(f"the suite `{suite.suite}` has {count} points", remedy=f"allowed: at most {_MOST_POINTS}")
    rules = [rule.factors() for rule in suite.exclude]
    experiments = {}
    for (subject, load), topology, conditions in product(measured, topologies, suite.conditions):
        point = MatrixPoint(subject, load, topology, _with_faults(conditions, load.workload))
        factors = factors_of(point)
        if any(_matches(factors, rule) for rule in rules):
            continue
        experiment = resolve(suite, point, factors)
        if experiment.id in experiments:
            raise UsageError(f"the suite `{suite.suite}` has this experiment twice: {experiment.key}")
        experiments[experiment.id] = experiment
    if not experiments:
        raise UsageError(f"the suite `{suite.suite}` excludes every experiment that it names")
    return tuple(experiments.values())


def _with_faults(conditions: Conditions, workload: Workload) -> Conditions:
    """These conditions, under what goes wrong with the workload where they name nothing."""
    if conditions.faults is not None or workload.faults is None:
        return conditions
    return conditions.model_copy(update={"faults": workload.faults})


def _matches(factors: dict[str, str], rule: dict[str, frozenset[str]]) -> bool:
    return all(factors.get(name, NOT_SET) in values for name, values in rule.items())


def _measured(
    suite: Suite, choice: MiddlewareChoice, available: Sequence[str]
) -> Iterator[tuple[Subject, WorkloadPoint]]:
    return product(_subjects(suite, choice, available), _loads(suite, choice))


def _subjects(suite: Suite, choice: MiddlewareChoice, available: Sequence[str]) -> Iterator[Subject]:
    if not available:
        raise EnvironmentNotReady("no worker is built", remedy="build the workers: `make workers`")
    names = available if choice.middleware == ALL_MIDDLEWARES else [choice.middleware]
    for name in names if choice.pair is None else choice.pair:
        if name not in available:
            raise EnvironmentNotReady(
                f"the suite `{suite.suite}` names `{name}`, which has no worker here",
                remedy=f"`middlemark doctor` says why; available: {', '.join(available)}",
            )
    options = [dict(zip(choice.options, values, strict=True)) for values in product(*choice.options.values())]
    deliveries = choice.delivery or suite.delivery or (None,)
    pair = None if choice.pair is None else Pair(publishers=choice.pair[0], subscribers=choice.pair[1])
    for name, profile, chosen, delivery in product(names, choice.profiles or suite.profiles, options, deliveries):
        yield Subject(name, profile, chosen, delivery, pair)


def _loads(suite: Suite, choice: MiddlewareChoice) -> Iterator[WorkloadPoint]:
    for entry in suite.workloads:
        shipped = shipped_workloads().get(entry.workload)
        whole = entry.over(shipped)
        sizes = _sizes(suite, entry, whole)
        base = (shipped.qos if shipped else None) or (Qos(),)
        changes = entry.qos or choice.qos or suite.qos
        qos = [b.changed_by(change) for b in base for change in changes] if changes else base
        others = (qos, whole.topics or (None,), whole.serialisation or (None,))
        for size, rate, requested, topics, serialisation in product(sizes, _rates(whole), *others):
            yield WorkloadPoint(whole, size, rate, requested, topics, serialisation)


def _sizes(suite: Suite, entry: Workload, whole: Workload) -> tuple[int | None, ...]:
    """Those that are given, or the one that the payload has; a search for one begins at its smallest."""
    if whole.payload is Payload.IMU:
        return whole.size or ()
    if whole.needs("size"):
        return entry.size or suite.sizes or whole.size or ()
    return ((whole.search or Search()).smallest,) if whole.pattern is Pattern.CAPACITY else (None,)


def _rates(workload: Workload) -> tuple[float | None, ...]:
    """Those that are given; a search for one begins at its lowest."""
    if workload.pattern is Pattern.CAPACITY and not workload.needs("rate"):
        return ((workload.search or Search()).lowest,)
    return (workload.rate or (None,)) if workload.needs("rate") else (None,)


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
        raise UsageError(
            f"`--only {condition}` is not of the form `factor=value`", remedy="write `--only factor=value`"
        )
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


def is_selected(experiment: Experiment, selection: Selection) -> bool:
    """Whether an experiment has all values of a selection."""
    return all(_has(experiment, name, value) for name, value in selection.factors)


def _has(experiment: Experiment, name: str, value: str) -> bool:
    if name == STREAM:
        return any(stream.name == value for stream in experiment.streams)
    return _unspaced(experiment.factors.get(name, NOT_SET)) == _unspaced(value)


def on_both_sides(experiments: Sequence[Experiment]) -> tuple[Experiment, ...]:
    """Each experiment on both sides."""
    return tuple(_on(side, experiment) for experiment in experiments for side in Side)


def _on(side: Side, experiment: Experiment) -> Experiment:
    factors = {**experiment.factors, SIDE_FACTOR: side.value}
    return experiment.model_copy(update={"id": experiment_id(factors), "factors": factors, "side": side})
