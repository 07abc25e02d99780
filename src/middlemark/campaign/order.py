"""A suite or a demand, planned with the workers that run it, and what all its trials share.

It reads the workers' descriptions, refuses names that no worker, metric or experiment has, with the line in the suite's
file, and has `plan` expand the suite. Nothing is run or written yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentNotReady, SuiteError, UsageError, WorkerFailed
from middlemark.plan import (
    Experiment,
    Side,
    Trial,
    expand,
    experiments_of,
    is_selected,
    observed,
    on_both_sides,
    only,
    order_trials,
)
from middlemark.suite import (
    ALL_MIDDLEWARES,
    Demand,
    Disturbance,
    LoadedDemand,
    LoadedSuite,
    MiddlewareChoice,
    Selection,
    Suite,
)
from middlemark.suite.claims.claim import STREAM
from middlemark.suite.metrics import PLAIN, metric_named
from middlemark.suite.yaml.document import KeyPath, read_document
from middlemark.suite.yaml.model import closest_first
from middlemark.testbed.processes.ledger import Ledger
from middlemark.worker import executables
from middlemark.worker.contract import Description
from middlemark.worker.description import describe, describe_usable, distinct_profiles

_WITH_A_WIDTH = ", ".join(
    ("a latency", *(f"`{row.name}`" for row in PLAIN if not (row.of_search or row.is_share or row.observed_by)))
)
"""The metrics that a `stop` may be on, in words."""


@dataclass(frozen=True)
class Worker:
    """A worker and what it says of itself."""

    path: Path
    description: Description


@dataclass(frozen=True)
class CampaignResources:
    """What every trial of a campaign has in common."""

    workers: Mapping[str, Worker]
    """By middleware."""
    base: Mapping[str, Worker]
    """By middleware: those of the base that is compared against, where there is one."""
    ledger: Ledger
    bounds: Disturbance
    """When a trial is invalid because the machine was taken away, and how often it is then repeated."""
    cpus: tuple[int, ...] = field(default_factory=lambda: tuple(sorted(os.sched_getaffinity(0))))

    def worker_of(self, experiment: Experiment) -> Worker:
        """The worker that the experiment's applications are."""
        return (self.base if experiment.side is Side.BASE else self.workers)[experiment.middleware]


@dataclass(frozen=True)
class Order:
    """A suite or a demand as it is written and as it is planned, with the workers for it."""

    definition: Suite | Demand
    text: str
    """The file of the suite, or of the application's demand, word for word."""
    trials: tuple[Trial, ...]
    workers: Mapping[str, Worker]
    left_out: Mapping[str, str]
    """Middlewares that the suite would have measured had they a worker here, with the reason."""
    against: tuple[Path, ...] = ()
    """The folders of the base's workers, where the campaign has two sides."""
    base: Mapping[str, Worker] = field(default_factory=dict)
    """The base's workers."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files that the suite names."""

    @property
    def name(self) -> str:
        """The suite's, or the application's."""
        return self.definition.suite if isinstance(self.definition, Suite) else self.definition.application


def order_suite(
    loaded: LoadedSuite, conditions: Sequence[str], trials: int | None, against: Sequence[Path] = ()
) -> Order:
    """Plans a suite with the workers that there are here, and those of the base as a second side where one is named."""
    suite = loaded.suite
    workers, unfit = available_workers()
    check_settings(loaded, workers)
    base = base_workers(against)
    if against:
        check_settings(loaded, base)
        unfit |= dict.fromkeys(workers.keys() - base.keys(), "the base has no worker for it")
        workers = {name: worker for name, worker in workers.items() if name in base}
        _check_base(suite, base, against)
    expanded = expand(suite, available=list(workers))
    whole = on_both_sides(expanded) if against else expanded
    check_claims(loaded, whole)
    experiments = only(whole, conditions)
    blocks, observe = trials or suite.trials, suite.observe or ()
    fixed = suite.stop.max_trials if suite.stop else blocks
    of_each = (point.search.max_trials * point.search.searches if point.search else fixed for point in experiments)
    most = (1 + len(set(observe))) * sum(of_each)
    planned = order_trials(experiments, blocks=blocks, seed=suite.seed, observe=observe, most_trials=most)
    wants_all = any(choice.middleware == ALL_MIDDLEWARES for choice in suite.middlewares)
    return Order(
        definition=suite,
        text=loaded.text,
        trials=planned,
        workers=needed_workers(planned, workers, unfit),
        left_out=unfit if wants_all else {},
        against=tuple(folder.resolve() for folder in against),
        base=needed_workers(planned, base, {}) if against else {},
        files=loaded.files,
    )


