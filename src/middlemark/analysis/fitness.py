"""Which middlewares meet a demand: each requirement judged with its interval, then the fitting ones ranked by margin.

A requirement holds or is missed only where its whole interval says so; else it can't be told. Among those that fit, one
is ahead of another only where their intervals don't overlap; all else are ties. Pure; `report.recommendation` has the
words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from middlemark.analysis.compare import Place, ranking
from middlemark.analysis.estimate import Estimate, Method
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.metric_names import TRIAL, Key, of_stream, quantile_metric
from middlemark.analysis.samples import Distribution
from middlemark.suite import Demand, Observation, StreamDemand, Within

UNDER_WAY = Distribution.LATENCY_FROM_INTENDED
"""From the scheduled instant, so that a publisher that is held up can't hide what its application waits for."""


class Judgement(StrEnum):
    """What a requirement, or a candidate, came to."""

    MET = "met"
    MISSED = "missed"
    CANNOT_TELL = "cannot_tell"


class Requirement(StrEnum):
    """What is required of a stream."""

    RATE = "rate"
    LOSS = "loss"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Check:
    """One requirement of one stream, as one candidate met it."""

    stream: StreamDemand
    requirement: Requirement
    judgement: Judgement
    estimate: Estimate | None = None
    """Of the loss as a fraction, of the time under way in ns."""
    reason: str = ""
    """Why it can't be told, or by what the rate was missed."""


@dataclass(frozen=True)
class Use:
    """How much of its tightest deadline a candidate uses, as a fraction; its margin is what is left to 1."""

    stream: StreamDemand
    value: float
    low: float | None
    high: float | None

    def is_surely_less_than(self, other: Use) -> bool:
        """Whether the intervals tell the two apart."""
        return self.high is not None and other.low is not None and self.high < other.low


@dataclass(frozen=True)
class Cost:
    """What carrying the application takes, all processes and services together."""

    cpu: Estimate | None
    """In % of one core."""
    memory_bytes: float | None
    """Shared pages divided among their users where resources were sampled, else resident at most."""
    sampled: bool
    wire_bits_per_s: float | None
    """What left the hosts; None where no host is joined to another."""


@dataclass(frozen=True)
class Candidate:
    """One middleware in one configuration."""

    findings: ExperimentFindings
    excluded: str
    """Why it could not even be judged: not applicable, no communication; empty where it could."""
    checks: tuple[Check, ...]
    use: Use | None
    cost: Cost

    @property
    def id(self) -> str:
        """Its experiment's."""
        return self.findings.experiment.id

    @property
    def judgement(self) -> Judgement:
        """Whether it meets all that is required."""
        found = {check.judgement for check in self.checks}
        if self.excluded or Judgement.MISSED in found:
            return Judgement.MISSED
        return Judgement.CANNOT_TELL if Judgement.CANNOT_TELL in found else Judgement.MET

    def of(self, judgement: Judgement) -> tuple[Check, ...]:
        """The requirements that came to this."""
        return tuple(check for check in self.checks if check.judgement is judgement)


@dataclass(frozen=True)
class Fitness:
    """All candidates, each in its group in the order in which it is shown."""

    demand: Demand
    fitting: tuple[Candidate, ...]
    """Those that meet it all, best first."""
    places: Mapping[str, Place[str]]
    """Of those, by id."""
    cheapest: tuple[Place[str], ...]
    """Of those, by CPU time; empty where it was not measured."""
    undecided: tuple[Candidate, ...]
    excluded: tuple[Candidate, ...]


def fitness(demand: Demand, experiments: Iterable[ExperimentFindings]) -> Fitness:
    """Judge every candidate and rank those that fit."""
    candidates = [candidate(demand, each) for each in experiments]
    fitting = [each for each in candidates if each.judgement is Judgement.MET]
    places = ranked({each.id: each.use for each in fitting})
    cpu = {each.id: each.findings.by_block.get(Key(TRIAL, "cpu_percent_of_core"), {}) for each in fitting}
    by_id = {each.id: each for each in fitting}
    return Fitness(
        demand=demand,
        fitting=tuple(by_id[place.key] for place in places),
        places={place.key: place for place in places},
        cheapest=tuple(ranking(cpu, lower_is_better=True)) if cpu and all(cpu.values()) else (),
        undecided=tuple(each for each in candidates if each.judgement is Judgement.CANNOT_TELL),
        excluded=tuple(each for each in candidates if each.judgement is Judgement.MISSED),
    )


