"""The memory of every process over a trial, drawn: what is taken at the start, and what goes on growing.

One trial of each middleware is drawn, its first; the slopes are of all trials and `analysis.metrics.resources`'.
"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.resources import LEAST_SPAN_S
from middlemark.report.elements.candidate_tables import CandidateRow, candidate_table, processes_with
from middlemark.report.elements.chart import Chart, Identity, finished, identity, short
from middlemark.report.elements.formatting import MEBIBYTES, Unit
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import Column, Table, estimate_cell, named, value_cell, values
from middlemark.suite.metrics import Key, process_subject
from middlemark.suite.yaml.quantity import plural

KIBIBYTES_PER_S = Unit("KiB/s", 1024)
SLOPE = "memory_slope{}_bytes_per_s"
TOO_SHORT = f"unknown: the window is shorter than {LEAST_SPAN_S:.0f} s"
GROWTH = (
    "Theil and Sen's slope of unique memory over the window, median of trials, with the medians of the ends of its "
    "95 % interval within a trial. Growth lasts where memory grew in both halves of the window; growth that stops "
    "does not."
)


def growth_table(sampled: Comparison, series_of: Mapping[str, Series]) -> Table:
    """A row a process."""
    rows: list[CandidateRow] = []
    for candidate in sampled.experiments:
        for process in _processes(candidate):
            slope, low, high = (candidate.estimate(process, SLOPE.format(end)) for end in ("", "_low", "_high"))
            cells = (value_cell(estimate_cell(end, KIBIBYTES_PER_S)) for end in (slope, low, high))
            name = process.removeprefix(process_subject(""))
            rows.append((candidate, (name, *cells, _lasting(candidate, process))))
    growth = (Column("growth", KIBIBYTES_PER_S.name), *values("from", "to"))
    columns = (*named("process"), *growth, *named("lasts"))
    return candidate_table("Growth of memory", columns, rows, series_of, GROWTH)


def growing(findings: ExperimentFindings | None) -> list[str]:
    """In words, the processes whose memory grew throughout the window of most trials."""
    if findings is None:
        return []
    grown = [
        process
        for process in _processes(findings)
        if 2 * sum(_grown(findings, process)) > len(_grown(findings, process))
    ]
    return [
        f"memory of {process.removeprefix(process_subject(''))} grows by "
        f"{estimate_cell(findings.estimate(process, SLOPE.format('')), KIBIBYTES_PER_S).text} KiB/s"
        for process in grown
    ]


def _processes(candidate: ExperimentFindings) -> list[str]:
    return processes_with([SLOPE.format("")], candidate)


def _grown(candidate: ExperimentFindings, process: str) -> list[float]:
    return list(candidate.by_block.get(Key(process, "memory_grows"), {}).values())


def _lasting(candidate: ExperimentFindings, process: str) -> str:
    grown = _grown(candidate, process)
    if not grown:
        return TOO_SHORT
    return f"in {sum(grown):.0f} of {plural(len(grown), 'trial')}" if any(grown) else "no"


def memory_chart(sampled: Comparison, series_of: Mapping[str, Series]) -> Chart | None:
    """A line a process; None where nothing was sampled."""
    drawn = [candidate for candidate in sampled.experiments if candidate.examples.memory]
    rows = [
        {
            "series": series_of[candidate.experiment.id].label,
            "process": series.process,
            "s": round(s, 3),
            "mib": short(MEBIBYTES.of(size_bytes)),
        }
        for candidate in drawn
        for series in candidate.examples.memory
        for s, size_bytes in zip(series.at_s, series.resident_bytes, strict=True)
    ]
    if not rows:
        return None
    lines = _lines(identity(series_of[candidate.experiment.id] for candidate in drawn))
    return Chart(
        id="memorycourse",
        title="Memory over time",
        caption=(
            "Resident memory of each process with its child processes, sampled ten times a second; from the first "
            "valid trial of each middleware whose resources were sampled, n = 1 trial each. The middleware is "
            "initialised before the window begins."
        ),
        description="A line for each process over the trial's time; the table Memory has the values of the window.",
        spec=finished(lines, height=220, rows=rows),
    )


def _lines(shown: Identity) -> alt.Chart:
    lines: alt.Chart = (
        alt.Chart(alt.NamedData("rows"))
        .mark_line(strokeWidth=1.6, interpolate="step-after")
        .encode(
            x=alt.X("s:Q", title="s from the window's start", axis=alt.Axis(tickCount=8)),
            y=alt.Y("mib:Q", title="MiB resident", axis=alt.Axis(tickCount=5)),
            color=shown.colour,
            strokeDash=shown.dash,
            detail=alt.Detail("process:N"),
            tooltip=[
                alt.Tooltip("series:N", title="middleware"),
                alt.Tooltip("process:N"),
                alt.Tooltip("mib:Q", title="MiB", format=",.4~g"),
            ],
        )
    )
    return lines
