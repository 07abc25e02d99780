"""What a figure stands on, in the words of its caption: so many trials of so many messages each.

It counts nothing: estimates know how many trials and messages they are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from middlemark.analysis.comparison import Comparison
from middlemark.analysis.estimate import Estimate
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.samples import Distribution
from middlemark.report.display import plural


def counted(drawn: Sequence[ExperimentFindings], comparison: Comparison, kind: Distribution) -> str:
    """What distributions of the setting's stream or chain stand on; too few for a quantile may yet be drawn."""
    subject, metric = comparison.setting.subject, comparison.criterion.metric
    noun = "way" if comparison.setting.of_chain else "message"
    told = n_words((each.estimate(subject, metric) for each in drawn), noun)
    samples = [each.curves[comparison.setting.stream, kind].n for each in drawn]
    return told or f"n = {span(samples, noun)} of all trials together."


def n_words(estimates: Iterable[Estimate | None], noun: str = "message") -> str:
    """`n = 3 trials of 300 messages each.`; empty where nothing was estimated."""
    known = [each for each in estimates if each is not None and each.n_trials]
    if not known:
        return ""
    messages = [each.n_messages // each.n_trials for each in known]
    return f"n = {span([each.n_trials for each in known], 'trial')} of {span(messages, noun)} each."


def n_trials(estimates: Iterable[Estimate | None]) -> str:
    """`n = 2 to 3 trials.`, of figures that a trial has one of."""
    known = [each.n_trials for each in estimates if each is not None and each.n_trials]
    return f"n = {span(known, 'trial')}." if known else ""


def span(counts: Sequence[int], noun: str) -> str:
    """`3 trials`, or `2 to 3 trials`."""
    low, high = min(counts), max(counts)
    return plural(high, noun) if low == high else f"{low} to {plural(high, noun)}"
