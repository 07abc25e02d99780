"""What metrics are called and what they are of: the trial, one of its streams, chains, nodes or processes, or a host.

A metric's name ends in its unit. It computes nothing: `metrics` and its neighbours give values to these names.
"""

from __future__ import annotations

from typing import NamedTuple

from middlemark.analysis.quantile import LEVELS
from middlemark.analysis.samples import OF_CHAINS, Distribution


class Key(NamedTuple):
    """What a value is of, and which metric it is."""

    subject: str
    """`trial`, `stream:<name>`, `process:<name>` or `host:<name>`; under faults
    `flow:<stream>/<publisher>/<subscriber>`, both as numbers; of pipelines `node:<name>`, `chain:<name>`, and
    `chain:<name>/<position>`."""
    metric: str


TRIAL = "trial"


def of_stream(name: str) -> str:
    """The subject for a stream."""
    return f"stream:{name}"


def of_flow(stream: str, publisher: int, subscriber: int) -> str:
    """The subject for one publisher's messages at one subscriber, both as the stream counts them."""
    return f"flow:{stream}/{publisher}/{subscriber}"


def of_chain(name: str) -> str:
    """The subject for a chain of nodes."""
    return f"chain:{name}"


def of_place(chain: str, position: int) -> str:
    """The subject for the node at a position of a chain, with the message to it."""
    return f"chain:{chain}/{position}"


def of_node(name: str) -> str:
    """The subject for a node."""
    return f"node:{name}"


def of_samples(name: str, kind: Distribution) -> str:
    """The subject that a distribution is of, by the name of its stream or chain."""
    return of_chain(name) if kind in OF_CHAINS else of_stream(name)


def of_process(name: str) -> str:
    """The subject for a process."""
    return f"process:{name}"


def of_host(name: str) -> str:
    """The subject for a host that is another machine."""
    return f"host:{name}"


def quantile_metric(kind: Distribution, level: str) -> str:
    """The name of a quantile's metric."""
    return f"{kind}_{level}_ns"


def metrics_of(kind: Distribution) -> tuple[str, ...]:
    """The names of all metrics of a distribution."""
    return tuple(quantile_metric(kind, level) for level in ("min", *LEVELS, "max"))
