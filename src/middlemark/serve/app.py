"""The site over many runs: which address leads to which page, and what is loaded when.

It only reads, and shows no path of the disk in an address; `access` says who may see the pages. What draws and compares
takes longer to load than the list of runs to make: the list comes first, and the other pages load what they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from middlemark.analysis.catalogue.library import RunLibrary
from middlemark.errors import MiddlemarkError
from middlemark.report.output.packing import program
from middlemark.serve.access import Admission, guards
from middlemark.serve.pages import Pages
from middlemark.serve.runs import captured_frames, report, runs_page, trial_record

LOADED_LATER = ("middlemark.serve.history", "ruptures", "middlemark.serve.history_chart", "middlemark.serve.comparison")
"""What the other pages need, in the order in which they are opened; `ruptures` finds changes of level."""


def site(folders: Sequence[Path], admission: Admission, *, trust: bool = False) -> Starlette:
    """The application that shows the runs of some folders to those who are admitted."""
    library = RunLibrary(folders, trust)
    library.look()  # a folder that isn't there is told at once
    pages = Pages(library)
    return Starlette(
        routes=[
            Route("/", partial(_runs, pages)),
            Route("/history", partial(_history, pages)),
            Route("/compare", partial(_comparison, pages)),
            Route("/runs/{number}/report", partial(report, pages)),
            Route("/runs/{number}/trials/{trial}/trial.json", partial(trial_record, pages)),
            Route("/runs/{number}/trials/{trial}/capture.pcapng", partial(captured_frames, pages)),
            Route("/draw.js", _draw),
        ],
        middleware=guards(admission),
        exception_handlers={MiddlemarkError: pages.refused},
    )


def _runs(pages: Pages, request: Request) -> Response:
    """The list; once it is sent, what the other pages need is loaded."""
    page = runs_page(pages, request)
    page.background = BackgroundTask(_load_the_rest)
    return page


def _load_the_rest() -> None:
    for name in LOADED_LATER:
        import_module(name)


def _history(pages: Pages, request: Request) -> Response:
    from middlemark.serve.history import history_page  # noqa: PLC0415 - it draws, for which the list does not wait

    return history_page(pages, request)


def _comparison(pages: Pages, request: Request) -> Response:
    from middlemark.serve.comparison import comparison_page  # noqa: PLC0415 - it analyses; the list does not

    return comparison_page(pages, request)


DRAW = """
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
for (const [name, spec] of Object.entries(JSON.parse(document.getElementById("specs").textContent)))
  vegaEmbed(document.getElementById(`plot-${name}`), spec, {
    actions: false, renderer: "svg", tooltip: { theme: dark ? "dark" : "light" },
  });
"""


def _draw(_request: Request) -> Response:
    return Response(f"{program()}\n{DRAW}", media_type="text/javascript")
