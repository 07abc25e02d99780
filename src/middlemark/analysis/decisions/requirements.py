"""Which middlewares meet a demand: each requirement judged with its interval, then the fitting ones ranked by margin.

A requirement is met or missed only where its whole interval says so, at the confidence that it claims; else it is
undecided. Those that fit are ranked by what they use of their tightest deadline, block by block; `verdicts` judges and
ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.analysis.stats.intervals import CONFIDENCE
from middlemark.analysis.verdicts.bounds import BoundResult, Evidence, judge_against_bound
from middlemark.analysis.verdicts.judge import Judged, Judgement
from middlemark.analysis.verdicts.ranking import Candidate as Ranked
from middlemark.analysis.verdicts.ranking import Rank, ranking
from middlemark.analysis.verdicts.values import Block, BlockValues, PooledValue
from middlemark.suite import Demand, Observation, StreamDemand, Within
from middlemark.suite.metrics import TRIAL, Distribution, Key, Metric, metric_named, quantile_metric, stream_subject

DEADLINE_DISTRIBUTION = Distribution.LATENCY_FROM_INTENDED
"""From the scheduled instant, so that a publisher that is held up can't hide what its application waits for."""


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
    """Of the loss as a fraction, of the time under way in ns; its interval is the one that was judged."""
    reason: str = ""
    """Why it is undecided, or by what the rate was missed."""
    by_block: Mapping[Block, float] = field(default_factory=dict)
    """Of the deadline: the time under way of each trial, where each has its own."""


@dataclass(frozen=True)
class Use:
    """How much of its tightest deadline a candidate uses, as a fraction; its margin is what is left to 1."""

    stream: StreamDemand
    value: float
    low: float | None
    high: float | None


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
        if self.excluded or Judgement.REFUTED in found:
            return Judgement.REFUTED
        return Judgement.UNDECIDED if Judgement.UNDECIDED in found else Judgement.HOLDS

    def of(self, judgement: Judgement) -> tuple[Check, ...]:
        """The requirements that came to this."""
        return tuple(check for check in self.checks if check.judgement is judgement)


@dataclass(frozen=True)
class Fitness:
    """All candidates, each in its group in the order in which it is shown."""

    demand: Demand
    fitting: tuple[Candidate, ...]
    """Those that meet it all, best first."""
    places: Mapping[str, Rank[str]]
    """Of those, by id."""
    cheapest: tuple[Rank[str], ...]
    """Of those, by CPU time; empty where it was not measured."""
    undecided: tuple[Candidate, ...]
    excluded: tuple[Candidate, ...]


def fitness(demand: Demand, experiments: Iterable[ExperimentFindings]) -> Fitness:
    """Judge every candidate and rank those that fit."""
    candidates = [judge_candidate(demand, each) for each in experiments]
    fitting = [each for each in candidates if each.judgement is Judgement.HOLDS]
    places = ranking({each.id: _by_use(each) for each in fitting}, lower_is_better=True)
    cpu = {each.id: _by_cpu(each) for each in fitting}
    by_id = {each.id: each for each in fitting}
    return Fitness(
        demand=demand,
        fitting=tuple(by_id[place.key] for place in places),
        places={place.key: place for place in places},
        cheapest=tuple(ranking(cpu, lower_is_better=True)) if cpu and all(each.known for each in cpu.values()) else (),
        undecided=tuple(each for each in candidates if each.judgement is Judgement.UNDECIDED),
        excluded=tuple(each for each in candidates if each.judgement is Judgement.REFUTED),
    )


def _by_use(each: Candidate) -> Ranked:
    use = each.use
    whole = None
    if use is not None and use.low is not None and use.high is not None:
        whole = PooledValue(use.value, use.low, use.high, each.findings.n_valid)
    return Ranked(use_by_block(each.checks), use.value if use else 0.0, whole=whole)


def use_by_block(checks: Sequence[Check]) -> BlockValues:
    """The most that any stream uses of its deadline, by trial; none where a stream has no value of its own."""
    having = [check for check in checks if check.requirement is Requirement.DEADLINE]
    common = set.intersection(*(set(check.by_block) for check in having)) if having else set()
    return BlockValues(
        {block: max(check.by_block[block] / (check.stream.deadline or 1) for check in having) for block in common}
    )


def _by_cpu(each: Candidate) -> Ranked:
    estimate = each.cost.cpu
    known = each.findings.known(Key(TRIAL, "cpu_percent_of_core"))
    return Ranked(known, estimate.value if estimate is not None and estimate.value is not None else 0.0)