def order_demand(loaded: LoadedDemand, conditions: Sequence[str], trials: int | None) -> Order:
    """Plans the trials of an application with the workers that there are here."""
    demand = loaded.demand if trials is None else loaded.demand.model_copy(update={"trials": trials})
    workers, unfit = available_workers()
    check_demand(loaded, workers)
    profiles = {name: distinct_profiles(worker.description) for name, worker in workers.items()}
    experiments = only(experiments_of(demand, profiles), conditions)
    planned = order_trials(experiments, blocks=demand.trials, seed=demand.seed, observe=observed(demand))
    wants_all = any(choice.middleware == ALL_MIDDLEWARES for choice in demand.middlewares)
    return Order(
        definition=demand,
        text=loaded.text,
        trials=planned,
        workers=needed_workers(planned, workers, unfit),
        left_out=unfit if wants_all else {},
        files=loaded.files,
    )


def _check_base(suite: Suite, base: Mapping[str, Worker], against: Sequence[Path]) -> None:
    named = [choice.middleware for choice in suite.middlewares if choice.middleware != ALL_MIDDLEWARES]
    missing = [name for name in named if name not in base] if base else ["any middleware"]
    if missing:
        raise EnvironmentNotReady(
            f"the base has no worker for {', '.join(missing)} in {', '.join(map(str, against))}",
            remedy=f"name folders that hold executables `{executables.PREFIX}<middleware>`",
        )


def base_workers(against: Sequence[Path]) -> dict[str, Worker]:
    """The workers of these folders; one that does not answer is an error, as it would be compared."""
    return {name: Worker(path, describe(path)) for name, path in executables.workers(against).items()}


def available_workers() -> tuple[dict[str, Worker], dict[str, str]]:
    """The workers that answer, and the middlewares that have none that does, with the reason."""
    fit: dict[str, Worker] = {}
    unfit = {build.worker: build.reason or "not built" for build in executables.builds() if build.status != "built"}
    for middleware, path in executables.workers().items():
        try:
            fit[middleware] = Worker(path, describe_usable(path))
        except WorkerFailed as failure:
            unfit[middleware] = failure.text + executables.remedy(middleware)
    return fit, {middleware: reason for middleware, reason in unfit.items() if middleware not in fit}


def needed_workers(
    trials: Sequence[Trial], workers: Mapping[str, Worker], unfit: Mapping[str, str]
) -> dict[str, Worker]:
    """The workers of these trials."""
    middlewares = sorted({trial.experiment.middleware for trial in trials})
    for middleware in middlewares:
        if middleware not in workers:
            raise EnvironmentNotReady(
                f"there is no worker for `{middleware}`: {unfit.get(middleware, 'none was found')}",
                remedy="`middlemark doctor` says what is missing",
            )
    return {middleware: workers[middleware] for middleware in middlewares}


def check_settings(loaded: LoadedSuite, workers: Mapping[str, Worker]) -> None:
    """Refuses the first name in the suite that no worker knows."""
    _check_stop(loaded)
    _check(loaded, loaded.suite.middlewares, loaded.suite.profiles, workers)


def check_demand(loaded: LoadedDemand, workers: Mapping[str, Worker]) -> None:
    """Refuses the first name in the demand that no worker knows."""
    _check(loaded, loaded.demand.middlewares, loaded.demand.profiles or (), workers)


def _check(
    loaded: LoadedSuite | LoadedDemand,
    choices: Sequence[MiddlewareChoice],
    profiles: Sequence[str],
    workers: Mapping[str, Worker],
) -> None:
    if not workers:
        return  # that there are none is the first thing to say, and `plan` says it
    for path, problem, name, known in (*_options(choices, workers), *_profiles(choices, profiles, workers)):
        if name not in known:
            document = read_document(loaded.text, file=loaded.file)
            raise document.error(problem, path, closest_first(name, known))


