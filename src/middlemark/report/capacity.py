"""What capacity searches came to: a table, lines for a terminal, and latency over load as charts.

It searches nothing: `analysis.capacity` did. What is not carried is told with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import altair as alt

from middlemark.analysis.capacity import Capacity, State
from middlemark.plan import varying_factors
from middlemark.plan.search import RATE_FACTOR
from middlemark.report.charts import Chart, finished, logarithmic_scale
from middlemark.report.contender import Contender
from middlemark.report.display import ABSENT, MEGABYTES_PER_S, digits, plural
from middlemark.report.tables import Table
from middlemark.suite import DURATION, SHARE

IN_LABELS = {"middleware", "profile", "side", RATE_FACTOR, "workload", "size"}


def capacity_table(capacities: Sequence[Capacity], who: Mapping[str, Contender]) -> Table | None:
    """A row for each search, by message, the highest capacity first."""
    if not capacities:
        return None
    named = settings(capacities)
    ordered = sorted(capacities, key=lambda one: (one.size_bytes, named[one.experiment.id], -(one.carried_hz or 0)))
    rows = tuple(
        (who[each.experiment.id].label, named[each.experiment.id], *_cells(each), str(each.n_trials))
        for each in ordered
    )
    return Table(
        "Capacity",
        ("", "message", "carries", "payload", "does not carry", "for", "knee", "trials"),
        rows,
        f"The highest rate of each publisher that is carried, {_bounds(capacities)}; the next rate above it is not. "
        "Both are confirmed by a majority of trials. Knee: where latency over load begins to climb (Kneedle).",
    )


def _bounds(capacities: Sequence[Capacity]) -> str:
    said = {
        f"with at most {SHARE.text(round(100 * each.search.loss_share, 6))} lost and 99 % within "
        f"{DURATION.text(each.search.latency_ns)} of the instant at which they were to be sent"
        for each in capacities
    }
    return ", or ".join(sorted(said))


def _cells(each: Capacity) -> tuple[str, str, str, str, str]:
    carried, refused = each.carried_hz, each.not_carried_hz
    if each.state is State.NOT_APPLICABLE:
        return (ABSENT, ABSENT, ABSENT, f"not applicable: {each.reason}", ABSENT)
    words = {State.AT_LEAST: "at least ", State.OPEN: "open: "}.get(each.state, "")
    shown = "nothing" if carried is None else f"{words}{rate(carried)}"
    payload = ABSENT if carried is None else f"{MEGABYTES_PER_S.write(carried * each.size_bytes)} MB/s"
    limits = ", ".join(limit.value.replace("_", " ") for limit in each.limits)
    knee = ABSENT if each.knee_hz is None else rate(each.knee_hz)
    return shown, payload, ABSENT if refused is None else rate(refused), limits or ABSENT, knee


def rate(value_hz: float) -> str:
    """A rate in the unit that suits it."""
    for unit_hz, unit in ((1e6, "MHz"), (1e3, "kHz")):
        if value_hz >= unit_hz:
            return f"{digits(value_hz / unit_hz)} {unit}"
    return f"{digits(value_hz)} Hz"


def capacity_lines(capacities: Sequence[Capacity], who: Mapping[str, Contender]) -> list[str]:
    """A line for each search."""
    table = capacity_table(capacities, who)
    return [_line(row) for row in table.rows] if table else []


def _line(row: tuple[str, ...]) -> str:
    name, message, carries, payload, refused, why, knee, trials = row
    amount = f" ({payload})" if payload != ABSENT else ""
    above = f", not {refused} ({why})" if refused != ABSENT else ""
    bent = f", knee at {knee}" if knee != ABSENT else ""
    if carries == ABSENT:
        return f"{name}, {message}: {why}"
    return f"{name}, {message}: {carries}{amount}{above}{bent}, {plural(int(trials), 'trial')}"


def capacity_charts(capacities: Sequence[Capacity], who: Mapping[str, Contender]) -> list[Chart]:
    """Latency over load, a chart for each message that was searched for."""
    named = settings(capacities)
    groups: dict[str, list[Capacity]] = {}
    for each in capacities:
        groups.setdefault(named[each.experiment.id], []).append(each)
    ordered = sorted(groups.items(), key=lambda group: (group[1][0].size_bytes, group[0]))
    charts = (_chart(f"load{number}", title, group, who) for number, (title, group) in enumerate(ordered))
    return [chart for chart in charts if chart is not None]


def settings(capacities: Sequence[Capacity]) -> dict[str, str]:
    """By experiment: the message, and what else tells searches apart."""
    experiments = [each.experiment for each in capacities]
    beside = [name for name in varying_factors(experiments) if name not in IN_LABELS and "option." not in name]
    return {
        each.experiment.id: ", ".join(
            [
                each.experiment.workload.replace("_", " "),
                each.experiment.factors["size"],
                *(f"{name} {each.experiment.factors[name]}" for name in beside if name in each.experiment.factors),
            ]
        )
        for each in capacities
    }


def _chart(name: str, title: str, group: Sequence[Capacity], who: Mapping[str, Contender]) -> Chart | None:
    rows: list[dict[str, Any]] = [
        {"who": who[each.experiment.id].label, "rate": point.rate_hz, "us": value / 1e3, "quantile": quantile}
        for each in group
        for point in each.points
        for quantile, value in (("median", point.median_ns), ("99 %", point.p99_ns))
        if value is not None and value > 0
    ]
    if not rows:
        return None
    ends = [
        {"who": who[each.experiment.id].label, "rate": each.carried_hz} for each in group if each.carried_hz is not None
    ]
    known = {who[each.experiment.id].label: who[each.experiment.id].colour for each in group}
    x_axis, x_scale = logarithmic_scale([row["rate"] for row in rows])
    y_axis, y_scale = logarithmic_scale([row["us"] for row in rows])
    x = alt.X("rate:Q", title="messages a second (logarithmic)", axis=alt.Axis(**x_axis), scale=alt.Scale(**x_scale))
    colour = alt.Color("who:N", scale=alt.Scale(domain=list(known), range=list(known.values())), legend=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=x,
        y=alt.Y("us:Q", title="µs (logarithmic)", axis=alt.Axis(**y_axis), scale=alt.Scale(**y_scale)),
        color=colour,
        tooltip=[
            alt.Tooltip("who:N", title="middleware"),
            alt.Tooltip("quantile:N"),
            alt.Tooltip("rate:Q", title="messages a second", format=",.4~g"),
            alt.Tooltip("us:Q", title="µs", format=",.4~g"),
        ],
    )
    dash = alt.StrokeDash("quantile:N", scale=alt.Scale(domain=["median", "99 %"], range=[[1, 0], [3, 3]]), legend=None)
    found = alt.Chart(alt.InlineData(values=ends)).mark_rule(strokeWidth=1.5, opacity=0.6).encode(x=x, color=colour)
    layers = alt.layer(
        base.mark_line(strokeWidth=1.8).encode(strokeDash=dash),
        base.mark_point(filled=True, size=35),
        found,
    )
    return Chart(
        id=name,
        title=f"Latency over load: {title}",
        caption=(
            "One way, from the instant at which a message was to be sent; solid: median, dotted: 99 %, each the median "
            "of the trials at that rate. A rate that could not be sent has no point. Upright: the capacity."
        ),
        description=f"Two lines for each of {plural(len(known), 'middleware')}; the table has the capacities.",
        spec=finished(layers.properties(width="container", height=300)),
    )


def as_data(capacities: Sequence[Capacity]) -> list[dict[str, object]]:
    """Every search with its curve, for a program to read."""
    return [
        {
            "experiments": {name: text for name, text in each.experiment.factors.items() if name != RATE_FACTOR},
            "state": each.state.value,
            "carried_hz": each.carried_hz,
            "not_carried_hz": each.not_carried_hz,
            "limits": [limit.value for limit in each.limits],
            "knee_hz": each.knee_hz,
            "n_trials": each.n_trials,
            "points": [asdict(point) for point in each.points],
        }
        for each in capacities
    ]