def judge_candidate(demand: Demand, findings: ExperimentFindings) -> Candidate:
    """One candidate, judged."""
    excluded = _why_not_judged(findings)
    checks = () if excluded else tuple(c for stream in demand.streams for c in _checks(stream, findings))
    return Candidate(findings, excluded, checks, tightest_use(checks), _cost(findings))


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
    overloaded, valid = findings.delivery.overloaded.get(stream.name, 0), findings.n_valid
    reason = f"it could not be sent at its rate in {overloaded} of {valid} trials" if overloaded else ""
    judgement = Judgement.UNDECIDED if overloaded else Judgement.HOLDS
    return Check(stream, Requirement.RATE, Judgement.REFUTED if 2 * overloaded > valid else judgement, reason=reason)


def _loss(stream: StreamDemand, findings: ExperimentFindings) -> Check:
    """What was refused or not offered did not arrive either."""
    whole = findings.evidence(metric_named("undelivered"), stream.name)
    found = whole if whole.counts else findings.evidence(metric_named("loss"), stream.name)
    estimate = found.estimate
    if estimate is None or estimate.value is None:
        reason = "no message was sent" if estimate is None else estimate.reason
        return Check(stream, Requirement.LOSS, Judgement.UNDECIDED, estimate, reason)
    judged = judge_loss(found, stream.loss_allowed)
    return Check(stream, Requirement.LOSS, judged.judged.judgement, _as_judged(estimate, judged), judged.judged.reason)


def judge_loss(found: Evidence, allowed: float) -> BoundResult:
    """Where none is allowed a single message decides, either way; else the interval does."""
    judged = judge_against_bound(found, allowed, above=False)
    n_lost = sum(lost for lost, _ in found.counts.values())
    if allowed:
        return judged
    if n_lost:
        return replace(judged, judged=Judged(Judgement.REFUTED))
    if judged.value is None or found.setbacks.n:
        return judged
    return replace(judged, judged=Judged(Judgement.HOLDS))  # how rare a loss may still be, the interval says beside it


def _deadline(stream: StreamDemand, findings: ExperimentFindings, deadline_ns: int) -> Check:
    """What was lost is judged by the loss that is allowed: of a largest time it counts there alone."""
    found = replace(findings.evidence(_under_way(stream), stream.name), n_lost=0)
    estimate = _worst(stream, findings) if stream.within is Within.ALL else found.estimate
    judged = judge_against_bound(found, deadline_ns, above=False)
    reason = judged.judged.reason
    if estimate is None or estimate.value is None:
        reason = reason or ("it was not measured" if estimate is None else estimate.reason)
        return Check(stream, Requirement.DEADLINE, judged.judged.judgement, estimate, reason)
    by_block = found.known.finite.low if len(found.known.finite) >= estimate.n_trials else {}
    shown = _as_judged(estimate, judged)
    return Check(stream, Requirement.DEADLINE, judged.judged.judgement, shown, reason, by_block)


def _under_way(stream: StreamDemand) -> Metric:
    """From the scheduled instant to reception, at the part of the messages that has to keep its deadline."""
    level = "median" if stream.within is Within.HALF else stream.within.value
    return metric_named(f"{level}(latency_from_intended)")


def _as_judged(estimate: Estimate, judged: BoundResult) -> Estimate:
    """The value that is shown everywhere, with the interval by which it was judged."""
    if judged.low is None or judged.high is None:
        return replace(estimate, low=None, high=None, coverage=None)
    return replace(estimate, low=judged.low, high=judged.high, coverage=CONFIDENCE)


def _worst(stream: StreamDemand, findings: ExperimentFindings) -> Estimate | None:
    """The slowest message of all trials, with the range of the trials' slowest."""
    key = Key(stream_subject(stream.name), quantile_metric(DEADLINE_DISTRIBUTION, "max"))
    slowest = list(findings.by_block.get(key, {}).values())
    found = findings.estimates.get(key)
    if found is None or not slowest:
        return found
    low, high = (min(slowest), max(slowest)) if len(slowest) > 1 else (None, None)
    whole = Estimate(max(slowest), low, high, None, len(slowest), found.n_messages, Method.MEDIAN_OF_TRIALS)
    return replace(whole, bound_ns=found.bound_ns)


def tightest_use(checks: Sequence[Check]) -> Use | None:
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
