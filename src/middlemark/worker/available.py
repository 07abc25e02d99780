"""The workers that there are here, each with what it says of itself, and those of one trial.

One that does not answer is left out with the reason; what is measured with them is `campaign`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from middlemark.errors import EnvironmentNotReady, WorkerFailed
from middlemark.plan import Application, Experiment, Trial
from middlemark.worker import executables
from middlemark.worker.contract import Description
from middlemark.worker.description import describe, describe_usable


@dataclass(frozen=True)
class Worker:
    """A worker and what it says of itself."""

    path: Path
    description: Description


@dataclass(frozen=True)
class TrialWorkers:
    """The workers of one trial: the same for all its applications, or of a pair one for each role."""

    publishers: Worker
    subscribers: Worker

    @classmethod
    def alike(cls, worker: Worker) -> Self:
        """All applications are of one worker."""
        return cls(worker, worker)

    @classmethod
    def of_experiment(cls, experiment: Experiment, workers: Mapping[str, Worker]) -> Self:
        """Those of these workers, by middleware, that the experiment's applications are."""
        first, *second = (workers[name] for name in experiment.middlewares)
        return cls(first, *(second or [first]))

    @property
    def distinct(self) -> tuple[Worker, ...]:
        """Each once, the publishers' first."""
        return (self.publishers,) if self.publishers == self.subscribers else (self.publishers, self.subscribers)

    def of(self, application: Application) -> Worker:
        """The one that an application is."""
        return self.publishers if application.publishes else self.subscribers


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
    middlewares = sorted({name for trial in trials for name in trial.experiment.middlewares})
    for middleware in middlewares:
        if middleware not in workers:
            raise EnvironmentNotReady(
                f"there is no worker for `{middleware}`: {unfit.get(middleware, 'none was found')}",
                remedy="`middlemark doctor` says what is missing",
            )
    return {middleware: workers[middleware] for middleware in middlewares}
