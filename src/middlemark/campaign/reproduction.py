"""A paper's suites, planned with the workers that there are here, and run one after another into one folder.

A suite of which nothing is installed is not run, with the reason. Each suite is a campaign as any other; what workers
refuse of it `checks.refusals` asks, and `analysis.decisions.paper_findings` says what they found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from middlemark.analysis.experiment.refused import Refused, refused_once
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.campaign.checks.refusals import refusals
from middlemark.campaign.order import Order, left_out_of, order_suite
from middlemark.errors import EnvironmentUnusable, Interrupted, UsageError
from middlemark.plan import Experiment, NotApplicable, Trial, campaign_duration_ns
from middlemark.results.manifest import Reproduction
from middlemark.results.progress import Event, Observer, TrialFinished
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite import DeploymentKind, Inventory, Observation, suite_on_machines
from middlemark.suite.papers import Extent, LoadedPaper
from middlemark.testbed import capabilities, observers
from middlemark.testbed.hosts import container
from middlemark.worker.available import available_workers


@dataclass(frozen=True)
class PlannedPaper:
    """A paper in one extent, as this machine can run it."""

    paper: LoadedPaper
    extent: Extent
    orders: Mapping[str, Order]
    """By suite: those of which something can run here."""
    not_installed: Mapping[str, str]
    """Middlewares that the paper measured and that have no worker here, with the reason."""
    not_run: Mapping[str, str]
    """Suites of which nothing can run here, with the reason."""
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By suite: topologies that the machines of an inventory can't be, with the reason."""
    inventory: Inventory | None = None
    refused: Mapping[str, Mapping[str, NotApplicable]] = field(default_factory=dict)
    """By suite and experiment: what its worker refuses, where they were asked; nothing of it takes time."""

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials of all suites."""
        return tuple(trial for order in self.orders.values() for trial in order.trials)

    @property
    def duration_ns(self) -> int:
        """How long they take at least."""
        return sum(map(self.duration_of_ns, self.orders))

    def duration_of_ns(self, suite: str) -> int:
        """The same of one suite."""
        refused = self.refused.get(suite, {})
        return campaign_duration_ns(trial for trial in self.orders[suite].trials if trial.experiment.id not in refused)

    def experiments(self, suite: str) -> tuple[Experiment, ...]:
        """What is planned of a suite; nothing of one that can't run here."""
        order = self.orders.get(suite)
        by_id = {trial.experiment.id: trial.experiment for trial in order.trials} if order else {}
        return tuple(by_id.values())

    def accepted_experiments(self, suite: str) -> tuple[Experiment, ...]:
        """Those that no worker refuses."""
        refused = self.refused.get(suite, {})
        return tuple(experiment for experiment in self.experiments(suite) if experiment.id not in refused)

    @property
    def refused_reasons(self) -> dict[str, tuple[Refused, ...]]:
        """By suite: each reason for which experiments are refused, once."""
        return {
            suite: refused_once(
                (experiment, refused[experiment.id].reason)
                for experiment in self.experiments(suite)
                if experiment.id in refused
            )
            for suite, refused in self.refused.items()
            if refused
        }


def plan_paper(paper: LoadedPaper, extent: Extent, inventory: Inventory | None = None) -> PlannedPaper:
    """Plans every suite of a paper, with the machines of an inventory for its hosts where there is one."""
    workers, unfit = available_workers()
    orders, not_run = {}, {}
    left_out: dict[str, dict[str, str]] = {}
    missing: dict[str, str] = {}
    for name in [suite.suite for suite in paper.paper.suites]:
        loaded = paper.suite(name, extent)
        not_installed = left_out_of(loaded.suite.middlewares, workers, unfit)
        missing |= not_installed
        if all(choice.middleware in not_installed for choice in loaded.suite.middlewares):
            not_run[name] = "none of its middlewares is installed"
        elif inventory is None:
            orders[name] = order_suite(loaded, [], None)
        else:
            try:
                placed, left_out[name] = suite_on_machines(loaded, inventory)
                orders[name] = order_suite(placed, [], None)
            except UsageError as refused:  # these machines can't be what it needs
                not_run[name] = refused.text
    return PlannedPaper(paper, extent, orders, missing, not_run, left_out, inventory)


