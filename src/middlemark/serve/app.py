"""The pages over many runs: the list, the history of a metric, two runs compared, each run's own report.

It only reads, and shows no path of the disk in an address. `runs` finds the runs, `access` says who may see them, and
what of a page a browser may execute: a run's own report may be anybody's, and is kept apart from these pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from middlemark.analysis.catalogue.library import ListedRun, RunLibrary, RunSelection, Shelf, past_runs
from middlemark.analysis.compare.history import histories
from middlemark.analysis.compare.metrics import compare_usual_metrics, over_settings
from middlemark.analysis.compare.pairing import pair_runs
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.verdicts.judge import Verdict
from middlemark.errors import MiddlemarkError
from middlemark.report.conclusions import over_settings as means
from middlemark.report.conclusions.comparison import pair_deliveries, row
from middlemark.report.conclusions.history import SettingHistory, in_common, settings
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import setting_words
from middlemark.report.output.markup import page_environment, program
from middlemark.results.files import MOST_PAGE_BYTES, MOST_RECORD_BYTES, is_there, read_bytes, read_chunks
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.serve.access import KEPT_APART, POLICY, Admission, guards
from middlemark.serve.history import history_chart, history_tables
from middlemark.suite.metrics import DISTRIBUTIONS, PLAIN, Metric, metric_named

MARGIN = 0.05
ITEMS_OF_A_PAGE = 100
KEPT_FINDINGS = 4
METRICS = [f"{level}({name})" for name in DISTRIBUTIONS for level in ("median", "p99")] + [
    metric.name for metric in PLAIN
]


def site(folders: Sequence[Path], admission: Admission, *, trust: bool = False) -> Starlette:
    """The application that shows the runs of some folders to those who are admitted."""
    library = RunLibrary(folders, trust)
    library.look()  # a folder that isn't there is told at once
    pages = _Pages(library)
    return Starlette(
        routes=[
            Route("/", pages.runs),
            Route("/history", pages.history),
            Route("/compare", pages.compare),
            Route("/runs/{number}/report", pages.report),
            Route("/runs/{number}/trials/{trial}/trial.json", pages.trial),
            Route("/runs/{number}/trials/{trial}/capture.pcapng", pages.capture),
            Route("/draw.js", _draw),
        ],
        middleware=guards(admission),
        exception_handlers={MiddlemarkError: pages.refused},
    )


class _Pages:
    """Each page is made on request; Starlette calls these functions in threads of their own."""

    def __init__(self, library: RunLibrary) -> None:
        self.library = library
        self.templates = page_environment("middlemark.serve", merged=lambda first, second: first | second)
        self.templates.globals["setting_words"] = setting_words

    def runs(self, request: Request) -> Response:
        """All runs, or those that are selected."""
        shelf = self.library.look()
        selection = RunSelection.of(request.query_params)
        chosen = [(place, run) for place, run in enumerate(shelf.runs) if selection.matches(run)]
        return self._page(
            "Runs",
            shelf,
            view="runs",
            selection=selection,
            found=chosen,
            part=part_of(chosen[::-1], request.query_params.get("page", "")),
            chosen_base=_before_the_last(chosen),
        )

    def history(self, request: Request) -> Response:
        """The settings in which a metric was measured, or one of them with all its runs."""
        query = request.query_params
        metric, selection = metric_named(query.get("figure", "median(latency)")), RunSelection.of(query)
        shelf = self.library.look()
        runs, estimates, unreadable = past_runs(selection.of_shelf(shelf), metric)
        series = [
            history
            for history in histories(runs, estimates, metric)
            if selection.middleware in {"", history.middleware}
        ]
        listed = settings(series)
        shelf = Shelf(shelf.runs, (*shelf.unreadable, *unreadable))
        values: dict[str, Any] = {
            "metric": metric.name,
            "selection": selection,
            "common": setting_words(" ".join(in_common(series))),
        }
        chosen = [setting for setting in listed if query.get("setting", setting.id) == setting.id]
        if len(chosen) == 1:
            return self._setting(chosen[0], metric, shelf, values)
        words = query.get("words", "")
        matching = [setting for setting in chosen if words.casefold() in setting.words.casefold()]
        values |= {"words": words, "n_found": len(matching), "part": part_of(matching, query.get("page", ""))}
        return self._page(f"History of {metric.name}", shelf, view="settings", **values)

    def _setting(self, setting: SettingHistory, metric: Metric, shelf: Shelf, values: dict[str, Any]) -> Response:
        single = {name for run in shelf.runs for name in run.head.middlewares}
        middlewares = sorted(single.union(history.middleware for history in setting.series))  # pairs too
        chart = history_chart(setting, metric, middlewares)
        return self._page(
            f"History of {metric.name}",
            shelf,
            [chart] if chart else [],
            view="setting",
            setting=setting,
            tables=history_tables(setting, metric),
            **values,
        )

    def compare(self, request: Request) -> Response:
        """Two runs, as `middlemark compare` does."""
        shelf = self.library.look()
        base, head = (self._run(shelf, request.query_params.get(side, "")) for side in ("base", "head"))
        pairs = pair_runs(findings(base.folder, base.stamp), findings(head.folder, head.stamp))
        compared = compare_usual_metrics(pairs.pairs, MARGIN)
        sections = [
            (
                pair,
                pair_deliveries(pair),
                [(row(comparison), comparison.decided.verdict) for comparison in compared if comparison.pair is pair],
            )
            for pair in pairs.pairs
        ]
        return self._page(
            f"{head.name} compared with {base.name}",
            shelf,
            view="compare",
            base=base.name,
            head=head.name,
            sections=sections,
            means=means.means_table(over_settings(compared)),
            alone=pairs.alone,
            telling={Verdict.BETTER, Verdict.WORSE},
        )

    def report(self, request: Request) -> Response:
        """The report that a run has."""
        folder = self._run(self.library.look(), request.path_params["number"]).folder
        if not is_there(folder.report_path):
            raise HTTPException(404, f"{folder.path.name} has no report: make it with `middlemark report`")
        return HTMLResponse(read_bytes(folder.report_path, MOST_PAGE_BYTES), headers={POLICY: KEPT_APART})

    def trial(self, request: Request) -> Response:
        """The record of a trial, to which the report leads."""
        content = read_bytes(self._trial(request).record_path, MOST_RECORD_BYTES)
        return Response(content, media_type="application/json")

    def capture(self, request: Request) -> Response:
        """The frames of a trial, for Wireshark."""
        path = self._trial(request).capture_path
        if not is_there(path):
            raise HTTPException(404, "the trial has no captured frames")
        names = {"Content-Disposition": f'attachment; filename="{path.name}"'}
        return StreamingResponse(read_chunks(path), media_type="application/octet-stream", headers=names)

    def refused(self, _request: Request, error: Exception) -> Response:
        """The page for an invalid request, with the error."""
        page = self._page("This can't be shown", self.library.look(), view="refused", words=str(error).splitlines())
        page.status_code = 400
        return page

    def _trial(self, request: Request) -> TrialFolder:
        folder = self._run(self.library.look(), request.path_params["number"]).folder
        stored = next(
            (
                stored_trial
                for stored_trial in folder.stored_trials()
                if stored_trial.id == request.path_params["trial"]
            ),
            None,
        )
        if stored is None:
            raise HTTPException(404, "the run has no such trial")
        return stored

    def _run(self, shelf: Shelf, number: str) -> ListedRun:
        listed = next((run for place, run in enumerate(shelf.runs) if str(place) == number), None)
        if listed is None:
            raise HTTPException(404, "the run does not exist: go back to the list and choose again")
        return listed

    def _page(self, title: str, shelf: Shelf, charts: Sequence[Chart] = (), **values: object) -> Response:
        template = self.templates.get_template("site.html.j2")
        defaults = {"metric": "median(latency)", "selection": RunSelection(), "words": ""}
        page = template.render(
            title=title,
            shelf=shelf,
            metrics=METRICS,
            charts=charts,
            specs={chart.id: chart.spec for chart in charts},
            **(defaults | values),
            middlewares=sorted({name for run in shelf.runs for name in run.head.middlewares}),
        )
        return HTMLResponse(page.encode(errors="replace"))  # the name of a folder may be no text


DRAW = """
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const [name, spec] of Object.entries(JSON.parse(document.getElementById("specs").textContent)))
  vegaEmbed(document.getElementById(`plot-${name}`), spec, {
    actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" },
  });
