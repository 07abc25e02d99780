"""What a reader of the page can choose between: the middlewares, and the factors in which settings differ.

The page's script hides what is not chosen; the figures stay what they are, ranks and ratios among all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from middlemark.analysis.comparison import Comparison
from middlemark.report.answer import distinguishing
from middlemark.report.contender import Contender


@dataclass(frozen=True)
class MiddlewareShown:
    """One middleware with all labels that its configurations have on the page."""

    who: Contender
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Selectable:
    """All that can be chosen."""

    middlewares: tuple[MiddlewareShown, ...]
    factors: tuple[tuple[str, tuple[str, ...]], ...]
    """Each with its values; the workload first, where there are several."""


def selectable(comparisons: Sequence[Comparison], who: Iterable[Contender]) -> Selectable:
    """Everything that varies on the page."""
    of_middleware: dict[str, list[Contender]] = {}
    for each in who:
        of_middleware.setdefault(each.middleware, []).append(each)
    settings = [dict(each.setting.factors) for each in comparisons]
    names = [name for name in dict.fromkeys(n for s in settings for n in s) if name in distinguishing(comparisons)]
    values = {name: tuple(dict.fromkeys(s[name] for s in settings if name in s)) for name in ["workload", *names]}
    return Selectable(
        tuple(
            MiddlewareShown(min(own, key=lambda each: each.place), tuple(dict.fromkeys(each.label for each in own)))
            for _, own in sorted(of_middleware.items())
        ),
        tuple((name, found) for name, found in values.items() if len(found) > 1),
    )
