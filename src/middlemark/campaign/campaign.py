"""A campaign: its trials are planned, measured on this machine or on a fleet, and more are planned by their results.

An interrupted one is resumed. It measures nothing itself (`local` and `fleet.measurement` do) and shows nothing:
`progress` tells an observer.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from middlemark.analysis.metrics.stored import StoredResult, read_result
from middlemark.analysis.search.stopping import asks_for_more, next_trials
from middlemark.campaign.fleet.blocks import Connect
from middlemark.campaign.fleet.measurement import FleetMeasurement
from middlemark.campaign.local import LocalMeasurement
from middlemark.campaign.manifest import new_manifest, resumed
from middlemark.campaign.order import Order
from middlemark.campaign.progress import CampaignTrials, Progress
from middlemark.campaign.trial.environment import campaign_resources
from middlemark.errors import Interrupted
from middlemark.plan import Trial
from middlemark.results.progress import Observer, Unobserved
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Demand, Suite
from middlemark.testbed.processes import ledger


def run_new(path: Path, order: Order, observer: Observer | None = None, connect: Connect | None = None) -> None:
    """Runs all trials of an order into a new run folder; returns when all are stored."""
    manifest = new_manifest(order)
    bounds = order.definition.disturbance
    with (
        RunFolder.created(path, manifest) as run,
        ledger.opened() as entries,
        campaign_resources(order.workers, order.base, entries, bounds) as resources,
    ):
        local = LocalMeasurement(CampaignTrials(run, manifest), resources, _progress(run, observer))
        asyncio.run(_measured(order.definition, local, connect))


def resume_run(
    folder: Path | RunFolder,
    observer: Observer | None = None,
    *,
    against: Sequence[Path] = (),
    across: bool = False,
    connect: Connect | None = None,
) -> None:
    """Runs the trials that a run folder still lacks; returns when all are stored."""
    run = folder if isinstance(folder, RunFolder) else RunFolder(folder)
    with run.locked(), ledger.opened() as entries:
        earlier = resumed(run, against, across=across)
        trials, bounds = CampaignTrials(run, earlier.manifest), earlier.definition.disturbance
        with campaign_resources(earlier.workers, earlier.base, entries, bounds) as resources:
            local = LocalMeasurement(trials, resources, _progress(run, observer), earlier)
            asyncio.run(_measured(earlier.definition, local, connect))


def _progress(run: RunFolder, observer: Observer | None) -> Progress:
    return Progress(run.path, observer or Unobserved())


async def _measured(definition: Suite | Demand, local: LocalMeasurement, connect: Connect | None) -> None:
    """Runs a campaign on this machine, or on the test-beds that it can connect to."""
    trials, progress = local.trials, local.progress
    measurement: Measurement = local
    async with AsyncExitStack() as stack:
        if connect is not None:
            testbeds = await stack.enter_async_context(connect(trials.run_folder))
            measurement = FleetMeasurement(trials, testbeds, progress)
        await Campaign(definition, trials, measurement, progress).run()


class Measurement(Protocol):
    """Has trials of a campaign measured and stored."""

    async def measure(self, trials: Sequence[Trial]) -> None:
        """Has these trials measured."""
        ...

    async def repeat(self, trials: Sequence[Trial]) -> None:
        """Has these trials measured once more, as each of their attempts was disturbed."""
        ...


@dataclass
class Campaign:
    """A campaign under way."""

    definition: Suite | Demand
    trials: CampaignTrials
    measurement: Measurement
    progress: Progress
    _results: dict[str, StoredResult] = field(default_factory=dict)
    """By trial; of those that were looked at to decide on further ones."""

    async def run(self) -> None:
        """Runs every trial that is not stored yet."""
        with ExitStack() as handlers:
            _cancel_by_signal(handlers)
            self.trials.count_stored()
            self.progress.campaign_started(self.trials.manifest, len(self.trials.outcomes))
            try:
                await self._run_all()
            except asyncio.CancelledError:
                self.progress.campaign_finished(self.trials.outcomes.values(), interrupted=True)
                n_stored, n_planned = len(self.trials.outcomes), len(self.trials.manifest.trials)
                raise Interrupted(
                    f"interrupted after {n_stored} of {n_planned} trials",
                    remedy=f"continue with: middlemark run --resume {self.trials.run_folder.path}",
                ) from None
            self.progress.campaign_finished(self.trials.outcomes.values(), interrupted=False)

    async def _run_all(self) -> None:
        """Runs what is planned, then what that makes necessary; in the end once more what was disturbed each time."""
        await self.measurement.measure(self.trials.to_run())
        while self._extend():
            await self.measurement.measure(self.trials.to_run())
        if disturbed := self.trials.to_repeat(self.definition.disturbance.repeats):
            await self.measurement.repeat(disturbed)

    def _extend(self) -> bool:
        """Plans further trials from the results of the stored ones; gives whether there are any.

        The manifest has them before the first of them runs, and a campaign cut off before that decides the same again.
        """
        planned = self.trials.manifest.trials
        if not isinstance(self.definition, Suite) or not asks_for_more(self.definition, planned):
            return False
        for trial in planned:
            if trial.id not in self._results:
                self._results[trial.id] = read_result(self.trials.run_folder.trial(trial.id))
        more = next_trials(self.definition, planned, list(self._results.values()))
        self.trials.extend(more.trials, more.widths)
        if more.trials:
            self.progress.campaign_extended(len(planned) + len(more.trials), more.why)
        return bool(more.trials)


def _cancel_by_signal(handlers: ExitStack) -> None:
    """Has the signals that end a campaign cancel the running task, as long as the handlers last."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    for number in _signals():
        loop.add_signal_handler(number, task.cancel if task else lambda: None)
        handlers.callback(loop.remove_signal_handler, number)


def _signals() -> list[signal.Signals]:
    """The signals that end a campaign; the closing of a terminal does not where `nohup` has it ignored."""
    hang_up_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if hang_up_ignored else [signal.SIGHUP])]
