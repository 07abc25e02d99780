"""How wide the intervals are of a run that goes on until they are narrow: in lines for a terminal, and as a table.

It decides nothing: the widths are the manifest's, as the campaign stored them.
"""

from __future__ import annotations

from collections.abc import Mapping

from middlemark.analysis.run import RunFindings
from middlemark.plan import varying_factors
from middlemark.report.contender import Contender
from middlemark.report.display import ABSENT, digits, plural
from middlemark.report.tables import Table
from middlemark.results.manifest import Width

IN_LABELS = {"middleware", "profile"}


def stop_lines(findings: RunFindings, who: Mapping[str, Contender]) -> list[str]:
    """How many are narrow enough, and each that is not."""
    known = _known(findings, who)
    wide = [each for each in known if not each.settled]
    if not known:
        return []
    first = f"{len(known) - len(wide)} of {plural(len(known), 'figure')} are known as well as was asked for"
    names = _names(findings, who)
    return [first, *(f"{names[each.experiment]}: {_open_words(each)}" for each in wide)]


def stop_table(findings: RunFindings, who: Mapping[str, Contender]) -> Table | None:
    """Every figure that the suite's `stop` asks for."""
    known = _known(findings, who)
    if not known:
        return None
    names = _names(findings, who)
    rows = tuple(
        (
            names[each.experiment],
            _figure(each),
            str(each.n_trials),
            ABSENT if each.relative_width is None else f"± {_percent(each.relative_width)}",
            f"± {_percent(each.allowed)}",
            "narrow enough" if each.settled else f"open: {each.reason}",
        )
        for each in sorted(known, key=lambda width: (width.settled, names[width.experiment], width.figure))
    )
    return Table(
        "Enough trials",
        ("", "figure", "trials", "half-width", "asked", ""),
        rows,
        f"Half of the {_percent(known[0].confidence)} interval of the median over trials, as a share of the median. "
        "Narrow enough is what was so at two looks in a row, five trials apart.",
    )


def _known(findings: RunFindings, who: Mapping[str, Contender]) -> list[Width]:
    """Of the experiments that are shown."""
    return [each for each in findings.manifest.widths if each.experiment in who]


def _names(findings: RunFindings, who: Mapping[str, Contender]) -> dict[str, str]:
    experiments = [each.experiment for each in findings.experiments]
    beside = [name for name in varying_factors(experiments) if name not in IN_LABELS and "option." not in name]
    return {
        each.id: " ".join([who[each.id].label, *(each.factors[name] for name in beside if name in each.factors)])
        for each in experiments
    }


def _open_words(each: Width) -> str:
    reach = "" if each.relative_width is None else f"± {_percent(each.relative_width)} after "
    return f"{_figure(each)} {reach}{plural(each.n_trials, 'trial')}, ± {_percent(each.allowed)} asked: {each.reason}"


def _figure(each: Width) -> str:
    return f"{each.stream} {each.figure}" if each.stream else each.figure


def _percent(share: float) -> str:
    return f"{digits(100 * share)} %"
