"""The metrics of a trial's chains and nodes: end-to-end latency and its parts, deadline misses, losses, start-up.

A typical instance is the mean of the middle fifth of all by their end-to-end latency, a slow one that of the slowest
hundredth, so that parts add up to the whole as medians of parts would not. `chain_trace` follows the instances;
estimates over several trials are `stats.estimate`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from middlemark.analysis.metrics.chain_trace import (
    COUNTED_FATES,
    NEVER_ENDED,
    ChainPart,
    ChainRoute,
    Fate,
    FollowedChain,
    Rows,
    follow_chain,
    part_column,
    positions,
)
from middlemark.analysis.metrics.distributions import clock_bound_metric, distribution_metrics
from middlemark.analysis.stats.quantiles import (
    Measured,
    Samples,
    Sketch,
    Value,
    exact_sketch,
    quantile,
    sketch_of,
    with_clock_bound,
)
from middlemark.plan import Chain, Experiment
from middlemark.results.record import TrialRecord
from middlemark.suite.metrics import TRIAL, Distribution, Key, chain_position_subject, chain_subject, node_subject

KINDS = {
    ChainPart.COMMUNICATION: Distribution.COMMUNICATION,
    ChainPart.IDLE: Distribution.IDLE,
    ChainPart.COMPUTATION: Distribution.COMPUTATION,
}
Paths = Mapping[str, pl.DataFrame]
"""By typical and slow paths."""
# Below, the slowest hundredth is a path or two.
_SLOW_NEED = 200


@dataclass
class ChainMetrics:
    """What a trial's chains and nodes come to."""

    values: dict[Key, Value] = field(default_factory=dict)
    samples: dict[tuple[str, Distribution], Sketch] = field(default_factory=dict)
    """By chain."""


def chain_metrics(record: TrialRecord, rows: Rows, condense: Callable[[Sketch], Sketch] = sketch_of) -> ChainMetrics:
    """All of it; nothing where the experiment has no nodes."""
    experiment = record.trial.experiment
    metrics = ChainMetrics(values=_of_nodes(record, rows))
    for chain in experiment.chains:
        paths = follow_chain(route_of(chain, experiment), rows)
        bounds_ns = _bounds(record, chain)
        for kind, ordered in _samples(paths):
            samples = exact_sketch(
                ordered, bounds_ns.get(kind, 0), paths.never_ended if kind is Distribution.END_TO_END else 0
            )
            if not samples.n_messages:
                continue
            metrics.samples[chain.name, kind] = condense(samples)
            metrics.values |= distribution_metrics(chain_subject(chain.name), kind, samples)
        metrics.values |= clock_bound_metric(chain_subject(chain.name), bounds_ns)
        kinds = _kinds_of_path(paths)
        metrics.values |= _of_chain(chain, paths, kinds, bounds_ns)
        metrics.values |= _of_places(chain, paths, kinds, record, rows)
    return metrics


