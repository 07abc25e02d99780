"""The list of runs, and what of each run can be opened: its report, the records and captured frames of its trials.

It reads no more of a run than is shown. A run's own report may be anybody's: it is kept apart from these pages, as
`access` says.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from middlemark.analysis.catalogue.library import ListedRun, RunSelection
from middlemark.results.files import MOST_PAGE_BYTES, MOST_RECORD_BYTES, is_there, read_bytes, read_chunks
from middlemark.results.trial_folder import TrialFolder
from middlemark.serve.access import KEPT_APART, POLICY
from middlemark.serve.pages import Pages, listed_run, part_of


def runs_page(pages: Pages, request: Request) -> Response:
    """All runs, or those that are selected."""
    shelf = pages.library.look()
    selection = RunSelection.of(request.query_params)
    chosen = [(place, run) for place, run in enumerate(shelf.runs) if selection.matches(run)]
    return pages.page(
        "Runs",
        shelf,
        view="runs",
        selection=selection,
        found=chosen,
        part=part_of(chosen[::-1], request.query_params.get("page", "")),
        chosen_base=_before_the_last(chosen),
    )


def _before_the_last(listed: Sequence[tuple[int, ListedRun]]) -> int:
    """The run that the newest is compared with: the last before it of the same suite, else the last before it."""
    before = [(place, run.head.suite) for place, run in listed[:-1]]
    same = [place for place, suite in before if suite == listed[-1][1].head.suite]
    return same[-1] if same else before[-1][0] if before else -1


def report(pages: Pages, request: Request) -> Response:
    """The report that a run has."""
    folder = listed_run(pages.library.look(), request.path_params["number"]).folder
    if not is_there(folder.report_path):
        raise HTTPException(404, f"{folder.path.name} has no report: make it with `middlemark report`")
    return HTMLResponse(read_bytes(folder.report_path, MOST_PAGE_BYTES), headers={POLICY: KEPT_APART})


def trial_record(pages: Pages, request: Request) -> Response:
    """The record of a trial, to which the report leads."""
    content = read_bytes(_trial(pages, request).record_path, MOST_RECORD_BYTES)
    return Response(content, media_type="application/json")


def captured_frames(pages: Pages, request: Request) -> Response:
    """The frames of a trial, for Wireshark."""
    path = _trial(pages, request).capture_path
    if not is_there(path):
        raise HTTPException(404, "the trial has no captured frames")
    names = {"Content-Disposition": f'attachment; filename="{path.name}"'}
    return StreamingResponse(read_chunks(path), media_type="application/octet-stream", headers=names)


def _trial(pages: Pages, request: Request) -> TrialFolder:
    folder = listed_run(pages.library.look(), request.path_params["number"]).folder
    wanted = request.path_params["trial"]
    stored = next((trial for trial in folder.stored_trials() if trial.id == wanted), None)
    if stored is None:
        raise HTTPException(404, "the run has no such trial")
    return stored
