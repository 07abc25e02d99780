"""What a user orders: a suite or a demand, which part of it, how often; and which workers carry it out.

It asks the workers what they are and has `plan` expand the suite; nothing is run or written yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.campaign import asked, claimed
from middlemark.campaign.grounds import Worker
from middlemark.errors import EnvironmentNotReady, WorkerFailed
from middlemark.plan import Trial, expand, experiments_of, observed, only, order_trials, sided
from middlemark.suite import ALL_MIDDLEWARES, Demand, LoadedDemand, LoadedSuite, Suite
from middlemark.worker import locate
from middlemark.worker.description import describe


@dataclass(frozen=True)
class Order:
    """A suite or a demand as given and as planned, with the workers for it."""

    given: Suite | Demand
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
        return self.given.suite if isinstance(self.given, Suite) else self.given.application


def place(loaded: LoadedSuite, conditions: Sequence[str], trials: int | None, against: Sequence[Path] = ()) -> Order:
    """Plans a suite with the workers that there are here, and those of the base as a second side where one is named."""
    suite = loaded.suite
    workers, unfit = available()
    asked.check(loaded, workers)
    base = base_workers(against)
    if against:
        asked.check(loaded, base)
        unfit |= dict.fromkeys(workers.keys() - base.keys(), "the base has no worker for it")
        workers = {name: worker for name, worker in workers.items() if name in base}
        _check_base(suite, base, against)
    expanded = expand(suite, available=list(workers))
    whole = sided(expanded) if against else expanded
    claimed.check(loaded, whole)
    experiments = only(whole, conditions)
    blocks, observe = trials or suite.trials, suite.observe or ()
    fixed = suite.stop.max_trials if suite.stop else blocks
    of_each = (each.search.max_trials * each.search.searches if each.search else fixed for each in experiments)
    most = (1 + len(set(observe))) * sum(of_each)
    planned = order_trials(experiments, blocks=blocks, seed=suite.seed, observe=observe, most_trials=most)
    wants_all = any(choice.middleware == ALL_MIDDLEWARES for choice in suite.middlewares)
    return Order(
        given=suite,
        text=loaded.text,
        trials=planned,
        workers=needed(planned, workers, unfit),
        left_out=unfit if wants_all else {},
        against=tuple(folder.resolve() for folder in against),
        base=needed(planned, base, {}) if against else {},
        files=loaded.files,
    )


def place_demand(loaded: LoadedDemand, conditions: Sequence[str], trials: int | None) -> Order:
    """Plans the trials of an application with the workers that there are here."""
    demand = loaded.demand if trials is None else loaded.demand.model_copy(update={"trials": trials})
    workers, unfit = available()
    asked.check_demand(loaded, workers)
    profiles = {name: tuple(worker.description.profiles) for name, worker in workers.items()}
    experiments = only(experiments_of(demand, profiles), conditions)
    planned = order_trials(experiments, blocks=demand.trials, seed=demand.seed, observe=observed(demand))
    wants_all = any(choice.middleware == ALL_MIDDLEWARES for choice in demand.middlewares)
    return Order(
        given=demand,
        text=loaded.text,
        trials=planned,
        workers=needed(planned, workers, unfit),
        left_out=unfit if wants_all else {},
        files=loaded.files,
    )


def _check_base(suite: Suite, base: Mapping[str, Worker], against: Sequence[Path]) -> None:
    named = [choice.middleware for choice in suite.middlewares if choice.middleware != ALL_MIDDLEWARES]
    missing = [name for name in named if name not in base] if base else ["any middleware"]
    if missing:
        raise EnvironmentNotReady(
            f"the base has no worker for {', '.join(missing)} in {', '.join(map(str, against))}",
            remedy=f"name folders that hold executables `{locate.PREFIX}<middleware>`",
        )


def base_workers(against: Sequence[Path]) -> dict[str, Worker]:
    """The workers of these folders; one that does not answer is an error, as it would be compared."""
    return {name: Worker(path, describe(path)) for name, path in locate.workers(against).items()}


def available() -> tuple[dict[str, Worker], dict[str, str]]:
    """The workers that answer, and the middlewares that have none that does, with the reason."""
    fit: dict[str, Worker] = {}
    unfit = {build.worker: build.reason or "not built" for build in locate.builds() if build.status != "built"}
    for middleware, path in locate.workers().items():
        try:
            fit[middleware] = Worker(path, describe(path))
        except WorkerFailed as failure:
            unfit[middleware] = failure.text
    return fit, {middleware: reason for middleware, reason in unfit.items() if middleware not in fit}


def needed(trials: Sequence[Trial], workers: Mapping[str, Worker], unfit: Mapping[str, str]) -> dict[str, Worker]:
    """The workers of these trials."""
    middlewares = sorted({trial.experiment.middleware for trial in trials})
    for middleware in middlewares:
        if middleware not in workers:
            raise EnvironmentNotReady(
                f"there is no worker for `{middleware}`: {unfit.get(middleware, 'none was found')}",
                remedy="`middlemark doctor` says what is missing",
            )
    return {middleware: workers[middleware] for middleware in middlewares}
