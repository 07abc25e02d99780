"""How latency grows with the size of messages: the scaling factors in words, and charts with the fitted lines.

It computes nothing but where a line passes at a size: `analysis.compare.scaling` fitted it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from middlemark.analysis.compare.scaling import SIZE_FACTOR, Scaling
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.plan.factors import Factors, is_of_candidate
from middlemark.report.elements.chart import Chart, Identity, finished, identity, log_scale, short
from middlemark.report.elements.formatting import MICROSECONDS, Unit, digits, interval, size
from middlemark.report.elements.labels import Series, deliveries_cell, differing_deliveries, trials_behind
from middlemark.suite.metrics import Key, stream_subject
from middlemark.suite.yaml.quantity import plural

NANOSECONDS_PER_BYTE = Unit("ns/B")


def scaling_lines(findings: RunFindings) -> list[str]:
    """`zenoh camera: 0.31 ns a byte (0.29–0.33) upon 48 µs, from 1 kB to 1 MB, at most 12 % off the line`."""
    factors = [_with_delivery(scaling, findings.experiments) for scaling in findings.scalings]
    shared = _shared(factors)
    return [
        f"{_series_words(pairs, scaling.stream, shared)}: {_slope(scaling)} upon {_base(scaling)}, "
        f"{plural(len(scaling.sizes_bytes), 'size')} from {size(scaling.sizes_bytes[0])} "
        f"to {size(scaling.sizes_bytes[-1])}, at most {digits(100 * scaling.misfit_share)} % off the line"
        for scaling, pairs in zip(findings.scalings, factors, strict=True)
    ]


def _with_delivery(scaling: Scaling, experiments: Sequence[ExperimentFindings]) -> Factors:
    """What its experiments have in common, the delivery too where no factor says it."""
    delivery = {
        "delivery": deliveries_cell(candidate for candidate in experiments if _belongs(candidate, scaling)).text
    }
    return tuple((delivery | dict(scaling.factors)).items())


def _shared(all_factors: Sequence[Factors]) -> set[tuple[str, str]]:
    return set.intersection(*map(set, all_factors)) if all_factors else set()


def _series_words(factors: Factors, stream: str, shared: set[tuple[str, str]]) -> str:
    names = [value for name, value in factors if name == "middleware"]
    other = [
        f"{name}={value}"
        for name, value in factors
        if name not in {"middleware", "workload", SIZE_FACTOR} and (name, value) not in shared
    ]
    return " ".join([*names, stream, *other])


def _slope(scaling: Scaling) -> str:
    value = scaling.slope_ns_per_byte.value or 0.0
    span = interval(scaling.slope_ns_per_byte, NANOSECONDS_PER_BYTE)
    return f"{digits(value)} ns a byte{f' ({span})' if span else ''}"


def _base(scaling: Scaling) -> str:
    return f"{MICROSECONDS.write(scaling.base_ns.value or 0.0)} {MICROSECONDS.name}"


def scaling_charts(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Chart]:
    """One for each load whose size varies, its middlewares together."""
    groups: dict[tuple[Factors, str], list[Scaling]] = {}
    for scaling in findings.scalings:
        load = tuple((name, value) for name, value in scaling.factors if not is_of_candidate(name))
        groups.setdefault((load, scaling.stream), []).append(scaling)
    shared = _shared([load for load, _ in groups])
    return [
        _chart(place, _title(load, stream, shared), group, findings.experiments, series_of)
        for place, ((load, stream), group) in enumerate(groups.items())
    ]


def _title(load: Factors, stream: str, shared: set[tuple[str, str]]) -> str:
    beside = [value.replace("_", " ") for name, value in load if name != "workload" and (name, value) not in shared]
    return ", ".join([f"{stream.replace('_', ' ')}: latency over size", *beside])


@dataclass(frozen=True)
class _Drawn:
    """What one chart shows."""

    points: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    """Of the same sizes, on the fitted lines."""


def _chart(
    place: int,
    title: str,
    group: Sequence[Scaling],
    experiments: Sequence[ExperimentFindings],
    series_of: Mapping[str, Series],
) -> Chart:
    fitted = [(scaling, [candidate for candidate in experiments if _belongs(candidate, scaling)]) for scaling in group]
    drawn = _drawn(fitted, series_of)
    first_of_each = [candidates[0] for _, candidates in fitted]
    spanned = [row for row in drawn.points if row["low"] is not None and row["high"] is not None]
    layers = _layers(
        drawn, identity(series_of[candidate.experiment.id] for candidate in first_of_each), is_spanned=bool(spanned)
    )
    n_blocks = max((scaling.slope_ns_per_byte.n_trials for scaling in group), default=0)
    return Chart(
        id=f"size{place}",
        title=title,
        caption=(
            "Points: medians of trials with interval, µs. Lines: Theil and Sen's, fitted block by block; their slope "
            f"is the scaling factor. n = {plural(n_blocks, 'block')}. {differing_deliveries(first_of_each, series_of)}"
        ).rstrip(),
        description="A line with its points for each middleware; the scaling factors are listed below.",
        spec=finished(*layers, height=300, lines=drawn.lines, points=drawn.points, spans=spanned),
        trials=trials_behind(
            (series_of[candidate.experiment.id].label, candidate)
            for _, candidates in fitted
            for candidate in candidates
        ),
    )


def _drawn(fitted: Sequence[tuple[Scaling, Sequence[ExperimentFindings]]], series_of: Mapping[str, Series]) -> _Drawn:
    drawn = _Drawn([], [])
    for scaling, candidates in fitted:
        label = series_of[candidates[0].experiment.id].label
        for point in (_point(candidate, scaling) for candidate in candidates):
            if point is not None:
                drawn.points.append({"series": label, **point})
                at_ns = (scaling.slope_ns_per_byte.value or 0) * point["bytes"] + (scaling.base_ns.value or 0)
                drawn.lines.append({"series": label, "bytes": point["bytes"], "us": short(max(at_ns, 1) / 1e3)})
    return drawn


def _layers(drawn: _Drawn, shown: Identity, *, is_spanned: bool) -> list[alt.Chart]:
    """Lines, intervals where there are any, points."""
    x = alt.X("bytes:Q", title="message size, B (logarithmic)", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s"))
    y = log_scale([row["us"] for row in (*drawn.points, *drawn.lines)]).y("us:Q", "µs")
    tooltip = [alt.Tooltip("series:N", title="middleware"), alt.Tooltip("bytes:Q"), alt.Tooltip("us:Q", format=",.4~g")]
    line = alt.Chart(alt.NamedData("lines")).mark_line(strokeWidth=1.5, opacity=0.7)
    marks = alt.Chart(alt.NamedData("points")).mark_point(filled=True, size=55)
    spans = alt.Chart(alt.NamedData("spans")).mark_rule(strokeWidth=1.5)
    own_spans = [spans.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=shown.colour)] if is_spanned else []
    return [
        line.encode(x=x, y=y, color=shown.colour, strokeDash=shown.dash),
        *own_spans,
        marks.encode(x=x, y=y, color=shown.colour, tooltip=tooltip),
    ]


def _belongs(candidate: ExperimentFindings, scaling: Scaling) -> bool:
    factors = tuple((name, value) for name, value in candidate.experiment.factors.items() if name != SIZE_FACTOR)
    return factors == scaling.factors and any(stream.name == scaling.stream for stream in candidate.experiment.streams)


def _point(candidate: ExperimentFindings, scaling: Scaling) -> dict[str, Any] | None:
    estimate = candidate.estimates.get(Key(stream_subject(scaling.stream), scaling.metric))
    if estimate is None or not estimate.value or estimate.value <= 0:
        return None
    size_bytes = next(s.size_bytes for s in candidate.experiment.streams if s.name == scaling.stream)
    ends = {"low": estimate.low, "high": estimate.high}
    return {
        "bytes": size_bytes,
        "us": short(estimate.value / 1e3),
        **{name: None if end is None or end <= 0 else short(end / 1e3) for name, end in ends.items()},
    }
