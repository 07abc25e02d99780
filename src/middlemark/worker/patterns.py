"""Patterns and nodes in the words of the contract: what a plan says, with the seeds that belong to a trial.

It only renders; `plan.patterns` has what is planned, `campaign.trial.spec` the rest of a spec.
"""

from middlemark.plan import (
    Burst,
    ClosedRequests,
    Computed,
    Node,
    OpenRequests,
    PingPong,
    Requests,
    StreamPattern,
    Unthrottled,
)
from middlemark.plan import Periodic as PeriodicPlan
from middlemark.suite import Arrival
from middlemark.worker import contract


def pattern_spec(pattern: StreamPattern, seed: int) -> contract.PatternSpec:
    """What a worker is told of a pattern, with the seed of the trial's block where anything is drawn."""
    match pattern:
        case PeriodicPlan():
            arrival = _arrival_spec(pattern.arrival, seed)
            return contract.PeriodicPattern(rate_hz=pattern.rate_hz, arrival=arrival)
        case Burst():
            return contract.BurstPattern(rate_hz=pattern.rate_hz, messages=pattern.messages)
        case Computed():
            return contract.ComputedPattern(rate_hz=pattern.rate_hz)
        case PingPong():
            return contract.PingPongPattern(**pattern.model_dump(exclude={"kind"}))
        case OpenRequests() | ClosedRequests():
            return _requests_spec(pattern, seed)
        case Unthrottled():
            return contract.UnthrottledPattern(**pattern.model_dump(exclude={"kind"}))


def _requests_spec(pattern: Requests, seed: int) -> contract.RequestResponsePattern:
    pace = (
        {"kind": "open", "rate_hz": pattern.rate_hz, "arrival": _arrival_spec(pattern.arrival, seed).model_dump()}
        if isinstance(pattern, OpenRequests)
        else {"kind": "closed", "approach_hz": pattern.approach_hz}
    )
    of_server = {"server_time": pattern.server_time.model_dump(), "seed": seed}
    bounds = pattern.model_dump(include={"response_bytes", "outstanding", "timeout_ns"})
    return contract.RequestResponsePattern.model_validate({"pace": pace, **bounds, **of_server})


def _arrival_spec(arrival: Arrival, seed: int) -> contract.Arrival:
    return contract.PoissonArrival(seed=seed) if arrival is Arrival.POISSON else contract.FixedArrival()


def node_spec(node: Node, number: int, seed: int) -> contract.NodeSpec:
    """What a worker is told of a pipeline's node, with the seed of the trial's block."""
    inputs = [{"stream": i.stream, "index": i.subscriber, "take": i.take.model_dump()} for i in node.inputs]
    return contract.NodeSpec.model_validate(
        {
            "name": node.name,
            "number": number,
            "trigger": node.trigger.model_dump(mode="json"),
            "compute": node.compute.model_dump(),
            "seed": seed + number,
            "inputs": inputs,
            "outputs": [{"stream": stream, "index": 0} for stream in node.outputs],
        }
    )
