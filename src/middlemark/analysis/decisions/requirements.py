"""Finds the middlewares that meet a demand: judges each requirement, then ranks those that meet all of them by margin.

A requirement is met or missed only where its whole 95 % confidence interval agrees; otherwise it is undecided.
Candidates are ranked by the share that they use of their tightest deadline, by block; `verdicts` judges and ranks.
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
from middlemark.analysis.verdicts.judge import Judgement, ReasonedJudgement
from middlemark.analysis.verdicts.ranking import Candidate as Ranked
from middlemark.analysis.verdicts.ranking import Rank, ranking
from middlemark.analysis.verdicts.values import Block, BlockValues, Machines, PooledValue
from middlemark.suite import Demand, Demanded, Observation, Within
from middlemark.suite.metrics import TRIAL, Key, Metric, metric_named, quantile_metric, stream_subject


class Requirement(StrEnum):
    """What is required of a stream or a service."""

    RATE = "rate"
    LOSS = "loss"
    DEADLINE = "deadline"


@dataclass(frozen=True)
class Check:
    """The judgement of one requirement of one stream, or service, for one candidate."""

    stream: Demanded
    requirement: Requirement
    judgement: Judgement
    estimate: Estimate | None = None
    """The loss as a fraction, or the latency in ns; its interval is the one that was judged."""
    reason: str = ""
    """Why it is undecided, or why the rate was missed."""
    by_block: Mapping[Block, float] = field(default_factory=dict)
    """For a deadline: the latency of each trial, where every trial has a value."""


@dataclass(frozen=True)
class Use:
    """The fraction that a candidate uses of its tightest deadline; the margin is 1 minus this."""

    stream: Demanded
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cost:
    """The resources that the application takes with a candidate, all processes and services together."""

    cpu: Estimate | None
    """In % of one core."""
    memory_bytes: float | None
    """Where resources were sampled, with shared pages divided among their users; otherwise peak resident memory."""
    sampled: bool
    wire_bits_per_s: float | None
    """The traffic that left the hosts; None where no two hosts are connected."""


@dataclass(frozen=True)
class Candidate:
    """One middleware in one configuration."""

    findings: ExperimentFindings
    excluded: str
    """Why it could not be judged (not applicable, no communication, …); empty where it could."""
    checks: tuple[Check, ...]
    use: Use | None
    cost: Cost

    @property
    def id(self) -> str:
        """The id of its experiment."""
        return self.findings.experiment.id

    @property
    def judgement(self) -> Judgement:
        """Whether it meets all that is required."""
        judgements = {check.judgement for check in self.checks}
        if self.excluded or Judgement.REFUTED in judgements:
            return Judgement.REFUTED
        return Judgement.UNDECIDED if Judgement.UNDECIDED in judgements else Judgement.HOLDS

    def of(self, judgement: Judgement) -> tuple[Check, ...]:
        """The requirements with this judgement."""
        return tuple(check for check in self.checks if check.judgement is judgement)


@dataclass(frozen=True)
class Fitness:
    """All candidates by judgement, in the order in which they are shown."""

    demand: Demand
    fitting: tuple[Candidate, ...]
    """The candidates that meet all requirements, best first."""
    places: Mapping[str, Rank[str]]
    """The rank of each of them, by id."""
    cheapest: tuple[Rank[str], ...]
    """The same candidates ranked by CPU time; empty where it was not measured."""
    undecided: tuple[Candidate, ...]
    excluded: tuple[Candidate, ...]


def judge_fitness(demand: Demand, experiments: Iterable[ExperimentFindings]) -> Fitness:
    """Judges every candidate and ranks those that meet all requirements."""
    candidates = [judge_candidate(demand, candidate) for candidate in experiments]
    fitting = [candidate for candidate in candidates if candidate.judgement is Judgement.HOLDS]
    places = ranking({candidate.id: _by_use(candidate) for candidate in fitting}, lower_is_better=True)
    cpu = {candidate.id: _by_cpu(candidate) for candidate in fitting}
    by_id = {candidate.id: candidate for candidate in fitting}
    return Fitness(
        demand=demand,
        fitting=tuple(by_id[place.key] for place in places),
        places={place.key: place for place in places},
        cheapest=tuple(ranking(cpu, lower_is_better=True))
        if cpu and all(candidate.block_values for candidate in cpu.values())
        else (),
        undecided=tuple(candidate for candidate in candidates if candidate.judgement is Judgement.UNDECIDED),
        excluded=tuple(candidate for candidate in candidates if candidate.judgement is Judgement.REFUTED),
    )


def _by_use(candidate: Candidate) -> Ranked:
    use = candidate.use
    whole = None
    if use is not None and use.low is not None and use.high is not None:
        whole = PooledValue(use.value, use.low, use.high, candidate.findings.n_valid)
    return Ranked(use_by_block(candidate.checks, candidate.findings.machines), use.value if use else 0.0, whole=whole)


def use_by_block(checks: Sequence[Check], machines: Machines) -> BlockValues:
    """The largest fraction of a deadline that any stream uses, by trial; only trials with a value of every stream."""
    having = [check for check in checks if check.requirement is Requirement.DEADLINE]
    common = set.intersection(*(set(check.by_block) for check in having)) if having else set()
    used = {block: max(check.by_block[block] / (check.stream.deadline or 1) for check in having) for block in common}
    return BlockValues(used, machines=machines)


def _by_cpu(candidate: Candidate) -> Ranked:
    estimate = candidate.cost.cpu
    values = candidate.findings.block_values(Key(TRIAL, "cpu_percent_of_core"))
    return Ranked(values, estimate.value if estimate is not None and estimate.value is not None else 0.0)


def judge_candidate(demand: Demand, findings: ExperimentFindings) -> Candidate:
    """Judges one candidate."""
    excluded = _why_not_judged(findings)
    checks = () if excluded else tuple(c for stream in demand.demanded for c in _checks(stream, findings))
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


def _checks(stream: Demanded, findings: ExperimentFindings) -> Iterator[Check]:
    yield _rate(stream, findings)
    yield _loss(stream, findings)
    if stream.deadline is not None:
        yield _deadline(stream, findings, stream.deadline)


def _rate(stream: Demanded, findings: ExperimentFindings) -> Check:
    overloaded, valid = findings.accounting.overloaded.get(stream.name, 0), findings.n_valid
    reason = f"it could not be sent at its rate in {overloaded} of {valid} trials" if overloaded else ""
    judgement = Judgement.UNDECIDED if overloaded else Judgement.HOLDS
    return Check(stream, Requirement.RATE, Judgement.REFUTED if 2 * overloaded > valid else judgement, reason=reason)


def _loss(stream: Demanded, findings: ExperimentFindings) -> Check:
    """Messages that were refused or not offered did not arrive either, so they count as lost."""
    whole = findings.evidence(metric_named("undelivered"), stream.name)
    evidence = whole if whole.counts else findings.evidence(metric_named(stream.share_lost), stream.name)
    estimate = evidence.estimate
    if estimate is None or estimate.value is None:
        reason = "no message was sent" if estimate is None else estimate.reason
        return Check(stream, Requirement.LOSS, Judgement.UNDECIDED, estimate, reason)
    tested = judge_loss(evidence, stream.loss_allowed)
    result, shown = tested.result, _with_tested_interval(estimate, tested)
    return Check(stream, Requirement.LOSS, result.judgement, shown, result.reason)


def judge_loss(evidence: Evidence, allowed: float) -> BoundResult:
    """Where no loss is allowed, one lost message decides; otherwise the interval decides."""
    tested = judge_against_bound(evidence, allowed, above=False)
    n_lost = sum(lost for lost, _ in evidence.counts.values())
    if allowed:
        return tested
    if n_lost:
        return replace(tested, result=ReasonedJudgement(Judgement.REFUTED))
    if tested.value is None or evidence.setbacks.n:
        return tested
    return replace(tested, result=ReasonedJudgement(Judgement.HOLDS))  # the interval says what is still possible


def _deadline(stream: Demanded, findings: ExperimentFindings, deadline_ns: int) -> Check:
    """Judges a deadline. Lost messages are judged by the loss that is allowed, not a second time by `max`."""
    evidence = replace(findings.evidence(_under_way(stream), stream.name), n_lost=0)
    estimate = _worst(stream, findings) if stream.within is Within.ALL else evidence.estimate
    tested = judge_against_bound(evidence, deadline_ns, above=False)
    judgement, reason = tested.result.judgement, tested.result.reason
    if estimate is None or estimate.value is None:
        reason = reason or ("it was not measured" if estimate is None else estimate.reason)
        return Check(stream, Requirement.DEADLINE, judgement, estimate, reason)
    by_block = evidence.block_values.finite.low if len(evidence.block_values.finite) >= estimate.n_trials else {}
    return Check(stream, Requirement.DEADLINE, judgement, _with_tested_interval(estimate, tested), reason, by_block)


def _under_way(stream: Demanded) -> Metric:
    """The quantile of the time from the scheduled instant that has to meet the deadline."""
    level = "median" if stream.within is Within.HALF else stream.within.value
    return metric_named(f"{level}({stream.judged_by})")


def _with_tested_interval(estimate: Estimate, tested: BoundResult) -> Estimate:
    """The value that is shown everywhere, with the interval that decided."""
    if tested.low is None or tested.high is None:
        return replace(estimate, low=None, high=None, coverage=None)
    return replace(estimate, low=tested.low, high=tested.high, coverage=CONFIDENCE)


def _worst(stream: Demanded, findings: ExperimentFindings) -> Estimate | None:
    """The slowest message of all trials, with the range of the slowest messages of each trial."""
    key = Key(stream_subject(stream.name), quantile_metric(stream.judged_by, "max"))
    slowest = list(findings.by_block.get(key, {}).values())
    estimate = findings.estimates.get(key)
    if estimate is None or not slowest:
        return estimate
    low, high = (min(slowest), max(slowest)) if len(slowest) > 1 else (None, None)
    whole = Estimate(max(slowest), low, high, None, len(slowest), estimate.n_messages, Method.MEDIAN_OF_TRIALS)
    return replace(whole, bound_ns=estimate.bound_ns)


def tightest_use(checks: Sequence[Check]) -> Use | None:
    """The stream that uses most of its deadline; the interval is that of the largest use of any stream."""
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
