"""The figures that experiments are compared by, under the names that people write: `p99(latency)`, `loss`, `cpu`.

A figure has one value a trial; which metric that is, in what unit, and whether less is better, stands here and nowhere
else. It compares nothing: `pairing` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_core import PydanticCustomError

from middlemark.analysis.metric_names import TRIAL, Key, of_chain, of_stream, quantile_metric
from middlemark.analysis.samples import OF_CHAINS, Distribution
from middlemark.errors import UsageError
from middlemark.plan import Experiment
from middlemark.plan.search import is_whole
from middlemark.suite import Dimension, figure_name


@dataclass(frozen=True)
class Figure:
    """One value of a trial."""

    name: str
    metric: str
    dimension: Dimension
    of_trial: bool = False
    """Whether it is of the trial as a whole, all processes together, rather than of each stream."""
    of_chain: bool = False
    """Whether it is of each chain of nodes rather than of each stream."""
    of_search: bool = False
    """Whether it is of a capacity search, and has one value a search."""
    lower_is_better: bool = True

    @property
    def is_share(self) -> bool:
        """Whether it may well be nought, so that differences say what ratios can't."""
        return self.dimension is Dimension.SHARE

    def key(self, name: str) -> Key:
        """Where its values of a stream, or of a chain, are."""
        if self.of_trial:
            return Key(TRIAL, self.metric)
        return Key(of_chain(name) if self.of_chain else of_stream(name), self.metric)

    def names(self, experiment: Experiment) -> list[str | None]:
        """The streams or chains that it may be of; `None` for the trial as a whole."""
        if self.of_trial:
            return [None]
        return [each.name for each in (experiment.chains if self.of_chain else experiment.streams)]


CAPACITY = "capacity_bytes_per_s"
"""The payload a second that is carried: of every search a number, whether rates were searched or sizes."""
DISTRIBUTIONS = {
    "latency": Distribution.LATENCY_FROM_SEND,
    "latency_from_intended": Distribution.LATENCY_FROM_INTENDED,
    "round_trip": Distribution.ROUND_TRIP,
    "jitter": Distribution.JITTER,
    "publish_call": Distribution.PUBLISH_CALL,
    "pacing_error": Distribution.PACING_ERROR,
    **{kind.value: kind for kind in OF_CHAINS},
}
PLAIN = (
    Figure("start_up", "start_up_ns", Dimension.TIME, of_trial=True),
    Figure("deadline_missed", "deadline_missed_share", Dimension.SHARE, of_chain=True),
    Figure("first_message", "first_message_ns", Dimension.TIME, of_trial=True),
    Figure("loss", "loss_share", Dimension.SHARE),
    Figure("unanswered", "unanswered_share", Dimension.SHARE),
    Figure("undelivered", "undelivered_share", Dimension.SHARE),
    Figure("goodput", "goodput_bytes_per_s", Dimension.BYTES_PER_S, lower_is_better=False),
    Figure("capacity", CAPACITY, Dimension.BYTES_PER_S, of_trial=True, of_search=True, lower_is_better=False),
    Figure("cpu", "cpu_percent_of_core", Dimension.PERCENT_OF_CORE, of_trial=True),
    Figure("memory", "peak_memory_bytes", Dimension.BYTES, of_trial=True),
)
USUAL = (
    *("median(latency)", "p99(latency)", "p99(latency_from_intended)", "median(round_trip)", "p99(round_trip)"),
    *("loss", "unanswered", "undelivered", "goodput"),
)
USUAL_OF_CHAINS = ("median(end_to_end)", "p99(end_to_end)", "deadline_missed")
USUAL_OF_TRIALS = ("first_message", "start_up", "cpu", "memory")
"""What is compared where nothing is asked for; of a pipeline that has chains, these and not its streams."""

_CALL = re.compile(r"\s*(?P<level>[a-z0-9]+)\s*\(\s*(?P<what>[a-z_]+)\s*\)\s*")


def figure(written: str) -> Figure:
    """The figure of a name; refuses what there is not, with what there is."""
    call = _CALL.fullmatch(written)
    try:
        name = figure_name(call["level"], call["what"]) if call else figure_name(None, written.strip())
    except PydanticCustomError as error:
        context = error.context or {}
        raise UsageError(context["problem"], remedy=f"figures: {context['allowed']}") from error
    plain = next((each for each in PLAIN if each.name == name), None)
    return plain or _of_distribution(name)


def _of_distribution(name: str) -> Figure:
    level, _, what = name.removesuffix(")").partition("(")
    metric = quantile_metric(DISTRIBUTIONS[what], "p50" if level == "median" else level)
    return Figure(name, metric, Dimension.TIME, of_chain=DISTRIBUTIONS[what] in OF_CHAINS)


def usual() -> Sequence[Figure]:
    """The figures to compare where none is named."""
    return [figure(name) for name in (*USUAL, *USUAL_OF_CHAINS, *USUAL_OF_TRIALS)]


def usual_of(experiment: Experiment, *, streams: bool = False) -> Sequence[Figure]:
    """Those of one experiment: a pipeline is judged by its chains, its streams are told only on demand."""
    if is_whole(experiment):
        return [figure("capacity")]
    return [each for each in usual() if streams or not experiment.chains or each.of_trial or each.of_chain]
