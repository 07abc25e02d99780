"""How precise a run is: how much trials vary, whether they are independent, and which intervals are narrow enough.

In tables, lines for a terminal, and data for a program. `analysis.experiment.variance`, `analysis.compare.independence`
and `analysis.search.stopping` computed it; trials that depend on each other have a warning too, see `warnings`.
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
from middlemark.plan.factors import is_of_candidate, varying_factors
from middlemark.report.elements.candidate_tables import candidate_table
from middlemark.report.elements.formatting import PERCENT, Unit, digits, listed
from middlemark.report.elements.labels import Series, describe_load, distinguishing
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Column, Table, named, sentences, table, values
from middlemark.results.manifest import Width
from middlemark.suite.metrics import Key
from middlemark.suite.yaml.quantity import plural

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
        (candidate, (_setting(comparison, varying), *_cells(findings, comparison, candidate)))
        for comparison in findings.comparisons
        for candidate in comparison.ranked
    )
    if not any(
        isinstance(_levels(comparison, candidate), VarianceComponents) for comparison, candidate in _ranked(findings)
    ) and not (findings.serial_correlations):
        return None
    fixed_ns = findings.outside_window_ns
    cost = "" if fixed_ns is None else f" A trial takes {_seconds(fixed_ns)} besides its window."
    return candidate_table(
        "Spread over trials",
        (
            sentences("setting"),
            *values("trials", "lag 1"),
            Column("between trials", "%"),
            *values("best window"),
            sentences("pays"),
        ),
        rows,
        series_of,
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
            paying = {
                name: advice for name, advice in advised.items() if isinstance(advice, Advice) and advice.pays is pays
            }
            if paying:
                names = listed([series_of[name].label for name in paying])
                saved = 100 * (1 - max(advice.time_share for advice in paying.values()))
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
                {"looked_at": neighbour.looked.value, **{name: asdict(neighbour)[name] for name in NEIGHBOURS_SAID}}
                for neighbour in _neighbours(findings, comparison, candidate)
            ],
            "levels": _levels_data(_levels(comparison, candidate)),
            "advice": _advice_data(_advice(findings, comparison, candidate)),
            "outside_window_ns": findings.outside_window_ns,
        }
        for comparison, candidate in _ranked(findings)
    ]


NEIGHBOURS_SAID = ("n_trials", "lag_1", "p_value", "is_significant")


def _levels_data(components: VarianceComponents | NoVarianceComponents) -> dict[str, object]:
    if isinstance(components, NoVarianceComponents):
        return {"share_between": None, "reason": components.reason}
    low, value, high = components.share_between
    counts = {"n_trials": components.n_trials, "n_stretches": components.n_stretches, "window_ns": components.window_ns}
    return {**counts, "share_between": value, "low": low, "high": high, "reason": ""}


def _advice_data(advice: Advice | NoVarianceComponents) -> dict[str, object]:
    if isinstance(advice, NoVarianceComponents):
        return {"pays": None, "reason": advice.reason}
    best = None if advice.best_window_ns == math.inf else advice.best_window_ns
    return {"pays": advice.pays.value, "best_window_ns": best, "time_share": advice.time_share, "reason": ""}


def _ranked(findings: RunFindings) -> list[tuple[Comparison, ExperimentFindings]]:
    return [(comparison, candidate) for comparison in findings.comparisons for candidate in comparison.ranked]


def _setting(comparison: Comparison, varying: frozenset[str]) -> str:
    setting = comparison.setting
    name = setting.workload if setting.stream == setting.workload else f"{setting.workload} {setting.stream}"
    return f"{name.replace('_', ' ')}, {describe_load(setting, varying)}"


def _cells(findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings) -> tuple[Cell | str, ...]:
    levels, advice = _levels(comparison, candidate), _advice(findings, comparison, candidate)
    n_trials = Cell(len(candidate.block_values(_key(comparison)).finite))
    neighbours = _neighbours(findings, comparison, candidate)
    alike = next((neighbour for neighbour in neighbours if neighbour.looked is TrialSequence.VALUES), None)
    mark = "*" if any(neighbour.is_significant for neighbour in neighbours) else ""
    lag_1 = NOTHING if alike is None else f"{alike.lag_1:.2f}{mark}"
    if isinstance(levels, NoVarianceComponents):
        return n_trials, lag_1, NOTHING, NOTHING, levels.reason
    low, value, high = levels.share_between
    between = Cell(value, SHARE_OF_VARIANCE, low, high)
    if isinstance(advice, NoVarianceComponents):
        return n_trials, lag_1, between, NOTHING, advice.reason
    best = "the longer the better" if advice.best_window_ns == math.inf else _seconds(advice.best_window_ns)
    return n_trials, lag_1, between, best, WORDS[advice.pays]


def _key(comparison: Comparison) -> Key:
    return Key(comparison.setting.subject, comparison.criterion.metric)


def _neighbours(
    findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings
) -> list[SerialCorrelation]:
    key = _key(comparison)
    return [
        neighbour
        for neighbour in findings.serial_correlations
        if neighbour.experiment == candidate.experiment.id and neighbour.key == key
    ]


def _levels(comparison: Comparison, candidate: ExperimentFindings) -> VarianceComponents | NoVarianceComponents:
    if comparison.setting.of_chain:
        return OF_CHAINS
    return candidate.variance[comparison.setting.stream]


def _advice(
    findings: RunFindings, comparison: Comparison, candidate: ExperimentFindings
) -> Advice | NoVarianceComponents:
    levels = _levels(comparison, candidate)
    if isinstance(levels, NoVarianceComponents):
        return levels
    return NO_COST if findings.outside_window_ns is None else advise(levels, findings.outside_window_ns)


def _seconds(value_ns: float) -> str:
    return f"{digits(value_ns / 1e9)} s"


def stop_lines(findings: RunFindings, series_of: Mapping[str, Series]) -> list[str]:
    """How many are narrow enough, and each that is not."""
    widths = _known(findings, series_of)
    wide = [width for width in widths if not width.settled]
    if not widths:
        return []
    first = f"{len(widths) - len(wide)} of {plural(len(widths), 'metric')} are known as well as requested"
    names = _names(findings, series_of)
    return [first, *(f"{names[width.experiment]}: {_open_words(width)}" for width in wide)]


def stop_table(findings: RunFindings, series_of: Mapping[str, Series]) -> Table | None:
    """Every metric of the suite's `stop`."""
    widths = _known(findings, series_of)
    if not widths:
        return None
    names = _names(findings, series_of)
    rows = [
        (
            names[width.experiment],
            _metric(width),
            Cell(width.n_trials),
            NOTHING if width.relative_width is None else f"± {_percent(width.relative_width)}",
            f"± {_percent(width.allowed)}",
            "narrow enough" if width.settled else f"open: {width.reason}",
        )
        for width in sorted(widths, key=lambda width: (width.settled, names[width.experiment], width.figure))
    ]
    return table(
        "Enough trials",
        (MIDDLEWARE, *named("metric"), *values("trials", "half-width", "requested"), sentences("state")),
        rows,
        f"Half of the {_percent(widths[0].confidence)} confidence interval of the median over trials, as a share of "
        "the median. Narrow enough: in two successive checks, five trials apart.",
    )


def _known(findings: RunFindings, series_of: Mapping[str, Series]) -> list[Width]:
    """Of the experiments that are shown."""
    return [width for width in findings.manifest.widths if width.experiment in series_of]


def _names(findings: RunFindings, series_of: Mapping[str, Series]) -> dict[str, str]:
    experiments = [candidate.experiment for candidate in findings.experiments]
    varying = [name for name in varying_factors(experiments) if not is_of_candidate(name)]
    return {
        experiment.id: " ".join(
            [
                series_of[experiment.id].label,
                *(experiment.factors[name] for name in varying if name in experiment.factors),
            ]
        )
        for experiment in experiments
    }


def _open_words(width: Width) -> str:
    reach = "" if width.relative_width is None else f"± {_percent(width.relative_width)} after "
    requested = f"± {_percent(width.allowed)} requested"
    return f"{_metric(width)} {reach}{plural(width.n_trials, 'trial')}, {requested}: {width.reason}"


def _metric(width: Width) -> str:
    return f"{width.stream} {width.figure}" if width.stream else width.figure


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"