def route_of(chain: Chain, experiment: Experiment) -> ChainRoute:
    """The chain by the numbers that the rows have."""
    nodes = {node.name: (number, node) for number, node in enumerate(experiment.nodes)}
    streams = {stream.name: number for number, stream in enumerate(experiment.streams)}
    takers = [nodes[name][1] for name in chain.nodes[1:]]
    return ChainRoute(
        nodes=tuple(nodes[name][0] for name in chain.nodes),
        streams=tuple(streams[name] for name in chain.streams),
        subscribers=tuple(
            next(node_input.subscriber for node_input in taker.inputs if node_input.stream == stream)
            for taker, stream in zip(takers, chain.streams, strict=True)
        ),
        deadline_ns=chain.deadline_ns,
        tmax_ns=min(experiment.windows.late_after_ns, experiment.windows.window_ns // 2),
    )


def _bounds(record: TrialRecord, chain: Chain) -> dict[Distribution, int]:
    """By how much a chain's times may be off: the whole by the clocks of its ends alone, what a node does by none."""
    applications = _applications(record, chain)
    bounds = {
        Distribution.END_TO_END: record.clocks_apart_ns(applications[:1], applications[-1:]),
        Distribution.COMMUNICATION: sum(_bounds_of_hops(record, chain)),
    }
    return {kind: bound_ns for kind, bound_ns in bounds.items() if bound_ns}


def _bounds_of_hops(record: TrialRecord, chain: Chain) -> tuple[int, ...]:
    """Of each message of a chain, from its first node on."""
    applications = _applications(record, chain)
    return tuple(
        record.clocks_apart_ns(applications[n : n + 1], applications[n + 1 : n + 2])
        for n in range(len(applications) - 1)
    )


def _applications(record: TrialRecord, chain: Chain) -> tuple[str, ...]:
    """The application of each node on the path."""
    of_node = {node.name: node.application for node in record.trial.experiment.nodes}
    return tuple(of_node[name] for name in chain.nodes)


def _samples(paths: FollowedChain) -> Iterator[tuple[Distribution, Samples]]:
    """In order of size, one after the other, as each may be long."""
    sums = {kind: pl.sum_horizontal(paths.columns(part)) for part, kind in KINDS.items()}
    for kind, value in {Distribution.END_TO_END: pl.col("whole_ns"), **sums}.items():
        yield kind, np.sort(paths.of_ended(value).to_numpy())


def _of_chain(
    chain: Chain, paths: FollowedChain, kinds: Paths, bounds_ns: Mapping[Distribution, int]
) -> dict[Key, Value]:
    fates = paths.fates
    began, settled = sum(fates.values()), sum(fates[fate] for fate in COUNTED_FATES)
    values: dict[str, Value] = {}
    if began:
        values["set_aside_share"] = Measured((began - settled) / began, began)
    if settled:
        values["loss_share"] = Measured(paths.never_ended / settled, settled)
        values["passed_over_share"] = Measured(fates[Fate.PASSED_OVER] / settled, settled)
    missed, judged = paths.missed
    if judged and chain.deadline_ns is not None:
        took_ns = paths.of_ended(pl.col("whole_ns"))
        compared_ns = min([chain.deadline_ns, *([float(np.median(took_ns.to_numpy()))] if len(took_ns) else [])])
        of_judged = Measured(missed / judged, judged)
        values["deadline_missed_share"] = with_clock_bound(
            of_judged, bounds_ns.get(Distribution.END_TO_END, 0), compared_ns
        )
    for kind, chosen in kinds.items():
        values[f"{kind}_whole_ns"] = with_clock_bound(
            _mean(chosen, ["whole_ns"]), bounds_ns.get(Distribution.END_TO_END, 0)
        )
        for part in ChainPart:
            took = _mean(chosen, paths.columns(part))
            values[f"{kind}_{part}_ns"] = with_clock_bound(took, bounds_ns.get(KINDS[part], 0))
    return {Key(chain_subject(chain.name), name): value for name, value in values.items()}


def _kinds_of_path(paths: FollowedChain) -> Paths:
    """The typical and the slow paths, where there are enough."""
    n = paths.fates[Fate.ENDED]
    kinds = {"typical": paths.ended_in_order(2 * n // 5, n // 5 + 1)} if n else {}
    return kinds | ({"slow": paths.ended_in_order(n - n // 100, n // 100)} if n >= _SLOW_NEED else {})


def _mean(paths: pl.DataFrame, columns: list[str]) -> Value:
    return Measured(float(paths.select(pl.sum_horizontal(columns)).to_series().to_numpy().mean()), len(paths))


def _of_places(chain: Chain, paths: FollowedChain, kinds: Paths, record: TrialRecord, rows: Rows) -> dict[Key, Value]:
    """What each node of a chain, with the message to it, takes of typical and slow paths, and what it lets go."""
    values: dict[Key, Value] = {}
    route = route_of(chain, record.trial.experiment)
    hops_ns = (0, *_bounds_of_hops(record, chain))
    for position in range(paths.length):
        named: dict[str, Value] = {}
        for kind, chosen in kinds.items():
            for part in ChainPart:
                if position in positions(part, paths.length):
                    bound_ns = hops_ns[position] if part is ChainPart.COMMUNICATION else 0
                    named[f"{kind}_{part}_ns"] = with_clock_bound(
                        _mean(chosen, [part_column(part, position)]), bound_ns
                    )
        if position:
            named |= _let_go(paths, position) | _without_new(route, rows, position)
        values |= {Key(chain_position_subject(chain.name, position), name): value for name, value in named.items()}
    return values


def _let_go(paths: FollowedChain, position: int) -> dict[str, Value]:
    """Of what reached the node before, the share whose message to this one was lost, or taken by no execution."""
    fate, stopped_at = pl.col("fate"), pl.col("at")
    came, lost, passed_over = (
        paths.instances.lazy()
        .select(
            came=(fate.is_in([fate.value for fate in COUNTED_FATES]) & (stopped_at >= position - 1)).sum(),
            lost=(fate.is_in([fate.value for fate in NEVER_ENDED]) & (stopped_at == position - 1)).sum(),
            passed_over=((fate == Fate.PASSED_OVER.value) & (stopped_at == position - 1)).sum(),
        )
        .collect()
        .row(0)
    )
    if not came:
        return {}
    return {"loss_share": Measured(lost / came, came), "passed_over_share": Measured(passed_over / came, came)}


def _without_new(route: ChainRoute, rows: Rows, position: int) -> dict[str, Value]:
    """How often the node's timer fired without a new message of the chain, from its first message on."""
    node = pl.col("node") == route.nodes[position]
    of_chain_alone = node & (pl.col("stream") == route.streams[position - 1])
    took = rows.inputs.filter(of_chain_alone).select(pl.col("execution").unique()).collect()
    first = took["execution"].min()
    timed = node & (pl.col("trigger") == "timer") & (pl.col("execution") >= pl.lit(first))
    fired = rows.executions.filter(timed).select("execution").collect()
    if not len(fired):
        return {}
    without = len(fired.join(took, on="execution", how="anti"))
    return {"stale_share": Measured(without / len(fired), len(fired))}


def _of_nodes(record: TrialRecord, rows: Rows) -> dict[Key, Value]:
    """Each node's start-up, rate and computation, and what it let go of all its inputs."""
    values: dict[Key, Value] = {}
    started = [node.first_execution_after_ns for node in record.nodes]
    if started and None not in started:
        longest = max(after for after in started if after is not None)
        values[Key(TRIAL, "start_up_ns")] = Measured(float(longest), len(started))
    window_s = record.trial.experiment.windows.window_ns / 1e9
    for number, counts in enumerate(record.nodes):
        executions = rows.executions.filter(pl.col("node") == number)
        took_ns = executions.select(pl.col("computed_ns") - pl.col("started_ns")).collect()
        computed = np.sort(took_ns.to_series().to_numpy())
        named: dict[str, Value] = {
            "executions_hz": Measured(counts.executions / window_s, counts.executions),
            "computation_p50_ns": quantile(computed, 0.5),
            "busy_share": Measured(float(computed.sum()) / 1e9 / window_s, len(computed)),
        }
        if counts.first_execution_after_ns is not None:
            named["start_up_ns"] = Measured(float(counts.first_execution_after_ns), 1)
        triggered = counts.executions + counts.skipped
        named |= _shares({"skipped_share": counts.skipped}, triggered)
        passed_over = sum(node_input.passed_over for node_input in counts.inputs)
        overflowed = sum(node_input.overflowed for node_input in counts.inputs)
        came = sum(node_input.taken for node_input in counts.inputs) + passed_over + overflowed
        named |= _shares({"passed_over_share": passed_over, "overflowed_share": overflowed}, came)
        values |= {Key(node_subject(counts.node), name): value for name, value in named.items()}
    return values


def _shares(counts: Mapping[str, int], total: int) -> dict[str, Value]:
    return {name: Measured(count / total, total) for name, count in counts.items()} if total else {}
