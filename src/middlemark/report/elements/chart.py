"""What every chart of a report has in common: the page's type and ink, logarithmic axes, and the lines of series.

What a chart shows is decided where its subject is. Only here and there Vega-Lite is written; a browser draws each chart
in the tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import altair as alt

from middlemark.report.elements.formatting import NARROW_SPACE
from middlemark.report.elements.labels import Series, Trials

Spec = dict[str, Any]
ROW_HEIGHT = 26
DRAWINGS = 512
"""Of each kind of chart, kept: more than a large report has different ones."""
INK = "currentColor"
IN_INK = alt.ColorValue(INK)
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
"""The page's own, by name: Vega measures its labels with it."""


@dataclass(frozen=True)
class Chart:
    """A chart with what must be said beside it."""

    id: str
    title: str
    caption: str
    """Units, n, and how it was obtained."""
    description: str
    """For those who can't see it."""
    spec: Spec
    trials: Trials = ()
    """The trials behind it, where these are more than those of its setting."""


@dataclass(frozen=True)
class Identity:
    """Who is drawn in a chart, each once, with the colour of its middleware and the dash of its configuration."""

    series: tuple[Series, ...]

    @property
    def names(self) -> list[str]:
        """In their order."""
        return [series.label for series in self.series]

    @property
    def colour(self) -> alt.Color:
        """By the column `who`; the page has a legend of its own."""
        scale = alt.Scale(domain=self.names, range=[series.colour for series in self.series])
        return alt.Color("series:N", scale=scale, legend=None)

    @property
    def dash(self) -> alt.StrokeDash:
        """The same for lines."""
        scale = alt.Scale(domain=self.names, range=[list(series.dash) for series in self.series])
        return alt.StrokeDash("series:N", scale=scale, legend=None)


def identity(series: Iterable[Series]) -> Identity:
    """Of those that are drawn."""
    return Identity(tuple({member.label: member for member in series}.values()))


@dataclass(frozen=True)
class LogScale:
    """A logarithmic axis from a round figure to a round figure, with marks at 1, 2, 5 or at powers of ten alone."""

    marks: tuple[float, ...]
    domain: tuple[float, float]

    def x(self, field: str, title: str) -> alt.X:
        """The horizontal axis of a field."""
        return alt.X(field, title=f"{title} (logarithmic)", axis=self._axis, scale=self._scale)

    def y(self, field: str, title: str) -> alt.Y:
        """The vertical axis of a field."""
        return alt.Y(field, title=f"{title} (logarithmic)", axis=self._axis, scale=self._scale)

    @property
    def _axis(self) -> alt.Axis:
        return alt.Axis(values=list(self.marks), format=",~g")

    @property
    def _scale(self) -> alt.Scale:
        return alt.Scale(type="log", domain=list(self.domain), nice=False)


LEGEND_BELOW = alt.Legend(orient="bottom", columns=alt.ExprRef("max(2, floor(width / 135))"), labelColor=INK)
"""The legend of a chart's parts, in as many columns as there is room for."""
NAMED_AXIS: Spec = {"values": alt.ExprRef("marks"), "format": ",~g"}
"""The axis of a drawing whose scale is given with its rows, as `with_rows` does."""
NAMED_SCALE: Spec = {"type": "log", "domain": [alt.ExprRef("lowest"), alt.ExprRef("highest")], "nice": False}
"""The same of its extent."""


def logarithmic_x(field: str, title: str) -> alt.X:
    """Such an axis of a field."""
    return alt.X(field, title=title, scale=alt.Scale(**NAMED_SCALE), axis=alt.Axis(**NAMED_AXIS))


def log_scale(values: Sequence[float]) -> LogScale:
    """The axis that holds the values."""
    low, high = min(values), max(values)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 100 else (1,)
    marks = [step * 10.0**exponent for exponent in exponents for step in (1, 2, 5)]
    domain = max(m for m in marks if m <= low * 1.0001), min(m for m in [*marks, 10.0 * marks[-3]] if m >= high)
    shown = [step * 10.0**e for e in exponents for step in steps if domain[0] <= step * 10.0**e <= domain[1] * 1.0001]
    return LogScale(tuple(shown), domain)


def short(value: float) -> float:
    """Four significant digits: a hundredth of what an eye can tell on any chart."""
    return float(f"{value:.4g}")


def finished(*layers: alt.Chart, height: int, **rows: Sequence[Mapping[str, Any]]) -> Spec:
    """Layers over each other, in the page's type and ink, as wide as the page lets them, and the data that they name.

    Altair's own `layer` copies each layer five times, and copies, checks and hashes data that it is given. Making a
    drawing still takes many times as long as putting data into one: one that most settings have alike is made once, by
    a function that is cached.
    """
    within: dict[str, Any] = {"top_level": False}
    spec: Spec = {
        "config": _config(),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": [
            layer.to_dict(validate=False, context=within) for layer in layers
        ],  # a browser draws each in the tests
        "height": height,
        "width": "container",
    }
    return with_rows(spec, **rows)


def with_rows(drawing: Spec, scale: LogScale | None = None, /, **rows: Sequence[Mapping[str, Any]]) -> Spec:
    """A finished drawing with the data and the scale that it names; the drawing itself stays as it is."""
    whole = {**drawing, "datasets": {**drawing.get("datasets", {}), **rows}}
    if scale is None:
        return whole
    named = {"marks": list(scale.marks), "lowest": scale.domain[0], "highest": scale.domain[1]}
    return whole | {"params": [*drawing.get("params", []), *({"name": k, "value": v} for k, v in named.items())]}


@cache
def _config() -> Spec:
    """Set directly, once: Altair rebuilds the whole chart for each configured property."""
    axis = alt.AxisConfig(
        labelColor=INK,
        titleColor=INK,
        tickColor=INK,
        domainColor=INK,
        gridColor=INK,
        gridOpacity=0.12,
        domainOpacity=0.4,
        tickOpacity=0.4,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        labelOverlap=True,
        labelSeparation=4,
    )
    made: Spec = alt.Config(
        background="transparent", font=FONT, view=alt.ViewConfig(stroke=None), axis=axis, locale=_LOCALE
    ).to_dict(validate=False)
    return made


_LOCALE = alt.Locale(
    number=alt.NumberLocale(decimal=".", grouping=[3], thousands=NARROW_SPACE, currency=["", ""], minus="−")
)
"""Thousands set apart as in tables."""
