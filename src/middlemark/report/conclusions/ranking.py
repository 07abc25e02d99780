"""The table that answers: the contenders of one comparison in order, with what tells them apart.

It decides what is shown and in which words; the template and `summary` only set it. The tables of what stands behind it
are those of `tables`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.elements.formatting import (
    MEBIBYTES,
    MILLISECONDS,
    PERCENT,
    PERCENT_OF_CORE,
    Shown,
    Unit,
    show,
    tail_unit_of,
    thousands,
    times,
    unit_of,
)
from middlemark.report.elements.labels import Contender
from middlemark.suite.metrics import TRIAL, Distribution, quantile_metric

CLOCKS = "± after a one-way time: by how much the clocks of different machines may put it off."


@dataclass(frozen=True)
class Line:
    """One contender's line of a ranking."""

    who: Contender
    rank: str
    """`1`, or `2–5` where several come into question; empty where it is not ranked."""
    tied_with: tuple[str, ...]
    main: Shown
    tail: Shown
    tail_from_intended: Shown
    """Of latencies the same from the intended send, which a publisher that is held up can't hide."""
    to_best: str
    loss: Shown
    first_message: Shown
    cpu: Shown
    memory: Shown
    n: str
    unranked: str
    strip: tuple[float, float, float] | None
    """Where low end, value and high end lie between the table's extremes, on a logarithmic scale from 0 to 1."""


@dataclass(frozen=True)
class Ranking:
    """The table that answers."""

    main_heading: str
    main_unit: str
    tail_unit: str
    from_intended: bool
    """Whether it has the tail of the latency from the intended send too."""
    loss_heading: str
    lines: tuple[Line, ...]

    @property
    def between_clocks(self) -> bool:
        """Whether any figure is of times between machines that have clocks of their own."""
        return any(line.main.clocks or line.tail.clocks or line.tail_from_intended.clocks for line in self.lines)


HEADINGS = {
    Distribution.ROUND_TRIP: "round trip",
    Distribution.LATENCY_FROM_SEND: "latency",
    Distribution.END_TO_END: "end to end",
}


def ranking_table(comparison: Comparison, who: Mapping[str, Contender]) -> Ranking:
    """Every experiment of a comparison, the ranked ones first."""
    kind = comparison.criterion.distribution
    unit = unit_of(kind)
    heading = HEADINGS[kind] if kind else "goodput"
    extremes = _extremes([_span(comparison, each) for each in comparison.experiments])
    lines = tuple(_line(comparison, each, who, unit, extremes) for each in comparison.experiments)
    loss_heading = "missing" if comparison.faulty else "loss"
    return Ranking(
        main_heading=f"median {heading}" if kind else heading,
        main_unit=unit.name,
        tail_unit=tail_unit_of(kind).name,
        from_intended=kind is Distribution.LATENCY_FROM_SEND,
        loss_heading=loss_heading,
        lines=lines,
    )


Span = tuple[float, float, float]
"""Low end, value, high end."""


def _span(comparison: Comparison, each: ExperimentFindings) -> Span | None:
    estimate = each.estimate(comparison.setting.subject, comparison.criterion.metric)
    if estimate is None or estimate.value is None or estimate.value <= 0:
        return None
    low, high = estimate.low or estimate.value, estimate.high or estimate.value
    high = estimate.value if high == math.inf else high
    return (low, estimate.value, high) if low > 0 else None


def _extremes(spans: Sequence[Span | None]) -> tuple[float, float] | None:
    shown = [span for span in spans if span is not None]
    return (min(low for low, _, _ in shown), max(high for _, _, high in shown)) if shown else None


def _strip(span: Span | None, extremes: tuple[float, float] | None) -> Span | None:
    if span is None or extremes is None or extremes[0] == extremes[1]:
        return None
    width = math.log(extremes[1] / extremes[0])
    low, value, high = (math.log(each / extremes[0]) / width for each in span)
    return low, value, high


def _line(
    comparison: Comparison,
    each: ExperimentFindings,
    who: Mapping[str, Contender],
    unit: Unit,
    extremes: tuple[float, float] | None,
) -> Line:
    stream, name = comparison.setting.subject, each.experiment.id
    main = each.estimate(stream, comparison.criterion.metric)
    place = comparison.places.get(name)
    ratio = comparison.to_best.get(name)
    return Line(
        who=who[name],
        rank=place.text if place else "",
        tied_with=tuple(who[other].label for other in place.tied_with) if place else (),
        main=show(main, unit),
        tail=_tail(comparison, each, comparison.criterion.distribution or Distribution.LATENCY_FROM_SEND),
        tail_from_intended=_tail(comparison, each, Distribution.LATENCY_FROM_INTENDED),
        to_best=times(ratio) if ratio else "",
        loss=show(each.estimate(stream, loss_metric(comparison)), PERCENT),
        first_message=show(each.estimate(TRIAL, "first_message_ns"), MILLISECONDS),
        cpu=show(each.estimate(TRIAL, "cpu_percent_of_core"), PERCENT_OF_CORE),
        memory=show(each.estimate(TRIAL, "peak_memory_bytes"), MEBIBYTES),
        n=f"{main.n_trials} × {thousands(main.n_messages // main.n_trials)}" if main and main.n_trials else "",
        unranked=comparison.unranked.get(name, ""),
        strip=_strip(_span(comparison, each), extremes),
    )


def loss_metric(comparison: Comparison) -> str:
    """What stands for lost messages: under faults those that never came, as the late ones and the gone tell nothing."""
    return "missing_share" if comparison.faulty else comparison.criterion.loss_metric


def _tail(comparison: Comparison, each: ExperimentFindings, kind: Distribution) -> Shown:
    """The 99 % quantile; where no number of trials supports it, the highest that is supported, named."""
    stream = comparison.setting.subject
    asked = each.estimate(stream, quantile_metric(kind, "p99"))
    unit = tail_unit_of(comparison.criterion.distribution)
    shown = show(asked, unit)
    lower = show(each.estimate(stream, quantile_metric(kind, "p90")), unit)
    if asked is None or not shown.missing or lower.missing or not asked.reason.startswith("too few"):
        return shown
    return replace(lower, note=" ".join(word for word in ("90 %", lower.note) if word))
