"""Stacked bars: where the time of each middleware goes, part after part, with the interval of the whole as a line.

What the parts are, and what of them is told beside a bar, `chain_charts` and `kernel_path` say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from middlemark.report.canvas import INK, ROW_HEIGHT, Spec, finished

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Bars:
    """What is drawn, a bar for each `who`."""

    parts: Sequence[Row]
    """`who`, `part`, its place in the `order`, its `share` of the whole, and what `value` and `told` name."""
    wholes: Sequence[Row]
    """`who`, `low` and `high` of each whole that has an interval."""
    colours: Mapping[str, str]
    """Of each part, in the order of the legend."""
    value: str
    """The column of a part's length."""
    told: Sequence[alt.Tooltip]
    """What is told of a part beside its middleware and its share."""
    label_limit: int
    """As many pixels as the name of a bar may take."""

    def lengths(self, axis: str) -> Spec:
        """Every bar as long as its whole, with the whole's interval."""
        layers = [self._stacked(alt.X(f"{self.value}:Q", stack="zero", title=axis))]
        if self.wholes:
            rule = alt.Chart(alt.NamedData("wholes")).mark_rule(strokeWidth=1.5)
            layers.append(rule.encode(y=self._y(), x="low:Q", x2="high:Q", color=alt.value(INK)))
        return self._spec(layers, **({"wholes": self.wholes} if self.wholes else {}))

    def shares(self, axis: str) -> Spec:
        """All bars of one length."""
        return self._spec([self._stacked(alt.X(f"{self.value}:Q", stack="normalize", title=axis))])

    def _names(self) -> list[str]:
        return list(dict.fromkeys(row["who"] for row in self.parts))

    def _y(self) -> alt.Y:
        return alt.Y("who:N", sort=self._names(), title=None, axis=alt.Axis(labelLimit=self.label_limit))

    def _spec(self, layers: Sequence[alt.Chart], **wholes: Sequence[Row]) -> Spec:
        drawn = alt.layer(*layers, width="container", height=ROW_HEIGHT * len(self._names()))
        return finished(drawn, parts=self.parts, **wholes)

    def _stacked(self, x: alt.X) -> alt.Chart:
        scale = alt.Scale(domain=list(self.colours), range=list(self.colours.values()))
        legend = alt.Legend(orient="bottom", columns=3, labelColor=INK)
        drawn: alt.Chart = (
            alt.Chart(alt.NamedData("parts"))
            .mark_bar(height=14)
            .encode(
                y=self._y(),
                x=x,
                color=alt.Color("part:N", scale=scale, title=None, legend=legend),
                order=alt.Order("order:Q"),
                tooltip=[
                    alt.Tooltip("who:N", title="middleware"),
                    *self.told,
                    alt.Tooltip("share:Q", format=".1%"),
                ],
            )
        )
        return drawn
