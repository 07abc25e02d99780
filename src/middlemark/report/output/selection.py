"""What a reader of a page can choose between: middlewares with their configurations, and the factors that vary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import Comparison
from middlemark.report.elements.labels import Series, distinguishing


@dataclass(frozen=True)
class MiddlewareShown:
    """One middleware with all labels that its configurations have on the page."""

    series: Series
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Selectable:
    """All that can be chosen."""

    middlewares: tuple[MiddlewareShown, ...]
    factors: tuple[tuple[str, tuple[str, ...]], ...]
    """Each with its values; the workload first, where there are several."""


def selectable(comparisons: Sequence[Comparison], listed: Iterable[Series]) -> Selectable:
    """Everything that varies on the page."""
    of_middleware: dict[str, list[Series]] = {}
    for series in listed:
        of_middleware.setdefault(series.middleware, []).append(series)
    settings = [dict(comparison.setting.factors) for comparison in comparisons]
    varying = distinguishing(comparisons)
    names = [name for name in dict.fromkeys(n for s in settings for n in s) if name in varying]
    values = {name: tuple(dict.fromkeys(s[name] for s in settings if name in s)) for name in ["workload", *names]}
    return Selectable(
        tuple(
            MiddlewareShown(
                min(alternatives, key=lambda shown: shown.place),
                tuple(dict.fromkeys(shown.label for shown in alternatives)),
            )
            for _, alternatives in sorted(of_middleware.items())
        ),
        tuple((name, texts) for name, texts in values.items() if len(texts) > 1),
    )
