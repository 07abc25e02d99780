"""The history of a metric over runs in words: the settings in which it was measured, and where its level changed.

For the terminal, for programs and for the pages of `serve`. It estimates nothing: `analysis.compare.history` did.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from middlemark.analysis.compare.history import History, LevelChange
from middlemark.report.conclusions.comparison import unit_of
from middlemark.report.elements.formatting import factor
from middlemark.report.elements.labels import FACTOR_BOUNDARY, setting_words, stream_beside
from middlemark.report.elements.terminal_tables import grid
from middlemark.suite.metrics import Metric
from middlemark.suite.yaml.quantity import plural

READING = (
    "Each value is a run's estimate, with its 95 % interval over trials. A level changed where it differs by more than "
    "5 % from the one before (change points by PELT, from six runs on)."
)


def in_common(series: Sequence[History]) -> tuple[str, ...]:
    """The factors that all settings share, to be said once; none of a single one."""
    settings = {history.setting: FACTOR_BOUNDARY.split(history.setting) for history in series}
    first, *others = settings.values() if settings else [[]]
    return tuple(factor for factor in first if others and all(factor in other for other in others))


def history_words(history: History, elsewhere: Sequence[str]) -> str:
    """The setting but for the factors that are said elsewhere, the stream and the machine."""
    setting = " ".join(factor for factor in FACTOR_BOUNDARY.split(history.setting) if factor not in elsewhere)
    beside = stream_beside(history.setting, history.stream)
    stream = f"stream {beside}" if beside else ""
    return ", ".join(part for part in (setting_words(setting), stream, f"on {history.machine}") if part)


@dataclass(frozen=True)
class SettingHistory:
    """What was measured in one setting, as the list of settings has it."""

    id: str
    """By which its page is found."""
    words: str
    common: tuple[str, ...]
    """The factors that all listed settings share, of which the words say nothing."""
    series: tuple[History, ...]
    """One for each middleware."""

    @property
    def n_runs(self) -> int:
        """That measured it."""
        return len({point.run for history in self.series for point in history.points})

    @property
    def last(self) -> str:
        """When the newest of them began."""
        return max(history.points[-1].began for history in self.series)

    @property
    def changes(self) -> list[str]:
        """All changes of level in words, the newest first."""
        changes = [(change, history) for history in self.series for change in history.changes]
        changes.sort(key=lambda pair: pair[0].first.started_at, reverse=True)
        return [f"{history.middleware} {change_words(change)}" for change, history in changes]


def change_words(change: LevelChange) -> str:
    """A change of level in a sentence: `× 1.2 from run-7 on, 2026-01-31 (library 1.2 → 1.3)`."""
    brought = f" ({', '.join(change.brought)})" if change.brought else ""
    return f"× {factor(change.times)} from {change.first.run} on, {change.first.started_at[:10]}{brought}"


def settings(series: Sequence[History]) -> list[SettingHistory]:
    """The series by setting, stream and machine, in the order of their words."""
    groups: dict[tuple[str, str | None, str], list[History]] = {}
    for history in series:
        groups.setdefault((history.setting, history.stream, history.machine), []).append(history)
    common = in_common(series)
    listed = [
        SettingHistory(_id(key), history_words(alike[0], common), common, tuple(alike)) for key, alike in groups.items()
    ]
    return sorted(listed, key=lambda setting: setting.words)


def _id(key: tuple[str, str | None, str]) -> str:
    return hashlib.sha256(repr(key).encode(errors="surrogateescape")).hexdigest()[:12]


def print_history(listed: Sequence[SettingHistory], metric: Metric, console: Console) -> None:
    """A table a setting: of each middleware how often it was measured, the first and the newest value, the changes."""
    unit = unit_of(metric)
    if listed[0].common:
        console.print(Text(f"In all settings: {setting_words(' '.join(listed[0].common))}", "dim"))
    for setting in listed:
        console.print()
        console.print(Text(f"{metric.name}, {setting.words}", "bold"))
        table = grid()
        table.add_column("", no_wrap=True)
        for heading in ("runs", f"first, {unit.name}", f"newest, {unit.name}"):
            table.add_column(heading, justify="right")
        table.add_column("changes of level", overflow="fold")
        for history in setting.series:
            values = [unit.write(point.value) for point in (history.points[0], history.points[-1])]
            changes = "\n".join(map(change_words, history.changes)) or "–"
            table.add_row(*map(Text, (history.middleware, str(len(history.points)), *values, changes)))
        console.print(table)
    n_changes = sum(len(history.changes) for setting in listed for history in setting.series)
    console.print(Text(f"{plural(n_changes, 'change')} of level in {plural(len(listed), 'setting')}. {READING}", "dim"))


def history_data(series: Sequence[History], metric: Metric) -> dict[str, object]:
    """All values and changes, for a program to read."""
    return {"metric": metric.name, "stored_name": metric.stored_name, "series": list(map(_series_data, series))}


def _series_data(history: History) -> dict[str, object]:
    return {
        "middleware": history.middleware,
        "setting": history.setting,
        "stream": history.stream,
        "machine": history.machine,
        "points": [point._asdict() for point in history.points],
        "changes": [
            {
                "last_before": change.before.run,
                "first": change.first.run,
                "started_at": change.first.started_at,
                "times": change.times,
                "library_versions": [change.before.library_version, change.first.library_version],
                "middlemark_versions": [change.before.middlemark_version, change.first.middlemark_version],
            }
            for change in history.changes
        ],
    }
