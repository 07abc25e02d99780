"""A suite or a demand, planned with the workers that run it.

It reads the workers' descriptions, leaves out with the reason what is not installed, has `checks.names` check the suite
and `plan` expand it. Nothing is run or written yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from middlemark.campaign.checks.names import check_claims, check_demand, check_settings
from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import Trial, expand, experiments_of, on_both_sides, only, order_trials, watched
from middlemark.results.manifest import TAG
from middlemark.suite import ALL_MIDDLEWARES, Demand, LoadedDemand, LoadedSuite, MiddlewareChoice, Suite
from middlemark.worker import executables
from middlemark.worker.available import Worker, available_workers, base_workers, needed_workers
from middlemark.worker.contract import Description
from middlemark.worker.description import distinct_profiles


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
    tags: tuple[str, ...] = ()
    """By which its user finds the run among others."""

    @property
    def name(self) -> str:
        """The suite's, or the application's."""
        return self.definition.suite if isinstance(self.definition, Suite) else self.definition.application


def tagged(order: Order, tags: Sequence[str]) -> Order:
    """The same with tags for its run."""
    for tag in tags:
        if TAG.fullmatch(tag) is None:
            raise UsageError(
                f"{tag!r} can't be a tag",
                remedy="a letter or a digit, then at most 63 letters, digits, `.`, `_` and `-`",
            )
    return replace(order, tags=tuple(dict.fromkeys(tags)))


def order_suite(
    loaded: LoadedSuite, conditions: Sequence[str], trials: int | None, against: Sequence[Path] = ()
) -> Order:
    """Plans a suite with the workers that there are here, and those of the base as a second side where one is named."""
    workers, unfit = available_workers()
    check_settings(loaded, _descriptions(workers))
    left_out = left_out_of(loaded.suite.middlewares, workers, unfit)
    suite = loaded.suite.model_copy(update={"middlewares": _measured(loaded.suite.middlewares, left_out)})
    base = base_workers(against)
    if against:
        check_settings(loaded, _descriptions(base))
        unfit |= dict.fromkeys(workers.keys() - base.keys(), "the base has no worker for it")
        workers = {name: worker for name, worker in workers.items() if name in base}
        _check_base(suite, base, against)
        left_out |= left_out_of(suite.middlewares, workers, unfit)
    expanded = expand(suite, available=list(workers))
    whole = on_both_sides(expanded) if against else expanded
    check_claims(loaded, whole, left_out)
    experiments = only(whole, conditions)
    blocks, observe = trials or suite.trials, watched(suite)
    fixed = suite.stop.max_trials if suite.stop else blocks
    of_each = (point.search.max_trials * point.search.searches if point.search else fixed for point in experiments)
    most = len(observe.kinds(1)) * sum(of_each)
    planned = order_trials(experiments, blocks=blocks, seed=suite.seed, observe=observe, most_trials=most)
    return Order(
        definition=loaded.suite,
        text=loaded.text,
        trials=planned,
        workers=needed_workers(planned, workers, unfit),
        left_out=left_out,
        against=tuple(folder.resolve() for folder in against),
        base=needed_workers(planned, base, {}) if against else {},
        files=loaded.files,
    )


def order_demand(loaded: LoadedDemand, conditions: Sequence[str], trials: int | None) -> Order:
    """Plans the trials of an application with the workers that there are here."""
    demand = loaded.demand if trials is None else loaded.demand.model_copy(update={"trials": trials})
    workers, unfit = available_workers()
    check_demand(loaded, _descriptions(workers))
    left_out = left_out_of(demand.middlewares, workers, unfit)
    measured = demand.model_copy(update={"middlewares": _measured(demand.middlewares, left_out)})
    profiles = {name: distinct_profiles(worker.description) for name, worker in workers.items()}
    experiments = only(experiments_of(measured, profiles), conditions)
    planned = order_trials(experiments, blocks=demand.trials, seed=demand.seed, observe=watched(demand))
    return Order(
        definition=demand,
        text=loaded.text,
        trials=planned,
        workers=needed_workers(planned, workers, unfit),
        left_out=left_out,
        files=loaded.files,
    )


def left_out_of(
    choices: Sequence[MiddlewareChoice], workers: Mapping[str, Worker], unfit: Mapping[str, str]
) -> dict[str, str]:
    """The middlewares that these choices would measure had they a worker here, with the reason."""
    wanted = {choice.middleware: choice.workers for choice in choices if choice.workers}
    if any(choice.middleware == ALL_MIDDLEWARES for choice in choices):
        wanted |= {name: (name,) for name in unfit if name not in wanted}
    lacking = {middleware: [name for name in names if name not in workers] for middleware, names in wanted.items()}
    reasons = {name: unfit.get(name, _not_installed(name, workers)) for names in lacking.values() for name in names}
    return {
        middleware: "; ".join(reasons[name] if name == middleware else f"{name}: {reasons[name]}" for name in names)
        for middleware, names in lacking.items()
        if names
    }


def _not_installed(middleware: str, workers: Mapping[str, Worker]) -> str:
    """Why a middleware isn't here that no build knows, which a misspelled name may be too."""
    close = get_close_matches(middleware, workers, n=1, cutoff=0.8)
    return f"not installed; did you mean `{close[0]}`?" if close else "not installed"


def _measured(choices: Sequence[MiddlewareChoice], left_out: Mapping[str, str]) -> tuple[MiddlewareChoice, ...]:
    """The choices that can be measured here."""
    measured = tuple(choice for choice in choices if choice.middleware not in left_out)
    if not measured:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise EnvironmentNotReady(
            f"there is no worker for any of its middlewares: {reasons}",
            remedy="`middlemark doctor` says what is missing",
        )
    return measured


def _descriptions(workers: Mapping[str, Worker]) -> dict[str, Description]:
    return {name: worker.description for name, worker in workers.items()}


def _check_base(suite: Suite, base: Mapping[str, Worker], against: Sequence[Path]) -> None:
    named = dict.fromkeys(name for choice in suite.middlewares for name in choice.workers)
    missing = [name for name in named if name not in base] if base else ["any middleware"]
    if missing:
        raise EnvironmentNotReady(
            f"the base has no worker for {', '.join(missing)} in {', '.join(map(str, against))}",
            remedy=f"name folders that hold executables `{executables.PREFIX}<middleware>`",
        )
