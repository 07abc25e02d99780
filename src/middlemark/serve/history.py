"""The history of a metric: the settings in which it was measured, and of one of them its tables and its chart.

`history_chart` draws, and is loaded for the page of one setting alone, as the list of all draws nothing;
`report.conclusions.history` says the changes of level in words.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from middlemark.analysis.catalogue.estimates import past_runs
from middlemark.analysis.catalogue.library import RunSelection, Shelf
from middlemark.analysis.compare.history import History, HistoryPoint, histories
from middlemark.report.conclusions.comparison import unit_of
from middlemark.report.conclusions.history import SettingHistory, in_common, settings
from middlemark.report.elements.formatting import Unit, factor
from middlemark.report.elements.labels import setting_words
from middlemark.report.elements.tables import Cell, Column, Table, named, table
from middlemark.serve.pages import Pages, part_of
from middlemark.suite.metrics import Metric, metric_named

MOST_POINTS_IN_A_TABLE = 100
"""Of one middleware, the newest; the chart has all."""


def history_page(pages: Pages, request: Request) -> Response:
    """The settings in which a metric was measured, or one of them with all its runs."""
    query = request.query_params
    metric, selection = metric_named(query.get("figure", "median(latency)")), RunSelection.of(query)
    shelf = pages.library.look()
    runs, estimates, unreadable = past_runs(selection.of_shelf(shelf), metric)
    series = [
        history for history in histories(runs, estimates, metric) if selection.middleware in {"", history.middleware}
    ]
    shelf = Shelf(shelf.runs, (*shelf.unreadable, *unreadable))
    values: dict[str, Any] = {
        "metric": metric.name,
        "selection": selection,
        "common": setting_words(" ".join(in_common(series))),
    }
    chosen = [setting for setting in settings(series) if query.get("setting", setting.id) == setting.id]
    if len(chosen) == 1:
        return _setting_page(pages, chosen[0], metric, shelf, values)
    words = query.get("words", "")
    matching = [setting for setting in chosen if words.casefold() in setting.words.casefold()]
    values |= {"words": words, "n_found": len(matching), "part": part_of(matching, query.get("page", ""))}
    return pages.page(f"History of {metric.name}", shelf, view="settings", **values)


def _setting_page(
    pages: Pages, setting: SettingHistory, metric: Metric, shelf: Shelf, values: dict[str, Any]
) -> Response:
    from middlemark.serve.history_chart import history_chart  # noqa: PLC0415 - it draws; the list of settings does not

    single = {name for run in shelf.runs for name in run.head.middlewares}
    middlewares = sorted(single.union(history.middleware for history in setting.series))  # pairs too
    chart = history_chart(setting, metric, middlewares)
    return pages.page(
        f"History of {metric.name}",
        shelf,
        [chart] if chart else [],
        view="setting",
        setting=setting,
        tables=history_tables(setting, metric),
        **values,
    )


def history_tables(setting: SettingHistory, metric: Metric) -> list[Table]:
    """The values of each middleware in one setting, the newest first, and the changes in words."""
    return [_table(history, metric) for history in setting.series]


def _table(history: History, metric: Metric) -> Table:
    unit = unit_of(metric)
    shown = history.points[::-1][:MOST_POINTS_IN_A_TABLE]
    names = named("run", "began", "version of the library", "Middlemark")
    times = {change.first: f"× {factor(change.times)}" for change in history.changes}
    left_out = len(history.points) - len(shown)
    return table(
        f"{history.middleware}{f': the newest {len(shown)}, without {left_out} older ones' if left_out else ''}",
        (*names, Column(metric.name, unit.name), Column("level")),
        [
            (
                point.run,
                point.began,
                point.library_version,
                point.middlemark_version,
                _value(point, unit),
                times.get(point, ""),
            )
            for point in shown
        ],
    )


def _value(point: HistoryPoint, unit: Unit) -> Cell:
    return Cell(point.value, unit, point.low, point.high)
