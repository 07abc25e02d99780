"""The history of a figure in tables, and the words that tell its settings apart.

What one run alone measured has no history and stands in one table. `analysis.history` found the changes; nothing is
estimated here; `past_charts` draws.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from middlemark.analysis.figure import Figure
from middlemark.analysis.history import History, Point
from middlemark.report.compared import unit_of
from middlemark.report.display import ABSENT, Unit, factor
from middlemark.report.tables import Table

FACTOR = re.compile(r" (?=[\w.]+=)")
"""Between the factors of a setting, `size=1 kB rate=200 Hz`, whose values may hold spaces."""


def in_common(series: Sequence[History]) -> tuple[str, ...]:
    """The factors that all settings share, to be said once; none of a single one."""
    settings = {each.setting: FACTOR.split(each.setting) for each in series}
    first, *others = settings.values() if settings else [[]]
    return tuple(factor for factor in first if others and all(factor in other for other in others))


def setting_words(each: History, said: Sequence[str]) -> str:
    """The setting but for the factors that are said elsewhere, the stream and the machine."""
    setting = " ".join(factor for factor in FACTOR.split(each.setting) if factor not in said)
    stream = f"stream {each.stream}" if each.stream else ""
    return ", ".join(part for part in (setting, stream, f"on {each.machine}") if part)


def history_tables(series: Sequence[History], figure: Figure) -> list[Table]:
    """All values of what has a chart, and the changes in words; then what one run alone measured."""
    common = in_common(series)
    once = [each for each in series if len(each.points) == 1]
    tables = [_table(each, figure, common) for each in series if len(each.points) > 1]
    return [*tables, _measured_once(once, figure, common)] if once else tables


def _measured_once(series: Sequence[History], figure: Figure, common: Sequence[str]) -> Table:
    unit = unit_of(figure)
    points = [(each, point) for each in series for point in each.points]
    return Table(
        title="Measured in one run only",
        headings=("middleware", "setting", "run", "began", f"{figure.name}, {unit.name}", "interval"),
        rows=tuple(
            (
                each.middleware,
                setting_words(each, common),
                point.run,
                _began(point),
                unit.write(point.value),
                _interval(point, unit),
            )
            for each, point in points
        ),
    )


def _table(each: History, figure: Figure, common: Sequence[str]) -> Table:
    unit = unit_of(figure)
    headings = (
        "run",
        "began",
        "version of the library",
        "Middlemark",
        f"{figure.name}, {unit.name}",
        "interval",
        "level",
    )
    return Table(
        title=f"{each.middleware}: {setting_words(each, common)}",
        headings=headings,
        rows=tuple(
            (
                point.run,
                _began(point),
                point.library_version,
                point.middlemark_version,
                unit.write(point.value),
                _interval(point, unit),
                next((f"× {factor(change.times)}" for change in each.changes if change.run == point.run), ""),
            )
            for point in each.points
        ),
    )


def _began(point: Point) -> str:
    return point.started_at[:16].replace("T", " ")


def _interval(point: Point, unit: Unit) -> str:
    if point.low is None or point.high is None:
        return ABSENT
    return f"{unit.write(point.low)}–{unit.write(point.high)}"
