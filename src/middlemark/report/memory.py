"""The memory of every process over a trial, drawn: what is taken at the start, and what goes on growing.

One trial of each middleware is drawn, its first; the slope over all trials is in `observed`'s table.
"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from middlemark.analysis.comparison import Comparison
from middlemark.report.charts import Chart, finished, identity
from middlemark.report.contender import Contender


def memory_chart(sampled: Comparison, who: Mapping[str, Contender]) -> Chart | None:
    """A line a process; None where nothing was sampled."""
    drawn = [each for each in sampled.experiments if each.memory]
    rows = [
        {"who": who[each.experiment.id].label, "process": course.process, "s": round(s, 3), "mib": size_bytes / 2**20}
        for each in drawn
        for course in each.memory
        for s, size_bytes in zip(course.at_s, course.resident_bytes, strict=True)
    ]
    if not rows:
        return None
    names, scale, dashes = identity(drawn, who)
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=1.6, interpolate="step-after")
        .encode(
            x=alt.X("s:Q", title="s from the window's begin", axis=alt.Axis(tickCount=8)),
            y=alt.Y("mib:Q", title="MiB resident", axis=alt.Axis(tickCount=5)),
            color=alt.Color("who:N", scale=scale, legend=None),
            strokeDash=alt.StrokeDash("who:N", scale=alt.Scale(domain=names, range=dashes), legend=None),
            detail="process:N",
            tooltip=[
                alt.Tooltip("who:N", title="middleware"),
                alt.Tooltip("process:N"),
                alt.Tooltip("mib:Q", title="MiB", format=",.4~g"),
            ],
        )
    )
    return Chart(
        id="memorycourse",
        title="Memory over time",
        caption=(
            "Resident memory of each process with all that it started, sampled ten times a second; of the first valid "
            "trial of each whose resources were sampled. The middleware is initialised before the window begins."
        ),
        description="A line for each process over the trial's time; the table Memory has the figures of the window.",
        spec=finished(alt.layer(line).properties(width="container", height=220)),
    )