"""


def _draw(_request: Request) -> Response:
    return Response(f"{program()}\n{DRAW}", media_type="text/javascript")


def _before_the_last(listed: Sequence[tuple[int, ListedRun]]) -> int:
    """The run that the newest is compared with: the last before it of the same suite, else the last before it."""
    before = [(place, run.head.suite) for place, run in listed[:-1]]
    same = [place for place, suite in before if suite == listed[-1][1].head.suite]
    return same[-1] if same else before[-1][0] if before else -1


@dataclass(frozen=True)
class PageOfItems:
    """The part of a long list that one page shows."""

    items: Sequence[Any]
    number: int
    """Of the page, from 1."""
    n_pages: int


def part_of(items: Sequence[Any], number: str) -> PageOfItems:
    """The page of a list that an address names, the first where it names none that there is."""
    n_pages = max(-(-len(items) // ITEMS_OF_A_PAGE), 1)
    chosen = int(number) if re.fullmatch("[0-9]{1,9}", number, re.ASCII) else 1
    chosen = chosen if 1 <= chosen <= n_pages else 1
    return PageOfItems(items[(chosen - 1) * ITEMS_OF_A_PAGE : chosen * ITEMS_OF_A_PAGE], chosen, n_pages)


@lru_cache(KEPT_FINDINGS)
def findings(folder: RunFolder, _stamp: str) -> RunFindings:
    """A run analysed; the last few are kept until they change."""
    return analyse(folder)
