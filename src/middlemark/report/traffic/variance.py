"""How much trials vary, and whether they are independent: a table, lines for a terminal, and data for a program.

`analysis.experiment.variance` and `analysis.compare.independence` computed it; trials that depend on each other have a
warning too, which `conclusions.warnings` shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.compare.independence import SerialCorrelation, TrialSequence
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.experiment.variance import Advice, NoVarianceComponents, Pays, VarianceComponents, advise
from middlemark.analysis.run import RunFindings
from middlemark.report.conclusions.headline import describe_load, distinguishing
from middlemark.report.elements.delivery import DELIVERY, delivery_columns
from middlemark.report.elements.formatting import PERCENT, Unit, digits, listed
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Column, Table, sentences, table, values
from middlemark.suite.metrics import Key

WORDS = {
    Pays.MORE_TRIALS: "more trials with shorter windows",
    Pays.LONGER_WINDOWS: "longer windows",
    Pays.AS_IT_IS: "as it is",
    Pays.UNDECIDED: "undecided",
}
SHARE_OF_VARIANCE = Unit("%", PERCENT.size)
NO_COST = NoVarianceComponents("too few trials ran in succession to know how long one takes besides its window")
OF_CHAINS = NoVarianceComponents("chains have no time series within the window")


def spread_table(findings: RunFindings, series_of: Mapping[str, Series]) -> Table | None:
    """A row for each ranked experiment of each setting; None where nothing is known of any."""
    varying = distinguishing(findings.comparisons)
    rows = tuple(
        (
            *delivery_columns(candidate, series_of),
            _setting(comparison, varying),
            *_cells(findings, comparison, candidate),
        )
        for comparison in findings.comparisons
        for candidate in comparison.ranked
    )
    if not any(
        isinstance(_levels(comparison, candidate), VarianceComponents) for comparison, candidate in _ranked(findings)
    ) and not (findings.serial_correlations):
        return None
    fixed_ns = findings.outside_window_ns
    cost = "" if fixed_ns is None else f" A trial takes {_seconds(fixed_ns)} besides its window."
    return table(
        "Spread over trials",
        (
            MIDDLEWARE,
            DELIVERY,
            sentences("setting"),
            *values("trials", "lag 1"),
            Column("between trials", "%"),
            *values("best window"),
            sentences("pays"),
        ),
        rows,
        "For the ranked median, or the goodput. Lag 1: the autocorrelation of successive trials by ranks, 0 where "
        "they are independent; * where it is significant over all rows together. Between trials: the share of the "
        "variance that longer windows don't reduce, with its 95 % confidence interval. Best window: gives the "
        "narrowest interval in the same total time (Kalibera and Jones 2013); tail quantiles may need longer "
        f"windows.{cost}",
    )


def spread_lines(findings: RunFindings, series_of: Mapping[str, Series]) -> list[str]:
    """A line for each setting in which another window would save time."""
    lines = []
    varying = distinguishing(findings.comparisons)
    for comparison in findings.comparisons:
        advised = {candidate.experiment.id: _advice(findings, comparison, candidate) for candidate in comparison.ranked}
        for pays in (Pays.MORE_TRIALS, Pays.LONGER_WINDOWS):
            own = {
                name: advice for name, advice in advised.items() if isinstance(advice, Advice) and advice.pays is pays
            }
            if own:
                names = listed([series_of[name].label for name in own])
                saved = 100 * (1 - max(advice.time_share for advice in own.values()))
                lines.append(
                    f"{_setting(comparison, varying)}: {WORDS[pays]} would narrow the interval of {names} "
                    f"as far in at least {digits(saved)} % less time"
                )
    return lines


def as_data(findings: RunFindings) -> list[dict[str, object]]:
    """Every row for a program to read; null where it is not known, with the reason."""
    return [
        {
            "experiment": candidate.experiment.id,
            "subject": comparison.setting.subject,
            "metric": comparison.criterion.metric,
            "neighbours": [
                {"looked_at": own.looked.value, **{name: asdict(own)[name] for name in NEIGHBOURS_SAID}}
                for own in _neighbours(findings, comparison, candidate)
            ],
            "levels": _levels_data(_levels(comparison, candidate)),
            "advice": _advice_data(_advice(findings, comparison, candidate)),
            "outside_window_ns": findings.outside_window_ns,
        }
        for comparison, candidate in _ranked(findings)
    ]


NEIGHBOURS_SAID = ("n_trials", "lag_1", "p_value", "is_significant")


def _levels_data(found: VarianceComponents | NoVarianceComponents) -> dict[str, object]:
    if isinstance(found, NoVarianceComponents):
        return {"share_between": None, "reason": found.reason}
    low, value, high = found.share_between
    said = {"n_trials": found.n_trials, "n_stretches": found.n_stretches, "window_ns": found.window_ns}
    return {**said, "share_between": value, "low": low, "high": high, "reason": ""}


def _advice_data(found: Advice | NoVarianceComponents) -> dict[str, object]:
    if isinstance(found, NoVarianceComponents):
        return {"pays": None, "reason": found.reason}
    best = None if found.best_window_ns == math.inf else found.best_window_ns
    return {"pays": found.pays.value, "best_window_ns": best, "time_share": found.time_share, "reason": ""}


def _ranked(findings: RunFindings) -> list[tuple[Comparison, ExperimentFindings]]:
    return [(comparison, candidate) for comparison in findings.comparisons for candidate in comparison.ranked]


def _setting(comparison: Comparison, varying: frozenset[str]) -> str:
    setting = comparison.setting
    name = setting.workload if setting.stream == setting.workload else f"{setting.workload} {setting.stream}"
    return f"{name.replace('_', ' ')}, {describe_load(setting, varying)}"


def _cells(findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings) -> tuple[Cell | str, ...]:
    found, said = _levels(comparison, candidate), _advice(findings, comparison, candidate)
    n_trials = Cell(len(candidate.block_values(_key(comparison)).finite))
    own = _neighbours(findings, comparison, candidate)
    alike = next((near for near in own if near.looked is TrialSequence.VALUES), None)
    mark = "*" if any(near.is_significant for near in own) else ""
    lag_1 = NOTHING if alike is None else f"{alike.lag_1:.2f}{mark}"
    if isinstance(found, NoVarianceComponents):
        return n_trials, lag_1, NOTHING, NOTHING, found.reason
    low, value, high = found.share_between
    between = Cell(value, SHARE_OF_VARIANCE, low, high)
    if isinstance(said, NoVarianceComponents):
        return n_trials, lag_1, between, NOTHING, said.reason
    best = "the longer the better" if said.best_window_ns == math.inf else _seconds(said.best_window_ns)
    return n_trials, lag_1, between, best, WORDS[said.pays]


def _key(comparison: Comparison) -> Key:
    return Key(comparison.setting.subject, comparison.criterion.metric)


def _neighbours(
    findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings
) -> list[SerialCorrelation]:
    key = _key(comparison)
    return [own for own in findings.serial_correlations if own.experiment == candidate.experiment.id and own.key == key]


def _levels(comparison: Comparison, candidate: ExperimentFindings) -> VarianceComponents | NoVarianceComponents:
    if comparison.setting.of_chain:
        return OF_CHAINS
    return candidate.variance[comparison.setting.stream]


def _advice(
    findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings
) -> Advice | NoVarianceComponents:
    found = _levels(comparison, candidate)
    if isinstance(found, NoVarianceComponents):
        return found
    return NO_COST if findings.outside_window_ns is None else advise(found, findings.outside_window_ns)


def _seconds(value_ns: float) -> str:
    return f"{digits(value_ns / 1e9)} s"
