"""What metrics are called and what they are of: the trial, one of its streams, chains, nodes or processes, or a host.

A metric's name ends in its unit. It computes nothing: the other modules of `metrics` give values to these names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic_core import PydanticCustomError

from middlemark.analysis.metrics.latency import OF_CHAINS, Distribution
from middlemark.analysis.stats.quantiles import LEVELS
from middlemark.errors import UsageError
from middlemark.plan import Experiment
from middlemark.plan.schedule import is_whole
from middlemark.suite import Dimension, figure_name


class Key(NamedTuple):
    """What a value is of, and which metric it is."""

    subject: str
    """`trial`, `stream:<name>`, `process:<name>` or `host:<name>`; under faults
    `flow:<stream>/<publisher>/<subscriber>`, both as numbers; of pipelines `node:<name>`, `chain:<name>`, and
    `chain:<name>/<position>`."""
    metric: str


TRIAL = "trial"


def stream_subject(name: str) -> str:
    """The subject for a stream."""
    return f"stream:{name}"


def flow_subject(stream: str, publisher: int, subscriber: int) -> str:
    """The subject for one publisher's messages at one subscriber, both as the stream counts them."""
    return f"flow:{stream}/{publisher}/{subscriber}"


def chain_subject(name: str) -> str:
    """The subject for a chain of nodes."""
    return f"chain:{name}"


def chain_position_subject(chain: str, position: int) -> str:
    """The subject for the node at a position of a chain, with the message to it."""
    return f"chain:{chain}/{position}"


def node_subject(name: str) -> str:
    """The subject for a node."""
    return f"node:{name}"


def distribution_subject(name: str, kind: Distribution) -> str:
    """The subject that a distribution is of, by the name of its stream or chain."""
    return chain_subject(name) if kind in OF_CHAINS else stream_subject(name)


def process_subject(name: str) -> str:
    """The subject for a process."""
    return f"process:{name}"


def host_subject(name: str) -> str:
    """The subject for a host that is another machine."""
    return f"host:{name}"


def quantile_metric(kind: Distribution, level: str) -> str:
    """The name of a quantile's metric."""
    return f"{kind}_{level}_ns"


def metrics_of_distribution(kind: Distribution) -> tuple[str, ...]:
    """The names of all metrics of a distribution."""
    return tuple(quantile_metric(kind, level) for level in ("min", *LEVELS, "max"))


@dataclass(frozen=True)
class Metric:
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
        return Key(chain_subject(name) if self.of_chain else stream_subject(name), self.metric)

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
    Metric("start_up", "start_up_ns", Dimension.TIME, of_trial=True),
    Metric("deadline_missed", "deadline_missed_share", Dimension.SHARE, of_chain=True),
    Metric("first_message", "first_message_ns", Dimension.TIME, of_trial=True),
    Metric("loss", "loss_share", Dimension.SHARE),
    Metric("unanswered", "unanswered_share", Dimension.SHARE),
    Metric("undelivered", "undelivered_share", Dimension.SHARE),
    Metric("goodput", "goodput_bytes_per_s", Dimension.BYTES_PER_S, lower_is_better=False),
    Metric("capacity", CAPACITY, Dimension.BYTES_PER_S, of_trial=True, of_search=True, lower_is_better=False),
    Metric("cpu", "cpu_percent_of_core", Dimension.PERCENT_OF_CORE, of_trial=True),
    Metric("memory", "peak_memory_bytes", Dimension.BYTES, of_trial=True),
)
USUAL = (
    *("median(latency)", "p99(latency)", "p99(latency_from_intended)", "median(round_trip)", "p99(round_trip)"),
    *("loss", "unanswered", "undelivered", "goodput"),
)
USUAL_OF_CHAINS = ("median(end_to_end)", "p99(end_to_end)", "deadline_missed")
USUAL_OF_TRIALS = ("first_message", "start_up", "cpu", "memory")
"""What is compared where nothing is asked for; of a pipeline that has chains, these and not its streams."""

_CALL = re.compile(r"\s*(?P<level>[a-z0-9]+)\s*\(\s*(?P<what>[a-z_]+)\s*\)\s*")


def metric_named(written: str) -> Metric:
    """The figure of a name; refuses what there is not, with what there is."""
    call = _CALL.fullmatch(written)
    try:
        name = figure_name(call["level"], call["what"]) if call else figure_name(None, written.strip())
    except PydanticCustomError as error:
        context = error.context or {}
        raise UsageError(context["problem"], remedy=f"figures: {context['allowed']}") from error
    plain = next((each for each in PLAIN if each.name == name), None)
    return plain or _of_distribution(name)


def _of_distribution(name: str) -> Metric:
    level, _, what = name.removesuffix(")").partition("(")
    metric = quantile_metric(DISTRIBUTIONS[what], "p50" if level == "median" else level)
    return Metric(name, metric, Dimension.TIME, of_chain=DISTRIBUTIONS[what] in OF_CHAINS)


def usual_metrics() -> Sequence[Metric]:
    """The figures to compare where none is named."""
    return [metric_named(name) for name in (*USUAL, *USUAL_OF_CHAINS, *USUAL_OF_TRIALS)]


def usual_metrics_of(experiment: Experiment, *, streams: bool = False) -> Sequence[Metric]:
    """Those of one experiment: a pipeline is judged by its chains, its streams are told only on demand."""
    if is_whole(experiment):
        return [metric_named("capacity")]
    return [each for each in usual_metrics() if streams or not experiment.chains or each.of_trial or each.of_chain]
