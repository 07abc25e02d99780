"""How narrow the intervals are of a run that goes on until they are narrow enough.

In a table and in lines for a terminal. It decides nothing: `analysis.search.stopping` did.
"""

from __future__ import annotations

from collections.abc import Mapping

from middlemark.analysis.run import RunFindings
from middlemark.plan import varying_factors
from middlemark.report.elements.formatting import digits
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import MIDDLEWARE, NOTHING, Cell, Table, named, sentences, table, values
from middlemark.results.manifest import Width
from middlemark.suite.yaml.quantity import plural

NAMED_BY_LABEL = {"middleware", "profile"}


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
    varying = [name for name in varying_factors(experiments) if name not in NAMED_BY_LABEL and "option." not in name]
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
