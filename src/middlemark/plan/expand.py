"""A suite to its experiments: the product of all its lists, less what `exclude` names.

Pure: which middlewares there are is given. What a point means is `resolve`'s question, the order of trials `trial`'s.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan.experiment import Experiment
from middlemark.plan.resolve import Load, Point, Subject, factors_of, resolve
from middlemark.suite import (
    ALL_MIDDLEWARES,
    NOT_SET,
    Conditions,
    MiddlewareChoice,
    Pattern,
    Qos,
    Search,
    Suite,
    Workload,
    shipped_topologies,
    shipped_workloads,
)

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
        point = Point(subject, load, topology, _with_faults(conditions, load.workload))
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


def _measured(suite: Suite, choice: MiddlewareChoice, available: Sequence[str]) -> Iterator[tuple[Subject, Load]]:
    return product(_subjects(suite, choice, available), _loads(suite, choice))


def _subjects(suite: Suite, choice: MiddlewareChoice, available: Sequence[str]) -> Iterator[Subject]:
    if not available:
        raise EnvironmentNotReady("no worker is built", remedy="build the workers: `make workers`")
    names = available if choice.middleware == ALL_MIDDLEWARES else [choice.middleware]
    for name in names:
        if name not in available:
            raise EnvironmentNotReady(
                f"the suite `{suite.suite}` asks for `{name}`, and there is no worker for it here",
                remedy=f"`middlemark doctor` says why; available: {', '.join(available)}",
            )
    options = [dict(zip(choice.options, values, strict=True)) for values in product(*choice.options.values())]
    for name, profile, chosen in product(names, choice.profiles or suite.profiles, options):
        yield Subject(name, profile, chosen)


def _loads(suite: Suite, choice: MiddlewareChoice) -> Iterator[Load]:
    for entry in suite.workloads:
        shipped = shipped_workloads().get(entry.workload)
        whole = entry.over(shipped)
        sizes = _sizes(suite, entry, whole)
        base = (shipped.qos if shipped else None) or (Qos(),)
        changes = entry.qos or choice.qos or suite.qos
        qos = [b.changed_by(change) for b in base for change in changes] if changes else base
        for size, rate, asked in product(sizes, _rates(whole), qos):
            yield Load(whole, size, rate, asked)


def _sizes(suite: Suite, entry: Workload, whole: Workload) -> tuple[int | None, ...]:
    """Those that are given; a search for one begins at its smallest."""
    if whole.needs("size"):
        return entry.size or suite.sizes or whole.size or ()
    return ((whole.search or Search()).smallest,) if whole.pattern is Pattern.CAPACITY else (None,)


def _rates(workload: Workload) -> tuple[float | None, ...]:
    """Those that are given; a search for one begins at its lowest."""
    if workload.pattern is Pattern.CAPACITY and not workload.needs("rate"):
        return ((workload.search or Search()).lowest,)
    return (workload.rate or (None,)) if workload.needs("rate") else (None,)
