"""Charts of what was requested of links over the window, below the latency on the same axis.

One for each property that changes, and for a host on Wi-Fi its distance and signal. They are of the plan: what a probe
measured is `links`'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.plan.topology.network import Link
from middlemark.plan.topology.wifi import STEP_NS, distance_m, received_dbm
from middlemark.report.elements.chart import INK, Chart, finished
from middlemark.report.elements.formatting import MEGABITS_ON_WIRE_PER_S, MILLISECONDS, PERCENT, Unit
from middlemark.suite import Direction, Mobility
from middlemark.suite.topology.impairment import EFFECTS, Effect, Probed
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION, SHARE, Quantity

EXTENT = 72
"""Pixels before every time axis, so that charts below each other agree."""
PLACES = 400
"""Of a moving host that are drawn at most: two pixels apart on a wide page."""
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class _Property:
    """What a chart shows."""

    name: str
    unit: str
    rows: Callable[[Link, float], Rows]
    """Of a link over so many seconds."""
    interpolate: Literal["linear", "step-after"]


def link_charts(candidate: ExperimentFindings) -> list[Chart]:
    """One for each property that changes over the window."""
    window_s = candidate.experiment.windows.window_ns / 1e9
    made = []
    for drawn in PROPERTIES:
        rows = [row for link in candidate.experiment.links for row in drawn.rows(link, window_s)]
        if len({row["value"] for row in rows if row["value"] is not None}) > 1:
            made.append(_chart(drawn, rows, window_s))
    return made


def _requested(effect: Effect) -> _Property:
    unit = UNITS[effect.quantity]

    def value(direction: Direction) -> float | None:
        requested = getattr(direction, effect.field)
        return None if requested is None else unit.of(requested)

    return _Property(effect.name, unit.name, lambda link, window_s: _trace_rows(link, value, window_s), "step-after")


def _of_place(name: str, unit: str, value: Callable[[Mobility, float], float]) -> _Property:
    return _Property(name, unit, lambda link, window_s: _place_rows(link, value, window_s), "linear")


UNITS: Mapping[Quantity | None, Unit] = {
    BIT_RATE: MEGABITS_ON_WIRE_PER_S,
    DURATION: MILLISECONDS,
    SHARE: PERCENT,
    None: Unit("frames"),
}
PROPERTIES: tuple[_Property, ...] = (
    _of_place("distance", "m", lambda _, distance: distance),
    _of_place("signal", "dBm", received_dbm),
    *(_requested(effect) for effect in sorted(EFFECTS, key=lambda effect: effect.probed is Probed.RATE)),
)
"""As they are drawn: the place, what befalls frames, what they wait for."""


def _trace_rows(link: Link, value: Callable[[Direction], float | None], window_s: float) -> Rows:
    directions: dict[str, list[tuple[int, Direction]]] = {
        "outgoing": [(point.at_ns, point.outgoing) for point in link.trace],
        "incoming": [(point.at_ns, point.incoming) for point in link.trace],
    }
    alike = [value(direction) for _, direction in directions["outgoing"]] == [
        value(direction) for _, direction in directions["incoming"]
    ]
    rows: Rows = []
    for name, points in directions.items():
        if not points or (alike and name == "incoming"):
            continue
        series = _series(link) + ("" if alike else f", {name}")
        rows += [{"link": series, "s": max(at_ns / 1e9, 0), "value": value(direction)} for at_ns, direction in points]
        rows.append({"link": series, "s": window_s, "value": value(points[-1][1])})
    return rows


def _place_rows(link: Link, value: Callable[[Mobility, float], float], window_s: float) -> Rows:
    """Where the model had the host, at instants of its own steps."""
    if link.mobility is None or link.mobility.speed is None:
        return []
    window_ns = round(window_s * 1e9)
    step_ns = STEP_NS * max(-(-window_ns // (STEP_NS * PLACES)), 1)
    instants = [*range(0, window_ns, step_ns), window_ns]
    points = [(at_ns, value(link.mobility, distance_m(link.mobility, at_ns))) for at_ns in instants]
    return [{"link": _series(link), "s": at_ns / 1e9, "value": round(figure, 3)} for at_ns, figure in points]


def _series(link: Link) -> str:
    return f"{link.host} – {link.network}"


def _chart(drawn: _Property, rows: Rows, window_s: float) -> Chart:
    name, unit = drawn.name, drawn.unit
    links = ", ".join(dict.fromkeys(row["link"] for row in rows))
    line = (
        alt.Chart(alt.NamedData("rows"))
        .mark_line(interpolate=drawn.interpolate, strokeWidth=1.5, clip=True)
        .encode(
            x=alt.X(
                "s:Q",
                title="s from the window's start",
                scale=alt.Scale(domain=[0, window_s], nice=False),
                axis=alt.Axis(tickCount=8),
            ),
            y=alt.Y(
                "value:Q",
                title=unit,
                scale=alt.Scale(zero=name != "signal"),
                axis=alt.Axis(tickCount=3, minExtent=EXTENT, maxExtent=EXTENT),
            ),
            strokeDash=alt.StrokeDash("link:N", legend=None),
            color=alt.value(INK),
            tooltip=[alt.Tooltip("link:N"), alt.Tooltip("value:Q", title=f"{name}, {unit}")],
        )
    )
    is_of_place = drawn.interpolate == "linear"
    return Chart(
        id=f"trace-{name}",
        title=f"Links: {name}, {unit}",
        caption=f"The {name} by the model of {links}." if is_of_place else f"The {name} that was requested of {links}.",
        description=f"The {name} of the links over the window, {'by the model' if is_of_place else 'as requested'}.",
        spec=finished(line, height=80, rows=rows),
    )