def _check_stop(loaded: LoadedSuite) -> None:
    """Refuses a `stop` on what is no metric, or is a share: a width relative to a loss of zero says nothing."""
    for number, precision in enumerate(loaded.suite.stop.figures or () if loaded.suite.stop else ()):
        path = ("stop", "figures", number)
        document = read_document(loaded.text, file=loaded.file)
        try:
            metric = metric_named(precision.figure)
        except UsageError as unknown:
            raise document.error(unknown.text, path, unknown.remedy) from unknown
        if metric.of_search:
            problem = f"`{precision.figure}` belongs to searches, which have `searches` and `max_trials` of their own"
            raise document.error(problem, path, _WITH_A_WIDTH)
        if metric.is_share:
            problem = f"`{precision.figure}` is a share, which may be 0 and so has no relative width"
            raise document.error(problem, path, _WITH_A_WIDTH)
        if metric.observed_by is not None:
            problem = f"`{precision.figure}` is measured in trials with the observation {metric.observed_by} alone"
            raise document.error(problem, path, _WITH_A_WIDTH)


Choices = Iterator[tuple[KeyPath, str, str, list[str]]]
"""Where the suite names something, what is wrong where it is not known, its name, and the names that are known."""


def _options(choices: Sequence[MiddlewareChoice], workers: Mapping[str, Worker]) -> Choices:
    for number, choice in enumerate(choices):
        every = choice.middleware == ALL_MIDDLEWARES
        chosen = list(workers) if every else [choice.middleware]
        known = sorted({row.name for name in chosen if name in workers for row in workers[name].description.options})
        for option in choice.options if every or choice.middleware in workers else ():
            problem = f"`{choice.middleware}` has no option `{option}`"
            yield ("middlewares", number, "options", option), problem, option, known


def _profiles(choices: Sequence[MiddlewareChoice], profiles: Sequence[str], workers: Mapping[str, Worker]) -> Choices:
    known = sorted({profile for worker in workers.values() for profile in worker.description.profiles})
    for profile in profiles:
        yield ("profiles",), f"no middleware has a profile `{profile}`", profile, known
    for number, choice in enumerate(choices):
        for profile in choice.profiles or ():
            yield ("middlewares", number, "profiles"), f"no middleware has a profile `{profile}`", profile, known


def check_claims(loaded: LoadedSuite, experiments: Sequence[Experiment]) -> None:
    """Refuses the first claim that selects no experiment."""
    every = any(choice.middleware == ALL_MIDDLEWARES for choice in loaded.suite.middlewares)
    for number, claim in enumerate(loaded.suite.claims):
        for selection in claim.selections:
            if every and "middleware" in dict(selection.factors):
                selection = _without_middleware(selection)  # noqa: PLW2901 - who has no worker here is left out, not wrong
            if not any(is_selected(experiment, selection) for experiment in experiments):
                raise _refusal(loaded, number, selection, experiments)


def _without_middleware(selection: Selection) -> Selection:
    return Selection(tuple(pair for pair in selection.factors if pair[0] != "middleware"))


def _refusal(loaded: LoadedSuite, number: int, selection: Selection, experiments: Sequence[Experiment]) -> SuiteError:
    document = read_document(loaded.text, file=loaded.file)
    for name, value in selection.factors:
        known = _values(name, experiments)
        if not known:
            factors = sorted({factor for experiment in experiments for factor in experiment.factors} | {STREAM})
            return document.error(f"no factor `{name}`", ("claims", number), closest_first(name, factors))
        if not any(is_selected(experiment, Selection(((name, value),))) for experiment in experiments):
            problem = f"no experiment of the suite has {name}={value}"
            return document.error(problem, ("claims", number), f"{name}: {closest_first(value, known)}")
    return document.error(
        f"no experiment of the suite has all of {selection}",
        ("claims", number),
        "a selection that an experiment has; `middlemark run --dry-run` shows them",
    )


def _values(name: str, experiments: Sequence[Experiment]) -> list[str]:
    if name == STREAM:
        return sorted({stream.name for experiment in experiments for stream in experiment.streams})
    return sorted({experiment.factors[name] for experiment in experiments if name in experiment.factors})
