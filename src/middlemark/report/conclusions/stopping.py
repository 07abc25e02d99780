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


def stop_lines(findings: RunFindings, who: Mapping[str, Series]) -> list[str]:
    """How many are narrow enough, and each that is not."""
    known = _known(findings, who)
    wide = [each for each in known if not each.settled]
    if not known:
        return []
    first = f"{len(known) - len(wide)} of {plural(len(known), 'metric')} are known as well as requested"
    names = _names(findings, who)
    return [first, *(f"{names[each.experiment]}: {_open_words(each)}" for each in wide)]


def stop_table(findings: RunFindings, who: Mapping[str, Series]) -> Table | None:
    """Every metric of the suite's `stop`."""
    known = _known(findings, who)
    if not known:
        return None
    names = _names(findings, who)
    rows = [
        (
            names[each.experiment],
            _metric(each),
            Cell(each.n_trials),
            NOTHING if each.relative_width is None else f"± {_percent(each.relative_width)}",
            f"± {_percent(each.allowed)}",
            "narrow enough" if each.settled else f"open: {each.reason}",
        )
        for each in sorted(known, key=lambda width: (width.settled, names[width.experiment], width.figure))
    ]
    return table(
        "Enough trials",
        (MIDDLEWARE, *named("metric"), *values("trials", "half-width", "requested"), sentences("state")),
        rows,
        f"Half of the {_percent(known[0].confidence)} confidence interval of the median over trials, as a share of the "
        "median. Narrow enough: in two successive checks, five trials apart.",
    )


def _known(findings: RunFindings, who: Mapping[str, Series]) -> list[Width]:
    """Of the experiments that are shown."""
    return [each for each in findings.manifest.widths if each.experiment in who]


def _names(findings: RunFindings, who: Mapping[str, Series]) -> dict[str, str]:
    experiments = [each.experiment for each in findings.experiments]
    varying = [name for name in varying_factors(experiments) if name not in NAMED_BY_LABEL and "option." not in name]
    return {
        each.id: " ".join([who[each.id].label, *(each.factors[name] for name in varying if name in each.factors)])
        for each in experiments
    }


def _open_words(each: Width) -> str:
    reach = "" if each.relative_width is None else f"± {_percent(each.relative_width)} after "
    return (
        f"{_metric(each)} {reach}{plural(each.n_trials, 'trial')}, ± {_percent(each.allowed)} requested: {each.reason}"
    )


def _metric(each: Width) -> str:
    return f"{each.stream} {each.figure}" if each.stream else each.figure


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"
