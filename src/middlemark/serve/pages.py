"""What all pages have in common: the runs that are there, the templates, what a form offers, and parts of long lists.

It draws and analyses nothing and loads nothing that does, as the list of runs needs none of it. Each page is made by
the module of its subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from middlemark.analysis.catalogue.library import ListedRun, RunLibrary, RunSelection, Shelf
from middlemark.report.output.markup import page_environment
from middlemark.suite.metrics import DISTRIBUTIONS, PLAIN

if TYPE_CHECKING:
    from middlemark.report.elements.chart import Chart

ITEMS_OF_A_PAGE = 100
METRICS = [f"{level}({name})" for name in DISTRIBUTIONS for level in ("median", "p99")] + [
    metric.name for metric in PLAIN
]


class Pages:
    """What makes a page of its template; Starlette calls those who ask for one in threads of their own."""

    def __init__(self, library: RunLibrary) -> None:
        self.library = library
        self._templates = page_environment("middlemark.serve", merged=lambda first, second: first | second)

    def page(self, title: str, shelf: Shelf, charts: Sequence[Chart] = (), **values: object) -> Response:
        """A page over the runs of a shelf; `view` among the values names the template of its content."""
        template = self._templates.get_template("site.html.j2")
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

    def refused(self, _request: Request, error: Exception) -> Response:
        """The page for an invalid request, with the error."""
        page = self.page("This can't be shown", self.library.look(), view="refused", words=str(error).splitlines())
        page.status_code = 400
        return page


def listed_run(shelf: Shelf, number: str) -> ListedRun:
    """The run that has this place in the list."""
    listed = next((run for place, run in enumerate(shelf.runs) if str(place) == number), None)
    if listed is None:
        raise HTTPException(404, "the run does not exist: go back to the list and choose again")
    return listed


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