def with_refusals(planned: PlannedPaper) -> PlannedPaper:
    """The same with what its workers refuse, who are asked now."""
    refused = {name: refusals(order.trials, order.workers) for name, order in planned.orders.items()}
    return replace(planned, refused=refused)


def lacking(trials: Sequence[Trial]) -> dict[str, str]:
    """What this machine can't do of what these trials need, with the reason: their outcome is `not_applicable`."""
    needs = {
        "hosts in namespaces": any(len(trial.experiment.hosts) > 1 for trial in trials)
        and capabilities.namespaces_missing(),
        "kernel path": any(trial.observation is Observation.KERNEL_PATH for trial in trials)
        and observers.kernel_path_missing(),
        "containers": any(
            trial.experiment.conditions.deployment.deployment is not DeploymentKind.BARE_METAL for trial in trials
        )
        and _containers_missing(),
    }
    return {need: reason for need, reason in needs.items() if reason}


def _containers_missing() -> str | None:
    try:
        container.runtime()
    except EnvironmentUnusable as missing:
        return missing.text
    return None


def reproduce_new(path: Path, planned: PlannedPaper, observer: Observer | None = None) -> None:
    """Runs all suites into a new folder; returns when all are stored."""
    reproduction = Reproduction(
        extent=planned.extent,
        texts=dict(planned.paper.texts),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        not_installed=dict(planned.not_installed),
        not_run=dict(planned.not_run),
        left_out={suite: dict(reasons) for suite, reasons in planned.left_out.items() if reasons},
        machines=planned.inventory.machines if planned.inventory else (),
    )
    folder = ReproductionFolder.created(path, reproduction)
    _run_missing(folder, reproduction, planned, observer)


def resume_paper(folder: ReproductionFolder, observer: Observer | None = None, *, across: bool = False) -> None:
    """Runs what a folder still lacks: the missing trials of suites that had begun, and the suites after them."""
    reproduction = folder.read()
    inventory = Inventory(machines=reproduction.machines) if reproduction.machines else None
    planned = plan_paper(reproduction.paper, reproduction.extent, inventory)
    stored = folder.stored_runs(reproduction)
    to_come = [name for name in planned.orders if name not in stored]
    with _told_how_to_resume(folder):
        for run in stored.values():
            resume_run(run, _of_paper(planned, to_come, observer), across=across)
    _run_missing(folder, reproduction, planned, observer)


def _run_missing(
    folder: ReproductionFolder, reproduction: Reproduction, planned: PlannedPaper, observer: Observer | None
) -> None:
    stored = folder.stored_runs(reproduction)
    missing = [name for name in planned.orders if name not in stored]
    with _told_how_to_resume(folder):
        for number, name in enumerate(missing, start=1):
            run_new(folder.run(name).path, planned.orders[name], _of_paper(planned, missing[number:], observer))


@dataclass(frozen=True)
class OfPaper:
    """Tells an observer the time left for the whole paper in place of that for the suite under way."""

    observer: Observer
    to_come_s: float
    """How long the suites after this one take at least."""

    def observe(self, event: Event) -> None:
        """Takes one event."""
        if isinstance(event, TrialFinished):
            event = replace(event, seconds_left=event.seconds_left + self.to_come_s)
        self.observer.observe(event)


def _of_paper(planned: PlannedPaper, to_come: Sequence[str], observer: Observer | None) -> Observer | None:
    return observer and OfPaper(observer, sum(map(planned.duration_of_ns, to_come)) / 1e9)


@contextmanager
def _told_how_to_resume(folder: ReproductionFolder) -> Iterator[None]:
    try:
        yield
    except Interrupted as error:
        raise Interrupted(error.text, remedy=f"continue with: middlemark reproduce --resume {folder.path}") from error
