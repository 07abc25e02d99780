"""A campaign: all its trials, one after another or on a fleet; disturbed ones are repeated, refused ones not run.

An interrupted one is resumed. It runs no step of a trial itself (`trial` does) and shows nothing: `progress` tells an
observer, and says whether what is stored is accepted.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from middlemark.analysis.metrics.stored import StoredResult, read_result
from middlemark.analysis.search.stopping import asks_for_more, next_trials
from middlemark.campaign.fleet.blocks import Connect, MeasuredBlock, TestBeds
from middlemark.campaign.manifest import Resumed, new_manifest, resumed
from middlemark.campaign.order import CampaignResources, Order
from middlemark.campaign.progress import Progress, Rest
from middlemark.campaign.trial.record import FinishedTrial
from middlemark.campaign.trial.run import run_trial
from middlemark.errors import Interrupted
from middlemark.plan import Caution, Invalid, InvalidKind, NotApplicable, Trial, WarningKind
from middlemark.results.files import is_there
from middlemark.results.manifest import Manifest
from middlemark.results.progress import Observer, Unobserved
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Demand, Observation, Suite
from middlemark.suite.yaml.quantity import plural
from middlemark.testbed.processes import ledger

_DISTURBANCES = (InvalidKind.STEAL, InvalidKind.LINK, InvalidKind.CONDITION)
"""What may be otherwise at the next attempt: a relay, too, is late when the CPU is taken away."""
LAST_ATTEMPTS_SHARE = 0.1
"""Where more of the trials than this were disturbed, the machine is busy and would disturb their last attempts too."""

WRITING_SHARE = 0.01
"""Of the time, for writing the manifest anew as test-beds come to it: that of many trials takes seconds each time."""


def run_new(path: Path, order: Order, observer: Observer | None = None, connect: Connect | None = None) -> None:
    """Runs all trials of an order into a new run folder; returns when all are stored."""
    manifest = new_manifest(order)
    with RunFolder.created(path, manifest) as run, ledger.opened() as entries:
        resources = CampaignResources(order.workers, order.base, entries, order.definition.disturbance)
        campaign = Campaign(run, order.definition, manifest, resources, _progress(path, observer))
        asyncio.run(_carried_out(campaign, connect))


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
        resources = CampaignResources(earlier.workers, earlier.base, entries, earlier.definition.disturbance)
        campaign = Campaign(
            run, earlier.definition, earlier.manifest, resources, _progress(run.path, observer), earlier
        )
        asyncio.run(_carried_out(campaign, connect))


async def _carried_out(campaign: Campaign, connect: Connect | None) -> None:
    async with AsyncExitStack() as stack:
        if connect is not None:
            campaign.elsewhere = await stack.enter_async_context(connect(campaign.run_folder))
        await campaign.run()


def _progress(folder: Path, observer: Observer | None) -> Progress:
    return Progress(folder, observer or Unobserved())


@dataclass
class Campaign:
    """A campaign under way."""

    run_folder: RunFolder
    definition: Suite | Demand
    manifest: Manifest
    resources: CampaignResources
    progress: Progress
    resumed: Resumed | None = None
    """None where the run is new."""
    elsewhere: TestBeds | None = None
    """Where its blocks are measured; None where that is this machine."""
    disturbed: dict[str, int] = field(default_factory=dict)
    """By trial that was disturbed at its last attempt: how many attempts it has had."""
    _refused: dict[tuple[str, Observation | None], NotApplicable] = field(default_factory=dict)
    """By experiment and observation: what can't be done holds for all their trials."""
    _outcomes: dict[str, str] = field(default_factory=dict)
    """By trial."""
    _results: dict[str, StoredResult] = field(default_factory=dict)
    """By trial; of those that were looked at to decide on further ones."""

    async def run(self) -> None:
        """Runs every trial that is not stored yet."""
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        with ExitStack() as handlers:
            for number in _signals():
                loop.add_signal_handler(number, task.cancel if task else lambda: None)
                handlers.callback(loop.remove_signal_handler, number)
            self._count_stored()
            self.progress.campaign_started(self.manifest, len(self._outcomes))
            try:
                await self.run_planned()
                while self._extend():
                    await self.run_planned()
                await self._repeat(self._to_repeat())
            except asyncio.CancelledError:
                self.progress.campaign_finished(self._outcomes.values(), interrupted=True)
                raise Interrupted(
                    f"interrupted after {len(self._outcomes)} of {len(self.manifest.trials)} trials",
                    remedy=f"continue with: middlemark run --resume {self.run_folder.path}",
                ) from None
            self.progress.campaign_finished(self._outcomes.values(), interrupted=False)

    async def run_planned(self) -> None:
        """Runs what is planned so far and not stored yet."""
        trials = self._to_run()
        if self.elsewhere is None:
            await self._run_all(trials)
        else:
            whole = self._whole_blocks(trials)
            await self._follow(self.elsewhere.measured(self.manifest, whole), whole)

    async def _repeat(self, trials: list[Trial]) -> None:
        """Runs these disturbed trials once more; on a fleet, where the rest of their block was measured."""
        if self.elsewhere is None:
            await self._run_all(trials)
        elif trials:
            attempts = {trial.id: self.disturbed[trial.id] for trial in trials}
            await self._follow(self.elsewhere.repeated(self.manifest, trials, attempts), trials)

    def _to_run(self) -> list[Trial]:
        return [trial for trial in self.manifest.trials if not self._is_stored(trial)]

    def _to_repeat(self) -> list[Trial]:
        """The few trials that were disturbed at each attempt: once more, when a neighbour may have ended its work."""
        repeats = self.resources.bounds.repeats
        disturbed = [trial for trial in self.manifest.trials if self.disturbed.get(trial.id) == 1 + repeats]
        most = max(1, LAST_ATTEMPTS_SHARE * len(self.manifest.trials))
        return disturbed if repeats and len(disturbed) <= most else []

    def _extend(self) -> bool:
        """Plans further trials from the results of the stored ones; gives whether there are any.

        The manifest has them before the first of them runs, and a campaign cut off before that decides the same again.
        """
        if not isinstance(self.definition, Suite) or not asks_for_more(self.definition, self.manifest.trials):
            return False
        for trial in self.manifest.trials:
            if trial.id not in self._results:
                self._results[trial.id] = read_result(self.run_folder.trial(trial.id))
        more = next_trials(self.definition, self.manifest.trials, list(self._results.values()))
        trials = (*self.manifest.trials, *more.trials)
        self.manifest = self.manifest.model_copy(update={"trials": trials, "widths": more.widths})
        self.run_folder.write_manifest(self.manifest)
        if more.trials:
            self.progress.campaign_extended(len(trials), more.why)
        return bool(more.trials)

    def _count_stored(self) -> None:
        planned = {trial.id: trial for trial in self.manifest.trials}
        for folder in self.run_folder.stored_trials():
            self._remember(folder.read_record_of(planned.get(folder.id)))

    def _is_stored(self, trial: Trial) -> bool:
        return trial.id in self._outcomes or is_there(self.run_folder.trial(trial.id).record_path)

    def _remember(self, record: TrialRecord) -> None:
        self._outcomes[record.trial.id] = record.outcome.kind
        self.disturbed.pop(record.trial.id, None)
        if _is_disturbed(record):
            self.disturbed[record.trial.id] = record.attempt
        if isinstance(record.outcome, NotApplicable):
            self._refused[_kind(record.trial)] = record.outcome

    async def _run_all(self, trials: list[Trial]) -> None:
        for index, trial in enumerate(trials):
            begin_ns = time.monotonic_ns()
            refusal, earlier = self._refused.get(_kind(trial)), self.disturbed.get(trial.id, 0)
            finished = self._not_run(trial, refusal) if refusal else await self._until_undisturbed(trial)
            finished = _repeated(self._with_differences(finished), earlier)
            self.run_folder.trial(trial.id).finish(finished.record)
            self._remember(finished.record)
            took_ns = time.monotonic_ns() - begin_ns
            self.progress.learn_cost(finished, took_ns // (finished.record.attempt - earlier))
            remaining = (later for later in trials[index + 1 :] if _kind(later) not in self._refused)
            self.progress.trial_finished(finished, took_ns, self.progress.left_s(self.progress.rest(remaining)))

    def _whole_blocks(self, trials: list[Trial]) -> list[Trial]:
        """All trials of the blocks of these: on a fleet a block is measured as a whole, as its trials are pairs."""
        lacking = {trial.block for trial in trials}
        return [trial for trial in self.manifest.trials if trial.block in lacking]

    async def _follow(self, blocks: AsyncIterator[MeasuredBlock], trials: list[Trial]) -> None:
        """Follows these trials, which are measured on other machines a block at a time."""
        rest = self.progress.rest(trials)
        n_written, due_ns = len(self.manifest.testbeds), 0
        try:
            async for block in blocks:
                self._know(block)
                if len(self.manifest.testbeds) > n_written and time.monotonic_ns() >= due_ns:
                    n_written, due_ns = self._write_testbeds()
                for record in block.records:
                    self._remember(record)
                rest = rest.without(self.progress.rest(record.trial for record in block.records))
                self._tell(block, rest)
        finally:
            if len(self.manifest.testbeds) > n_written:
                self._write_testbeds()

    def _know(self, block: MeasuredBlock) -> None:
        if block.testbed not in self.manifest.testbeds:
            testbeds = {**self.manifest.testbeds, block.testbed: block.facts}
            self.manifest = self.manifest.model_copy(update={"testbeds": testbeds})

    def _write_testbeds(self) -> tuple[int, int]:
        """Gives how many the manifest has now, and when it may be written again."""
        begin_ns = time.monotonic_ns()
        self.run_folder.write_manifest(self.manifest)
        took_ns = time.monotonic_ns() - begin_ns
        return len(self.manifest.testbeds), begin_ns + round(took_ns / WRITING_SHARE)

    def _tell(self, block: MeasuredBlock, rest: Rest) -> None:
        took_ns = block.took_ns // len(block.records)
        finished = [FinishedTrial(record) for record in block.records]
        for trial in finished:
            self.progress.learn_cost(trial, took_ns)
        left_s = self.progress.left_s(rest) / block.testbeds
        for place, trial in enumerate(finished, 1):
            self.progress.trial_finished(trial, took_ns, left_s, len(finished) - place)

    def _with_differences(self, finished: FinishedTrial) -> FinishedTrial:
        if self.resumed is None or not self.resumed.differences:
            return finished
        warnings = (*finished.record.warnings, *self.resumed.cautions)
        differing = finished.record.model_copy(update={"across": self.resumed.differences, "warnings": warnings})
        return replace(finished, record=differing)

    def _not_run(self, trial: Trial, refusal: NotApplicable) -> FinishedTrial:
        self.run_folder.trial(trial.id).clear()
        return FinishedTrial(TrialRecord(trial=trial, outcome=refusal))

    async def _until_undisturbed(self, trial: Trial) -> FinishedTrial:
        """Repeats a trial that the machine disturbed, and no other: a failure is a result."""
        attempt = 1 + self.disturbed.get(trial.id, 0)
        while True:
            self.progress.trial_started(trial, attempt)
            folder = self.run_folder.trial(trial.id)
            finished = await run_trial(
                trial,
                self.resources,
                folder,
                attempt,
                partial(self.progress.step_reached, trial),
            )
            if attempt > self.resources.bounds.repeats or not _is_disturbed(finished.record):
                return finished
            attempt += 1


def _repeated(finished: FinishedTrial, earlier: int) -> FinishedTrial:
    """With the warning that its last attempt was at the end of the campaign, after so many earlier ones."""
    if not earlier:
        return finished
    text = f"{plural(earlier, 'attempt')} disturbed; then repeated at the end, not beside the other trials of its block"
    caution = Caution(kind=WarningKind.REPEATED, text=text, remedy="a quieter machine: middlemark doctor")
    warnings = (*finished.record.warnings, caution)
    return replace(finished, record=finished.record.model_copy(update={"warnings": warnings}))


def _kind(trial: Trial) -> tuple[str, Observation | None]:
    return trial.experiment.id, trial.observation


def _signals() -> list[signal.Signals]:
    """The signals that end a campaign; the closing of a terminal does not where `nohup` has it ignored."""
    hang_up_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if hang_up_ignored else [signal.SIGHUP])]


def _is_disturbed(record: TrialRecord) -> bool:
    outcome = record.outcome
    return isinstance(outcome, Invalid) and all(reason.kind in _DISTURBANCES for reason in outcome.reasons)
