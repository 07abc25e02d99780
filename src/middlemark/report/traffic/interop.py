"""Pairs of middlewares: who understands whom, in one setting and over all, and what a pair costs beside each alone.

The values are those that the ranking has; why a pair's messages never came is what its trials ended with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.report.conclusions.ranking import NAMES
from middlemark.report.elements.formatting import ABSENT, RATIO, unit_of
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import NOTHING, Cell, Column, Row, Table, estimate_cell, named, table, values
from middlemark.suite.yaml.quantity import plural

READING = (
    "Rows publish, columns subscribe; where both are the same, the middleware is alone. "
    "In brackets: confidence intervals over trials."
)


def pair_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table | None:
    """A row for each that publishes, a column for each that subscribes; none of a setting without a pair."""
    pairs = _pairs(comparison)
    if not pairs:
        return None
    titles = _titles(pairs, series_of)
    of_configuration: dict[str, list[ExperimentFindings]] = {}
    for pair in pairs:
        of_configuration.setdefault(series_of[pair.experiment.id].configuration, []).append(pair)
    rows: list[Row] = [
        (
            title if len(of_configuration) == 1 else f"{title} ({configuration})",
            *(_cell(comparison, _found(comparison, alike, (publishers, subscribers))) for subscribers in titles),
        )
        for configuration, alike in of_configuration.items()
        for publishers, title in titles.items()
    ]
    reasons = [_reason(pair, series_of) for pair in pairs if not pair.n_valid]
    return table(
        "Who understands whom",
        (*named("publishers"), *values(*titles.values())),
        rows,
        " ".join([READING, *reasons]),
        detail=f"{_ranked_by(comparison)}, {_unit(comparison)}",
    )


def pairs_over_settings(comparisons: Sequence[Comparison], series_of: Mapping[str, Series]) -> Table | None:
    """In how many settings who understands whom; none of one setting, or without a pair."""
    pairs = [pair for comparison in comparisons for pair in _pairs(comparison)]
    if len(comparisons) < 2 or not pairs:
        return None
    titles = _titles(pairs, series_of)
    measured = [candidate for comparison in comparisons for candidate in comparison.experiments]
    rows: list[Row] = [
        (title, *(_understood(measured, publishers, subscribers) for subscribers in titles))
        for publishers, title in titles.items()
    ]
    return table(
        "Who understands whom, over all settings",
        (*named("publishers"), *named(*titles.values())),
        rows,
        "Rows publish, columns subscribe; where both are the same, the middleware is alone. In how many of the "
        "settings that both can do messages came, and in how many trials of all.",
    )


def _understood(measured: Sequence[ExperimentFindings], publishers: str, subscribers: str) -> str:
    middlewares = tuple(dict.fromkeys((publishers, subscribers)))
    tried = [
        candidate
        for candidate in measured
        if candidate.experiment.middlewares == middlewares and candidate.not_applicable is None
    ]
    if not tried:
        return ABSENT
    came = sum(candidate.n_valid > 0 for candidate in tried)
    n_valid, n_trials = (sum(counted) for counted in zip(*((c.n_valid, len(c.outcomes)) for c in tried), strict=True))
    return f"{came} of {len(tried)} ({n_valid} of {plural(n_trials, 'trial')})"


def pair_cost_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table | None:
    """Each pair's value, and how many times that of each of its middlewares alone it is; none without a pair."""
    rows: list[Row] = []
    for pair in _pairs(comparison):
        ratios = (_ratio(comparison, pair, _alone(comparison, pair, name)) for name in pair.experiment.middlewares)
        rows.append((series_of[pair.experiment.id].label, _cell(comparison, pair), *ratios))
    if not rows:
        return None
    return table(
        "Pairs beside each alone",
        (
            *named("pair"),
            Column(_ranked_by(comparison), _unit(comparison)),
            Column("to the publishers' alone", RATIO.name),
            Column("to the subscribers' alone", RATIO.name),
        ),
        rows,
        "Ratios are paired by block, with 95 % confidence intervals. A dash: it was not measured alone in this "
        "configuration, or fewer than three blocks have values of both.",
    )


def _pairs(comparison: Comparison) -> list[ExperimentFindings]:
    return [candidate for candidate in comparison.experiments if candidate.experiment.pair]


def _titles(pairs: Sequence[ExperimentFindings], series_of: Mapping[str, Series]) -> dict[str, str]:
    """The middlewares of the pairs with their titles, in the order of their names."""
    titles = {
        name: title
        for pair in pairs
        for name, title in zip(pair.experiment.middlewares, series_of[pair.experiment.id].titles, strict=True)
    }
    return dict(sorted(titles.items()))


def _found(
    comparison: Comparison, alike: Sequence[ExperimentFindings], middlewares: tuple[str, str]
) -> ExperimentFindings | None:
    """The pair of these two, or the one that is both alone, of pairs in one configuration."""
    if middlewares[0] == middlewares[1]:
        return _alone(comparison, alike[0], middlewares[0])
    return next((pair for pair in alike if pair.experiment.middlewares == middlewares), None)


def _alone(comparison: Comparison, pair: ExperimentFindings, middleware: str) -> ExperimentFindings | None:
    """A middleware with itself, as it is in the pair: with its profile, and what it has of its options."""
    like = pair.experiment
    fitting = [
        candidate
        for candidate in comparison.experiments
        if candidate.experiment.middlewares == (middleware,)
        and (candidate.experiment.profile, candidate.experiment.side) == (like.profile, like.side)
        and candidate.experiment.options.items() <= like.options.items()
    ]
    return max(fitting, key=lambda candidate: len(candidate.experiment.options), default=None)


def _cell(comparison: Comparison, candidate: ExperimentFindings | None) -> Cell:
    if candidate is None:
        return Cell(None, reason="not measured")
    if not candidate.n_valid:
        kinds = Counter(outcome.kind for outcome in candidate.outcomes).most_common(1)
        return Cell(None, reason=kinds[0][0].replace("_", " ") if kinds else "not run")
    estimate = candidate.estimate(comparison.setting.subject, comparison.criterion.metric)
    return estimate_cell(estimate, unit_of(comparison.criterion.distribution))


def _ratio(comparison: Comparison, pair: ExperimentFindings, alone: ExperimentFindings | None) -> Cell:
    ratio = comparison.ratio(pair, alone) if alone else None
    return Cell(ratio.value, RATIO, ratio.low, ratio.high) if ratio else NOTHING


def _reason(pair: ExperimentFindings, series_of: Mapping[str, Series]) -> str:
    details = [outcome.detail for outcome in pair.outcomes]
    return f"{series_of[pair.experiment.id].label}: {details[0]}." if details else ""


def _ranked_by(comparison: Comparison) -> str:
    kind = comparison.criterion.distribution
    return NAMES[kind] if kind else "goodput"


def _unit(comparison: Comparison) -> str:
    return unit_of(comparison.criterion.distribution).name
