"""The pages over many runs: the list, the history of a metric, two runs compared, each run's own report.

It only reads, and shows no path of the disk in an address. Who requests under another name than this machine's own is
refused, so that no page elsewhere can read the runs through a browser (DNS rebinding); `runs` finds the runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from middlemark.analysis.compare.history import histories
from middlemark.analysis.compare.metrics import compare_usual_metrics, over_settings
from middlemark.analysis.compare.pairing import pair_runs
from middlemark.analysis.verdicts.judge import Verdict
from middlemark.errors import MiddlemarkError
from middlemark.report.conclusions import digest as means
from middlemark.report.conclusions.comparison import row
from middlemark.report.elements.chart import Chart
from middlemark.report.output.markup import FILTERS
from middlemark.report.output.packing import program
from middlemark.results.files import MOST_PAGE_BYTES, MOST_RECORD_BYTES, is_there, read_bytes, size_bytes
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.serve.history import history_charts, history_tables, in_common
from middlemark.serve.runs import Library, Shelf, findings, past_runs
from middlemark.suite.metrics import DISTRIBUTIONS, PLAIN, metric_named

MARGIN = 0.05
METRICS = [f"{level}({name})" for name in DISTRIBUTIONS for level in ("median", "p99")] + [each.name for each in PLAIN]
GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    # Vega compiles its expressions, hence eval; the pages' own scripts are inline.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}


class _Guarded(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await call_next(request)
        response.headers.update(GUARDS)
        return response


def site(folders: Sequence[Path], hosts: Sequence[str], *, trust: bool = False) -> Starlette:
    """The application that shows the runs of some folders to those who ask under one of these names."""
    library = Library(folders, trust)
    library.look()  # a folder that isn't there is told at once
    pages = _Pages(library)
    return Starlette(
        routes=[
            Route("/", pages.runs),
            Route("/history", pages.history),
            Route("/compare", pages.compare),
            Route("/runs/{number:int}/report", pages.report),
            Route("/runs/{number:int}/trials/{trial}/trial.json", pages.trial),
            Route("/runs/{number:int}/trials/{trial}/capture.pcapng", pages.capture),
            Route("/draw.js", _draw),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)), Middleware(_Guarded)],
        exception_handlers={MiddlemarkError: pages.refused},
    )


class _Pages:
    """Each page is made on request; Starlette calls these functions in threads of their own."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.templates = Environment(
            loader=ChoiceLoader([PackageLoader("middlemark.serve"), PackageLoader("middlemark.report")]),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= FILTERS

    def runs(self, _request: Request) -> Response:
        """All runs."""
        shelf = self.library.look()
        return self._page("Runs", shelf, view="runs", chosen_base=_before_the_last(shelf))

    def history(self, request: Request) -> Response:
        """One metric over all runs."""
        metric = metric_named(request.query_params.get("figure", "median(latency)"))
        middleware = request.query_params.get("middleware", "")
        past, shelf = past_runs(self.library.look(), metric)
        series = histories(past, metric)
        middlewares = sorted({each.middleware for each in series})
        chosen = [each for each in series if middleware in {"", each.middleware}]
        return self._page(
            f"History of {metric.name}",
            shelf,
            view="history",
            metric=metric.name,
            middleware=middleware,
            middlewares=middlewares,
            common=in_common(chosen),
            charts=history_charts(chosen, metric, middlewares),
            tables=history_tables(chosen, metric),
        )

    def compare(self, request: Request) -> Response:
        """Two runs, as `middlemark compare` does."""
        shelf = self.library.look()
        base, head = (self._run(shelf, request.query_params.get(side, "")) for side in ("base", "head"))
        pairs = pair_runs(findings(base), findings(head))
        found = compare_usual_metrics(pairs.pairs, MARGIN)
        sections = [
            (pair, [(row(each), each.decided.verdict) for each in found if each.pair is pair]) for pair in pairs.pairs
        ]
        return self._page(
            f"{base.path.name} and {head.path.name}",
            shelf,
            view="compare",
            base=base.path.name,
            head=head.path.name,
            sections=sections,
            means=means.means_table(over_settings(found)),
            alone=pairs.alone,
            telling={Verdict.BETTER, Verdict.WORSE},
        )

    def report(self, request: Request) -> Response:
        """The report that a run has."""
        folder = self._run(self.library.look(), str(request.path_params["number"]))
        if not is_there(folder.report_path):
            raise HTTPException(404, f"{folder.path.name} has no report: make it with `middlemark report`")
        return HTMLResponse(read_bytes(folder.report_path, MOST_PAGE_BYTES))

    def trial(self, request: Request) -> Response:
        """The record of a trial, to which the report leads."""
        content = read_bytes(self._trial(request).record_path, MOST_RECORD_BYTES)
        return Response(content, media_type="application/json")

    def capture(self, request: Request) -> Response:
        """The frames of a trial, for Wireshark."""
        path = self._trial(request).capture_path
        if not is_there(path):
            raise HTTPException(404, "the trial has no captured frames")
        size_bytes(path)
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    def refused(self, _request: Request, error: Exception) -> Response:
        """The page for an invalid request, with the error."""
        page = self._page("This can't be shown", self.library.look(), view="refused", words=str(error).splitlines())
        page.status_code = 400
        return page

    def _trial(self, request: Request) -> TrialFolder:
        folder = self._run(self.library.look(), str(request.path_params["number"]))
        found = next((each for each in folder.stored_trials() if each.id == request.path_params["trial"]), None)
        if found is None:
            raise HTTPException(404, "the run has no such trial")
        return found

    def _run(self, shelf: Shelf, number: str) -> RunFolder:
        if not (number.isascii() and number.isdigit() and int(number) < len(shelf.runs)):
            raise HTTPException(404, "the run does not exist: go back to the list and choose again")
        return shelf.runs[int(number)].folder

    def _page(self, title: str, shelf: Shelf, charts: Sequence[Chart] = (), **said: object) -> Response:
        template = self.templates.get_template("site.html.j2")
        known = {"metric": "median(latency)", "middleware": "", "middlewares": []}
        return HTMLResponse(
            template.render(
                title=title,
                shelf=shelf,
                metrics=METRICS,
                charts=charts,
                specs={chart.id: chart.spec for chart in charts},
                **(known | said),
            )
        )


DRAW = """
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const [name, spec] of Object.entries(JSON.parse(document.getElementById("specs").textContent)))
  vegaEmbed(document.getElementById(`plot-${name}`), spec, {
    actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" },
  });
"""


def _draw(_request: Request) -> Response:
    return Response(f"{program()}\n{DRAW}", media_type="text/javascript")


def _before_the_last(shelf: Shelf) -> int:
    """The run that the newest is compared with: the last before it of the same suite, else the last before it."""
    suites = [run.head.suite for run in shelf.runs]
    same = [number for number, suite in enumerate(suites[:-1]) if suite == suites[-1]]
    return same[-1] if same else len(suites) - 2
