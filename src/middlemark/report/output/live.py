"""The live view of a campaign in the terminal: progress, time left, and the medians so far of each experiment.

It shows a campaign's events and computes no more than medians of what trials reported. Where standard error is no
terminal, each finished trial is a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import assert_never

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from middlemark.plan import Experiment
from middlemark.report.elements.formatting import MICROSECONDS, MILLISECONDS
from middlemark.results.progress import (
    CampaignExtended,
    CampaignFinished,
    CampaignStarted,
    Event,
    LiveMetrics,
    Observer,
    StepReached,
    TrialFinished,
    TrialStarted,
)
from middlemark.suite.yaml.quantity import plural

OUTCOME_STYLE = {"valid": "", "not_applicable": "dim", "invalid": "yellow"}


@contextmanager
def live(console: Console) -> Iterator[Observer]:
    """An observer that shows the campaign on this console until the block ends."""
    if not console.is_terminal:
        yield Lines(console)
        return
    view = View()
    # Redrawn at events only: a refreshing thread would take CPU time in the middle of a window.
    with Live(console=console, get_renderable=view.renderable, auto_refresh=False, transient=True) as screen:
        view.redraw = screen.refresh
        yield view
    if view.finished is not None:
        console.print(_closing(view.finished))


@dataclass
class Cell:
    """What is known so far of one middleware under one workload."""

    metrics: list[LiveMetrics] = field(default_factory=list)
    outcome: str = ""

    def text(self) -> Text:
        """The median so far and the number of trials, or the outcome."""
        medians = [trial.latency_median_ns for trial in self.metrics if trial.latency_median_ns is not None]
        if not medians:
            return Text(self.outcome.replace("_", " "), OUTCOME_STYLE.get(self.outcome, "red"))
        shown = MICROSECONDS.write(median(medians))
        return Text.assemble(shown, (f" ({len(medians)})", "dim"))


@dataclass
class View:
    """The state of the view; `observe` changes it, `renderable` draws it."""

    trials: int = 0
    done: int = 0
    seconds_left: float | None = None
    current: TrialStarted | None = None
    step: str = ""
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    finished: CampaignFinished | None = None
    redraw: Callable[[], object] = lambda: None
    """The screen's own; until there is a screen, nothing."""

    def observe(self, event: Event) -> None:
        """Take one event and show what it changed."""
        match event:
            case CampaignStarted():
                self.trials, self.done = event.trials, event.stored
            case CampaignExtended():
                self.trials = event.trials
            case TrialStarted():
                self.current, self.step = event, ""
            case StepReached():
                self.step = event.step
            case TrialFinished():
                self._finish(event)
            case CampaignFinished():
                self.finished = event
            case _:
                assert_never(event)
        if not (isinstance(event, TrialFinished) and event.n_more):  # a fleet brings a block at a time
            self.redraw()

    def _finish(self, event: TrialFinished) -> None:
        self.done += 1
        self.seconds_left = event.seconds_left
        experiment, outcome = event.record.trial.experiment, event.record.outcome.kind
        cell = self.cells.setdefault((_name(experiment), experiment.workload), Cell())
        cell.outcome = outcome
        if outcome == "valid" and event.metrics is not None:
            cell.metrics.append(event.metrics)

    def renderable(self) -> RenderableType:
        """The whole view."""
        parts: list[RenderableType] = [self._progress()]
        if self.current is not None:
            attempt = f", attempt {self.current.attempt}" if self.current.attempt > 1 else ""
            experiment = self.current.trial.experiment
            words = f"{_name(experiment)}  {experiment.workload}  {self.step}{attempt}"
            parts.append(Text(f"▸ {words}", "dim"))
        if self.cells:
            parts.append(self._medians())
        return Group(*parts)

    def _progress(self) -> Table:
        grid = Table.grid(padding=(0, 2), expand=False)
        left = "" if self.seconds_left is None else f"about {_clock(self.seconds_left)} left"
        bar = ProgressBar(total=max(self.trials, 1), completed=self.done, width=40)
        grid.add_row(bar, f"{self.done} of {plural(self.trials, 'trial')}", Text(left, "dim"))
        return grid

    def _medians(self) -> Table:
        workloads = sorted({workload for _, workload in self.cells})
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 3, 0, 0))
        table.add_column("median so far, µs (trials)")
        for workload in workloads:
            table.add_column(workload, justify="right")
        for name in sorted({name for name, _ in self.cells}):
            cells = (self.cells.get((name, workload)) for workload in workloads)
            table.add_row(name, *(cell.text() if cell else Text("") for cell in cells))
        return table


@dataclass
class Lines:
    """A line for each finished trial, where there is no terminal to draw on."""

    console: Console
    trials: int = 0

    def observe(self, event: Event) -> None:
        """Print what ended."""
        if isinstance(event, CampaignStarted):
            self.trials = event.trials
            self.console.print(f"{event.suite}: {plural(event.trials, 'trial')}, {event.stored} stored already")
        elif isinstance(event, CampaignExtended):
            self.console.print(f"{plural(event.trials - self.trials, 'further trial')}: {event.why}")
            self.trials = event.trials
        elif isinstance(event, TrialFinished):
            self.console.print(self._line(event), soft_wrap=True)
        elif isinstance(event, CampaignFinished):
            self.console.print(_closing(event))

    def _line(self, event: TrialFinished) -> Text:
        trial, outcome = event.record.trial, event.record.outcome
        result = outcome.kind.replace("_", " ") + (f": {outcome.detail}" if outcome.detail else "")
        if outcome.kind == "valid" and event.metrics is not None:
            result = _metrics_words(event.metrics)
        left = f", about {_clock(event.seconds_left)} left"
        number, experiment = trial.number, trial.experiment
        return Text(f"[{number}/{self.trials}] {_name(experiment)} {experiment.workload}: {result}{left}")


def _metrics_words(metrics: LiveMetrics) -> str:
    kind = "round trip" if metrics.round_trip else "latency"
    parts = []
    if metrics.latency_median_ns is not None:
        parts.append(f"median {kind} {MICROSECONDS.write(metrics.latency_median_ns)} µs")
    if metrics.first_message_ns is not None:
        parts.append(f"first message {MILLISECONDS.write(metrics.first_message_ns)} ms")
    if metrics.sent:  # nothing where no application of the stream lived through the window
        parts.append(f"{metrics.received} of {metrics.sent} received")
    return ", ".join(parts)


def _name(experiment: Experiment) -> str:
    profile = "" if experiment.profile == "default" else experiment.profile
    configuration = ", ".join(word for word in (profile, experiment.side) if word)
    return f"{experiment.middleware} ({configuration})" if configuration else experiment.middleware


def _clock(seconds: float) -> str:
    whole = max(round(seconds), 0)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def _closing(event: CampaignFinished) -> Text:
    counts = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(event.outcomes.items()))
    ended = "interrupted" if event.interrupted else "finished"
    return Text(f"{ended}: {counts or 'no trial'}; stored in {event.run_folder}")
