"""A pipeline as text: each node with where it lives, what makes it run, how long it computes and what it sends.

It draws what is planned and runs nothing; the order is the plan's.
"""

from middlemark.plan import Experiment, Node
from middlemark.plan.node import ConstantTime, OnMessage, Source, Timer, UniformTime, UnthrottledSource
from middlemark.suite import DURATION, RATE, SIZE


def pipeline_text(experiment: Experiment) -> str:
    """One line a node and one a chain."""
    host_of = {application.name: application.host for application in experiment.applications}
    rows = [
        (
            node.name,
            f"{node.application} on {host_of[node.application]}",
            _runs(node),
            _computes(node),
            _sends(node, experiment),
        )
        for node in experiment.nodes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    chains = [
        f"chain {chain.name}: {' → '.join(chain.nodes)}"
        + (f" within {DURATION.text(chain.deadline_ns)}" if chain.deadline_ns is not None else "")
        for chain in experiment.chains
    ]
    return "\n".join(line.rstrip() for line in [*lines, *chains])


def _runs(node: Node) -> str:
    taken = ", ".join(entry.stream for entry in node.inputs)
    match node.trigger:
        case Source(rate_hz=rate_hz):
            return f"source at {RATE.text(rate_hz)}"
        case UnthrottledSource():
            return "source, unthrottled"
        case Timer(rate_hz=rate_hz):
            return f"timer at {RATE.text(rate_hz)}, takes {taken}"
        case OnMessage(when=when):
            return f"on {taken}" if len(node.inputs) == 1 else f"on {when} of {taken}"


def _computes(node: Node) -> str:
    match node.compute:
        case ConstantTime(time_ns=0):
            return "computes nothing"
        case ConstantTime(time_ns=time_ns):
            return f"computes {DURATION.text(time_ns)}"
        case UniformTime(minimum_ns=minimum_ns, maximum_ns=maximum_ns):
            return f"computes {DURATION.text(minimum_ns)} to {DURATION.text(maximum_ns)}"
        case spread:
            times = f"{DURATION.text(spread.mean_ns)} ± {DURATION.text(spread.deviation_ns)}"
            return f"computes {times}, {spread.kind}"


def _sends(node: Node, experiment: Experiment) -> str:
    size_of = {stream.name: SIZE.text(stream.size_bytes) for stream in experiment.streams}
    return f"sends {', '.join(f'{stream} ({size_of[stream]})' for stream in node.outputs)}" if node.outputs else ""