def ranked(uses: Mapping[str, Use | None]) -> list[Place[str]]:
    """A rank is one more than the number of those that surely use less of their tightest deadline."""
    places = []
    for key, use in uses.items():
        others = {name: other for name, other in uses.items() if name != key}
        better = [n for n, other in others.items() if use and other and other.is_surely_less_than(use)]
        worse = [n for n, other in others.items() if use and other and use.is_surely_less_than(other)]
        tied = tuple(name for name in others if name not in {*better, *worse})
        places.append(Place(key, 1 + len(better), tied))

    def order(place: Place[str]) -> tuple[int, float]:
        use = uses[place.key]
        return place.rank, 0.0 if use is None else use.value

    return sorted(places, key=order)


def candidate(demand: Demand, findings: ExperimentFindings) -> Candidate:
    """One candidate, judged."""
    excluded = _why_not_judged(findings)
    checks = () if excluded else tuple(c for stream in demand.streams for c in _checks(stream, findings))
    return Candidate(findings, excluded, checks, tightest(checks), _cost(findings))


def _why_not_judged(findings: ExperimentFindings) -> str:
    if findings.not_applicable is not None:
        return f"not applicable: {findings.not_applicable}"
    kinds = Counter(outcome.kind for outcome in findings.outcomes)
    for kind in ("no_communication", "failed", "timed_out"):
        if kinds[kind]:
            detail = next(outcome.detail for outcome in findings.outcomes if outcome.kind == kind)
            return f"{kind.replace('_', ' ')} in {kinds[kind]} of {kinds.total()} trials: {detail}"
    if not findings.n_valid:
        return f"no valid trial: {next((outcome.detail for outcome in findings.outcomes), 'none was run')}"
    return ""


def _checks(stream: StreamDemand, findings: ExperimentFindings) -> Iterator[Check]:
    yield _rate(stream, findings)
    yield _loss(stream, findings)
    if stream.deadline is not None:
        yield _deadline(stream, findings, stream.deadline)


def _rate(stream: StreamDemand, findings: ExperimentFindings) -> Check:
    overloaded, valid = findings.overloaded.get(stream.name, 0), findings.n_valid
    totals = findings.totals.get((stream.name, False))
    if totals is not None and totals.refused > stream.loss_allowed * totals.intended:
        reason = f"{totals.refused} of {totals.intended} messages were not accepted for sending"
        return Check(stream, Requirement.RATE, Judgement.MISSED, reason=reason)
    reason = f"it could not be sent at its rate in {overloaded} of {valid} trials" if overloaded else ""
    judgement = Judgement.CANNOT_TELL if overloaded else Judgement.MET
    return Check(stream, Requirement.RATE, Judgement.MISSED if overloaded == valid else judgement, reason=reason)


def _loss(stream: StreamDemand, findings: ExperimentFindings) -> Check:
    estimate = findings.estimate(of_stream(stream.name), "loss_share")
    if estimate is None or estimate.value is None:
        reason = "no message was sent" if estimate is None else estimate.reason
        return Check(stream, Requirement.LOSS, Judgement.CANNOT_TELL, estimate, reason)
    return Check(stream, Requirement.LOSS, judged_loss(estimate, stream.loss_allowed), estimate, _one(estimate))


def judged_loss(estimate: Estimate, allowed: float) -> Judgement:
    """Where none is allowed a single lost message decides; else the interval does, unless none was lost at all."""
    if estimate.value is None:
        return Judgement.CANNOT_TELL
    if allowed == 0:
        return Judgement.MISSED if estimate.value > 0 else Judgement.MET
    if estimate.value == 0:
        return Judgement.MET  # how rare a loss may still be, the interval says beside it
    return _by_interval(estimate, allowed)


