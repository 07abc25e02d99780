"""The site over many runs: which address leads to which page, and what is loaded when.

It only reads, and shows no path of the disk in an address; `access` says who may see the pages. The list of runs needs
neither estimates nor drawings and waits for none; what the other pages need is loaded and read beside it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from middlemark.analysis.catalogue.library import RunLibrary, Shelf
from middlemark.errors import MiddlemarkError
from middlemark.report.output.packing import program
from middlemark.serve.access import Admission, guards
from middlemark.serve.pages import Pages
from middlemark.serve.runs import captured_frames, report, runs_page, trial_record

LOADED_LATER = ("middlemark.serve.history", "ruptures", "middlemark.serve.history_chart", "middlemark.serve.comparison")
"""What the other pages need, in the order in which they are opened from one another; `ruptures` finds changes."""


def site(folders: Sequence[Path], admission: Admission, *, trust: bool = False) -> Starlette:
    """The application that shows the runs of some folders to those who are admitted."""
    library = RunLibrary(folders, trust)
    shelf = library.look()  # a folder that isn't there is told at once
    pages = Pages(library)
    return Starlette(
        routes=[
            Route("/", partial(runs_page, pages)),
            Route("/history", partial(_history, pages)),
            Route("/compare", partial(_comparison, pages)),
            Route("/runs/{number}/report", partial(report, pages)),
            Route("/runs/{number}/trials/{trial}/trial.json", partial(trial_record, pages)),
            Route("/runs/{number}/trials/{trial}/capture.pcapng", partial(captured_frames, pages)),
            Route("/draw.js", _draw),
        ],
        middleware=guards(admission),
        exception_handlers={MiddlemarkError: pages.refused},
        lifespan=partial(_loading, pages, shelf),
    )


@asynccontextmanager
async def _loading(pages: Pages, shelf: Shelf, _site: Starlette) -> AsyncIterator[None]:
    """Begins when the server listens; a page that is asked for at once waits for what it needs and is not there yet."""
    Thread(target=load_the_rest, args=(pages, shelf)).start()
    yield


def load_the_rest(pages: Pages, shelf: Shelf) -> None:
    """What the list of runs does without; the estimates last, as there may be a thousand tables without an index."""
    for name in LOADED_LATER:
        import_module(name)
    from middlemark.serve.history import read_beforehand  # noqa: PLC0415 - it was just loaded

    read_beforehand(pages, shelf)


def _history(pages: Pages, request: Request) -> Response:
    from middlemark.serve.history import history_page  # noqa: PLC0415 - it reads estimates; the list does not

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
