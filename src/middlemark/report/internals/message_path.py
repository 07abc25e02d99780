"""The paths of single messages drawn to scale on a time axis: as charts for the page, and as text for the terminal.

`analysis.kernel` chooses the messages; parts and their colours are `kernel_path`'s. A path of more segments than an eye
can separate is drawn as its pixels would show it: each stretch as the part that took most of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import altair as alt
from rich.text import Text

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.kernel.breakdown import ExampleMessage
from middlemark.analysis.kernel.segments import PathSide, Segment, TracedPath
from middlemark.report.elements.chart import IN_INK, INK, LEGEND_BELOW, Chart, finished
from middlemark.report.elements.formatting import digits
from middlemark.report.elements.labels import Series
from middlemark.report.internals.kernel_path import PARTS
from middlemark.suite.yaml.quantity import plural

LANE_HEIGHT = 24
_STRETCHES = 600
"""As many as a chart is wide in pixels, or nearly so."""
_COLUMNS = 44
_CUTS = {"queued": "triangle-up", "transmitted": "square", "arrived": "circle"}
# Numbers nearer to each other than this share of the axis would be written over each other.
_READABLE = 0.03


def message_charts(comparison: Comparison, series_of: Mapping[str, Series]) -> list[Chart]:
    """Two for each middleware: the message in the middle, and a slow one."""
    return [
        _chart(f"way{number}at{round(100 * example.share)}", series_of[candidate.experiment.id].label, example)
        for number, candidate in enumerate(comparison.experiments)
        for example in candidate.examples.messages.get(comparison.setting.stream, ())
    ]


def message_lines(comparison: Comparison, series_of: Mapping[str, Series]) -> Iterator[Text]:
    """The same as text, a line a part."""
    for candidate in comparison.experiments:
        for example in candidate.examples.messages.get(comparison.setting.stream, ()):
            yield Text(f"{title(series_of[candidate.experiment.id].label, example)}", "bold")
            yield from example_lines(example)


def title(label: str, example: ExampleMessage) -> str:
    """Which message it is, and how long it took."""
    n, took = plural(example.n, "message"), f"{_us(example.path.whole_ns)} µs"
    if example.share == 0.5:
        return f"{label}: {took}, the median of {n}"
    return f"{label}: {took}; {100 * example.share:.3g} % of {n} took no longer"


def stretches(path: TracedPath, most: int) -> tuple[Segment, ...]:
    """A path's segments, or where they are too many, equal stretches with the part that takes most of each."""
    if len(path.segments) <= most:
        return path.segments
    edges = [path.sent_ns + path.whole_ns * number // most for number in range(most + 1)]
    taken = []
    first = 0
    for begin_ns, end_ns in pairwise(edges):
        while path.segments[first].end_ns <= begin_ns and first + 1 < len(path.segments):
            first += 1
        taken.append(_most_of(path.segments, first, begin_ns, end_ns))
    runs = (list(run) for _, run in groupby(taken, key=lambda segment: (segment.part, segment.side)))
    return tuple(Segment(run[0].part, run[0].side, run[0].begin_ns, run[-1].end_ns) for run in runs)


def _most_of(segments: Sequence[Segment], first: int, begin_ns: int, end_ns: int) -> Segment:
    shares_ns: Counter[int] = Counter()
    for place in range(first, len(segments)):
        if segments[place].begin_ns >= end_ns:
            break
        shares_ns[place] = min(segments[place].end_ns, end_ns) - max(segments[place].begin_ns, begin_ns)
    of_parts: Counter[tuple[Any, Any]] = Counter()
    for place, share_ns in shares_ns.items():
        of_parts[segments[place].part, segments[place].side] += share_ns
    (part, side), _ = of_parts.most_common(1)[0]
    return Segment(part, side, begin_ns, end_ns)


def _chart(name: str, label: str, example: ExampleMessage) -> Chart:
    segments, calls, marks = _segment_rows(example), _call_rows(example), _mark_rows(example)
    used = {row["lane"] for row in (*segments, *calls, *marks)}
    lanes = [lane for lane in _lanes() if lane in used]
    span = alt.Scale(domain=[0, example.path.whole_ns / 1e3], nice=False)
    x = alt.X("from:Q", title="µs from the hand-over", scale=span)
    y = alt.Y("lane:N", sort=lanes, title=None, scale=alt.Scale(domain=lanes), axis=alt.Axis(labelLimit=180))
    layers = [_segment_layer(segments, x, y)]
    if calls:
        layers.append(_call_layer(x, y))
    if marks:
        layers += _mark_layers(x, y)
    return Chart(
        id=name,
        title=title(label, example),
        caption=f"n = 1 message, of the {example.n} of its trial.",
        description="A bar for each part of the message's path on a common time axis; the tables have the values.",
        spec=finished(*layers, height=LANE_HEIGHT * len(lanes), segments=segments, calls=calls, marks=marks),
    )


def _lanes() -> list[str]:
    """From the top, as a message passes them."""
    return ["sender", "sender's calls", "network", "packets", *(f"{s}{c}" for s in _BEYOND for c in ("", "'s calls"))]


_BEYOND = (PathSide.SERVICE, PathSide.RECEIVER)


def _segment_layer(rows: list[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    names, colours = zip(*PARTS.values(), strict=True)
    used = {row["part"] for row in rows}
    shown = [(name, colour) for name, colour in zip(names, colours, strict=True) if name in used]
    scale = alt.Scale(domain=[name for name, _ in shown], range=[colour for _, colour in shown])
    colour = alt.Color("part:N", scale=scale, title=None, legend=LEGEND_BELOW)
    drawn: alt.Chart = (
        alt.Chart(alt.NamedData("segments"))
        .mark_bar(height=14, strokeWidth=0.8)  # the outline keeps what is too short for a pixel in sight
        .encode(
            x=x,
            x2=alt.X2("to:Q"),
            y=y,
            color=colour,
            stroke=alt.Stroke("part:N", scale=scale, legend=None),
            tooltip=[alt.Tooltip("part:N"), *_tooltips()],
        )
    )
    return drawn


def _call_layer(x: alt.X, y: alt.Y) -> alt.Chart:
    drawn: alt.Chart = (
        alt.Chart(alt.NamedData("calls"))
        .mark_bar(height=7, strokeWidth=0.8, stroke=INK, fill=INK, fillOpacity=0.35)
        .encode(x=x, x2=alt.X2("to:Q"), y=y, tooltip=[alt.Tooltip("call:N", title="system call"), *_tooltips()])
    )
    return drawn


def _mark_layers(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    base = alt.Chart(alt.NamedData("marks")).encode(x=x, y=y)
    shapes = alt.Scale(domain=list(_CUTS), range=list(_CUTS.values()))
    points = base.mark_point(size=38, stroke=INK, strokeWidth=1.2).encode(
        shape=alt.Shape("cut:N", scale=shapes, legend=None),
        fill=alt.condition("datum.last", alt.value(INK), alt.value("transparent")),
        tooltip=[
            alt.Tooltip("number:N", title="packet"),
            alt.Tooltip("cut:N"),
            alt.Tooltip("from:Q", title="at, µs", format=".4~g"),
        ],
    )
    labels = base.transform_filter("datum.labelled").encode(text=alt.Text("number:N"), color=IN_INK)
    first = labels.transform_filter("!datum.last").mark_text(dy=-9, dx=-3, align="right", fontSize=10)
    last = labels.transform_filter("datum.last").mark_text(dy=-9, dx=3, align="left", fontSize=10)
    return [points, first, last]


def _tooltips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("from:Q", title="from, µs", format=".4~g"),
        alt.Tooltip("to:Q", title="to, µs", format=".4~g"),
        alt.Tooltip("us:Q", title="µs", format=".4~g"),
    ]


def _segment_rows(example: ExampleMessage) -> list[dict[str, Any]]:
    return [
        {"lane": segment.side or "network", "part": PARTS[segment.part][0]}
        | _span(example.path, segment.begin_ns, segment.end_ns)
        for segment in stretches(example.path, _STRETCHES)
    ]


def _call_rows(example: ExampleMessage) -> list[dict[str, Any]]:
    """One at most for each place on each side: calls that begin where another one does can't be distinguished."""
    path = example.path
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for call in path.calls:
        begin_ns, end_ns = max(call.begin_ns, path.sent_ns), min(call.end_ns, path.received_ns)
        place = (begin_ns - path.sent_ns) * _STRETCHES // max(path.whole_ns, 1)
        row = {"lane": f"{call.side}'s calls", "call": example.call_names.get(call.number, f"call_{call.number}")}
        rows.setdefault((call.side, place), row | _span(path, begin_ns, end_ns))
    return list(rows.values())


def _mark_rows(example: ExampleMessage) -> list[dict[str, Any]]:
    path = example.path
    rows: list[dict[str, Any]] = []
    for crossing in path.crossings:
        ends = {1: crossing.first} | {crossing.packets: crossing.last}
        for number, cuts in ends.items():
            for cut, at_ns in zip(_CUTS, cuts, strict=True):
                from_us = (at_ns - path.sent_ns) / 1e3
                apart_us = _READABLE * path.whole_ns / 1e3
                alone = all(abs(row["from"] - from_us) > apart_us for row in rows if row["labelled"])
                last = number == crossing.packets
                rows.append(
                    {"lane": "packets", "cut": cut, "from": from_us, "number": number, "last": last, "labelled": alone}
                )
    return rows


def _span(path: TracedPath, begin_ns: int, end_ns: int) -> dict[str, float]:
    begin_us, end_us = (begin_ns - path.sent_ns) / 1e3, (end_ns - path.sent_ns) / 1e3
    return {"from": begin_us, "to": end_us, "us": round(end_us - begin_us, 3)}


def example_lines(example: ExampleMessage) -> Iterator[Text]:
    """One message, a line a part, then its calls and packets."""
    path, parts_ns = example.path, example.path.parts_ns()
    width = max(len(name) for name, _ in PARTS.values())
    for part, (name, colour) in PARTS.items():
        if parts_ns[part]:
            drawn = Text(_bar(path, part), colour)
            yield Text(f"  {name:<{width}} {_us(parts_ns[part]):>8} µs ").append(drawn)
    yield Text(f"  {'':<{width}} {'':>8}    {'0':<{_COLUMNS - 12}}{_us(path.whole_ns) + ' µs':>12}", "dim")
    for side in PathSide:
        calls = Counter(call.number for call in path.calls if call.side is side)
        if calls:
            names = (f"{example.call_names.get(number, number)} {count}" for number, count in calls.most_common(8))
            yield Text(f"  system calls of the {side}: {', '.join(names)}", "dim")
    for crossing in path.crossings:
        spans = zip(_CUTS, crossing.first, crossing.last, strict=True)
        words = ", ".join(f"{cut} {_span_words(path, first_ns, last_ns)}" for cut, first_ns, last_ns in spans)
        yield Text(f"  {plural(crossing.packets, 'packet')}: {words}", "dim")


def _span_words(path: TracedPath, first_ns: int, last_ns: int) -> str:
    first_us, last_us = _us(first_ns - path.sent_ns), _us(last_ns - path.sent_ns)
    return f"at {first_us} µs" if first_ns == last_ns else f"from {first_us} to {last_us} µs"


def _bar(path: TracedPath, part: str) -> str:
    """A full block where most of a column is of the part, a thin line where some is."""
    covered_ns = [0] * _COLUMNS
    for segment in path.segments:
        if segment.part != part:
            continue
        for column in range(_column(path, segment.begin_ns), _column(path, segment.end_ns) + 1):
            begin_ns = path.sent_ns + path.whole_ns * column // _COLUMNS
            end_ns = path.sent_ns + path.whole_ns * (column + 1) // _COLUMNS
            covered_ns[column] += max(min(segment.end_ns, end_ns) - max(segment.begin_ns, begin_ns), 0)
    half_ns = path.whole_ns / _COLUMNS / 2
    return "".join("█" if item > half_ns else "▏" if item else " " for item in covered_ns).rstrip()


def _column(path: TracedPath, at_ns: int) -> int:
    return min((at_ns - path.sent_ns) * _COLUMNS // max(path.whole_ns, 1), _COLUMNS - 1)


def _us(value_ns: float) -> str:
    return digits(value_ns / 1e3)