def _deadline(stream: StreamDemand, findings: ExperimentFindings, deadline_ns: int) -> Check:
    estimate = _worst(stream, findings) if stream.within is Within.ALL else _quantile(stream, findings)
    if estimate is None or estimate.value is None:
        reason = "it was not measured" if estimate is None else estimate.reason
        return Check(stream, Requirement.DEADLINE, Judgement.CANNOT_TELL, estimate, reason)
    judge: Callable[[Estimate, float], Judgement] = judged_worst if stream.within is Within.ALL else _by_interval
    return Check(stream, Requirement.DEADLINE, judge(estimate, deadline_ns), estimate, _one(estimate))


def judged_worst(estimate: Estimate, deadline_ns: float) -> Judgement:
    """One message that came too late decides; none says that none of so many was."""
    if estimate.value is None:
        return Judgement.CANNOT_TELL
    return Judgement.MISSED if estimate.value > deadline_ns else Judgement.MET


def _by_interval(estimate: Estimate, bound: float) -> Judgement:
    if estimate.low is None or estimate.high is None:
        return Judgement.CANNOT_TELL
    if estimate.high <= bound:
        return Judgement.MET
    return Judgement.MISSED if estimate.low > bound else Judgement.CANNOT_TELL


def _one(estimate: Estimate) -> str:
    return "one trial has no interval" if estimate.n_trials == 1 else ""


def _quantile(stream: StreamDemand, findings: ExperimentFindings) -> Estimate | None:
    return findings.estimate(of_stream(stream.name), quantile_metric(UNDER_WAY, stream.within.value))


def _worst(stream: StreamDemand, findings: ExperimentFindings) -> Estimate | None:
    """The slowest message of all trials, with the range of the trials' slowest."""
    key = Key(of_stream(stream.name), quantile_metric(UNDER_WAY, "max"))
    slowest = list(findings.by_block.get(key, {}).values())
    found = findings.estimates.get(key)
    if found is None or not slowest:
        return found
    low, high = (min(slowest), max(slowest)) if len(slowest) > 1 else (None, None)
    whole = Estimate(max(slowest), low, high, None, len(slowest), found.n_messages, Method.MEDIAN_OF_TRIALS)
    return replace(whole, bound_ns=found.bound_ns)


def tightest(checks: Sequence[Check]) -> Use | None:
    """The stream that uses most of its deadline; the interval is of the most that any uses."""
    uses = [use for check in checks if (use := _use(check)) is not None]
    if not uses:
        return None
    most = max(uses, key=lambda use: use.value)
    lows, highs = [use.low for use in uses], [use.high for use in uses]
    known_lows, known_highs = [x for x in lows if x is not None], [x for x in highs if x is not None]
    if len(known_lows) < len(uses) or len(known_highs) < len(uses):
        return Use(most.stream, most.value, None, None)
    return Use(most.stream, most.value, max(known_lows), max(known_highs))


def _use(check: Check) -> Use | None:
    estimate, deadline_ns = check.estimate, check.stream.deadline
    if check.requirement is not Requirement.DEADLINE or estimate is None or estimate.value is None or not deadline_ns:
        return None
    ends = [None if end is None else end / deadline_ns for end in (estimate.low, estimate.high)]
    return Use(check.stream, estimate.value / deadline_ns, ends[0], ends[1])


def _cost(findings: ExperimentFindings) -> Cost:
    sampled = findings.observed.get(Observation.RESOURCES)
    shares = [] if sampled is None else _proportional(sampled)
    peak = findings.estimate(TRIAL, "peak_memory_bytes")
    wired = findings.observed.get(Observation.WIRE)
    left = None if wired is None else wired.estimate(TRIAL, "wire_window_bytes")
    window_s = findings.experiment.windows.window_ns / 1e9
    return Cost(
        cpu=findings.estimate(TRIAL, "cpu_percent_of_core"),
        memory_bytes=sum(shares) if shares else None if peak is None else peak.value,
        sampled=bool(shares),
        wire_bits_per_s=None if left is None or left.value is None else 8 * left.value / window_s,
    )


def _proportional(sampled: ExperimentFindings) -> list[float]:
    return [
        estimate.value
        for key, estimate in sampled.estimates.items()
        if key.metric == "proportional_bytes" and estimate.value is not None
    ]
