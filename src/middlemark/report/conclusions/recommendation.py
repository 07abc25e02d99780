"""What to take for an application, in sentences and tables; the page and the terminal show the same.

Nothing is called best without a significant difference, and baselines, the machine's limit, are recommended only where
nothing else fits. It judges nothing: `analysis.decisions.requirements` did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.decisions.requirements import Candidate, Check, Fitness, Requirement, Use, fitness
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.elements.formatting import (
    ABSENT,
    LEVEL_WORDS,
    MEBIBYTES,
    MEGABITS_ON_WIRE_PER_S,
    MICROSECONDS,
    MILLISECONDS,
    PERCENT,
    PERCENT_OF_CORE,
    Unit,
    digits,
    listed,
)
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    NOTHING,
    Cell,
    Column,
    Table,
    estimate_cell,
    named,
    table,
    values,
)
from middlemark.suite import DURATION, Demand, StreamDemand, Within, parse_given_demand
from middlemark.suite.yaml.quantity import plural

READING = (
    "Margin: the unused part of the deadline that is used most, with its confidence interval. A rank is an interval, "
    "from the best to the worst that the trials allow; all hold together with 95 %. †: a baseline, the machine's limit."
)


WHOLE_PERCENT = Unit("%", PERCENT.size, "{:.0f}".format)


@dataclass(frozen=True)
class Recommendation:
    """What a demand's run came to."""

    application: str
    demand: str
    headline: str
    sentences: tuple[str, ...]
    fitting: Table | None
    others: tuple[tuple[str, str], ...]
    """Label, and why it is undecided or out."""
    requirements: Table
    has_fitting: bool


def recommendation_data(said: Recommendation) -> dict[str, object]:
    """The recommendation for a program to read."""
    fitting = None if said.fitting is None else said.fitting.data
    return {**vars(said), "fitting": fitting, "requirements": said.requirements.data}


def recommendation(findings: RunFindings) -> Recommendation | None:
    """The recommendation of a run that was given a demand; None for a suite's."""
    demand = parse_given_demand(findings.manifest.suite_text, file=str(findings.folder.manifest_path))
    if demand is None:
        return None
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    return recommended(fitness(demand, findings.experiments), who)


def recommended(found: Fitness, who: Mapping[str, Series]) -> Recommendation:
    """Put the judgement of all candidates into words."""
    first = _best(found, who)
    said = [_use_sentence(first, who), _baseline(first, found, who), _cheapest(found, who), *_never_late(first)]
    return Recommendation(
        application=found.demand.application,
        demand=demand_words(found.demand),
        headline=_headline(first, found, who),
        sentences=tuple(sentence for sentence in said if sentence),
        fitting=_fitting_table(found, who) if found.fitting else None,
        others=tuple((_label(each, who), why(each)) for each in (*found.undecided, *found.excluded)),
        requirements=_requirement_table(found, who),
        has_fitting=bool(found.fitting),
    )


def demand_words(demand: Demand) -> str:
    """`5 streams between 4 processes on 2 hosts`."""
    hosts = {process.host for process in demand.processes} - {None}
    where = f"on {plural(len(hosts), 'host')}" if hosts else "on this machine"
    return f"{plural(len(demand.streams), 'stream')} between {len(demand.processes)} processes {where}"


def _best(found: Fitness, who: Mapping[str, Series]) -> tuple[Candidate, ...]:
    """Those that nothing else is significantly better than; baselines only where nothing but them fits."""
    field = [each for each in found.fitting if not who[each.id].baseline] or list(found.fitting)
    return tuple(each for each in field if not any(other.id in found.places[each.id].behind for other in field))


def _label(candidate: Candidate, who: Mapping[str, Series]) -> str:
    return f"{who[candidate.id].label}{' †' if who[candidate.id].baseline else ''}"


def _headline(first: Sequence[Candidate], found: Fitness, who: Mapping[str, Series]) -> str:
    names = [who[each.id].label for each in first]
    if not first:
        if found.undecided:
            return f"It is undecided whether any candidate meets all requirements of {found.demand.application}"
        return f"No candidate meets all requirements of {found.demand.application}"
    if who[first[0].id].baseline:
        are = f"baseline {names[0]} is" if len(names) == 1 else f"baselines {listed(names)} are"
        return f"Only the {are} shown to meet all requirements of {found.demand.application}"
    if first[0].use is None:
        meet = "meets" if len(names) == 1 else "meet"
        return f"{listed(names)} {meet} all requirements; without a required deadline they can't be ranked"
    if len(names) == 1:
        alone = len([each for each in found.fitting if not who[each.id].baseline]) == 1
        return (
            f"{names[0]} {'alone meets all requirements' if alone else 'meets all requirements with the most to spare'}"
        )
    return f"{listed(names)} meet all requirements with no significant difference in what they have to spare"


def _use_sentence(first: Sequence[Candidate], who: Mapping[str, Series]) -> str:
    if not first or first[0].use is None:
        return ""
    best = first[0]
    check = next(c for c in best.checks if c.requirement is Requirement.DEADLINE and c.stream == first[0].use.stream)
    whose = "Its tightest stream" if len(first) == 1 else f"The tightest stream of {who[best.id].label}"
    return f"{whose} is {check.stream.topic}: {_took(check)}, {margin(best.use)} to spare."


def margin(use: Use | None) -> str:
    """What is left of the tightest deadline: `75 % (73–77)`."""
    if use is None:
        return ABSENT
    low, high = (None if end is None else 1 - end for end in (use.high, use.low))
    return Cell(1 - use.value, WHOLE_PERCENT, low, high).words


def _took(check: Check) -> str:
    """`99 % of its messages take at most 12.3 ms (11.9–12.8) of the 50 ms allowed`."""
    deadline_ns = check.stream.deadline or 0
    cell = estimate_cell(check.estimate, _unit(deadline_ns))
    took = f"{ABSENT} {cell.unit.name}" if cell.is_missing else cell.words
    is_all = check.stream.within is Within.ALL
    part = "the slowest of its messages takes" if is_all else f"{_share(check.stream)} of its messages take at most"
    return f"{part} {took} of the {DURATION.text(deadline_ns)} allowed"


def _share(stream: StreamDemand) -> str:
    """Of how many messages the deadline is: `all`, `half`, `99 %`."""
    words = {Within.ALL: "all", Within.HALF: "half"}
    return words.get(stream.within) or LEVEL_WORDS[stream.within.value]


def _unit(deadline_ns: int) -> Unit:
    return MILLISECONDS if deadline_ns >= 1e6 else MICROSECONDS


def _baseline(first: Sequence[Candidate], found: Fitness, who: Mapping[str, Series]) -> str:
    limits = [each for each in found.fitting if who[each.id].baseline]
    if not limits or not first or who[first[0].id].baseline or limits[0].use is None:
        return ""
    return f"The machine's own limit, {who[limits[0].id].label}, has {margin(limits[0].use)} to spare."


def _cheapest(found: Fitness, who: Mapping[str, Series]) -> str:
    """Who takes the least CPU among those that fit, baselines apart."""
    places = [place for place in found.cheapest if not who[place.key].baseline]
    if len(places) < 2:
        return ""
    cpu = {each.id: each.cost.cpu for each in found.fitting}
    least = places[0]
    names = [place.key for place in places if place.key == least.key or least.key in place.tied_with]
    cost = estimate_cell(cpu[least.key], PERCENT_OF_CORE).words
    if len(names) == 1:
        return f"Of those that fit, {who[least.key].label} takes the least CPU time: {cost}."
    others = listed([who[name].label for name in names if name != least.key])
    differ = "does not differ" if len(names) == 2 else "do not differ"
    return f"Of those that fit, {who[least.key].label} takes {cost} of CPU time; {others} {differ} significantly."


def _never_late(first: Sequence[Candidate]) -> Iterable[str]:
    """What `max` can say: that none of so many messages was late (the rule of three: Hanley, JAMA 249, 1983)."""
    for check in first[0].checks if first else ():
        if check.requirement is Requirement.DEADLINE and check.stream.within is Within.ALL and check.estimate:
            n = check.estimate.n_messages
            yield (
                f"None of {digits(n)} messages of {check.stream.topic} was late: if they were independent of each "
                f"other, fewer than one in {digits(n / 3)} would be, with 95 % confidence."
            )


def why(candidate: Candidate) -> str:
    """Why a candidate is out, or what is undecided of it."""
    if candidate.excluded:
        return candidate.excluded
    missed = candidate.of(Judgement.REFUTED)
    reasons = [_missed(check) for check in missed] or [_open(check) for check in candidate.of(Judgement.UNDECIDED)]
    return ("" if missed else "undecided: ") + "; ".join(reasons)


def _missed(check: Check) -> str:
    topic = check.stream.topic
    if check.requirement is Requirement.RATE:
        return f"{topic}: {check.reason}"
    if check.requirement is Requirement.LOSS:
        allowed = (
            f"{PERCENT.write(check.stream.loss_allowed)} % is allowed" if check.stream.loss_allowed else "none may be"
        )
        return f"{topic} loses {estimate_cell(check.estimate, PERCENT).words} of its messages, {allowed}"
    use = (check.estimate.value or 0) / (check.stream.deadline or 1) if check.estimate else 0
    return f"{topic} misses its deadline: {_took(check)}, {digits(use)} times as long"


def _open(check: Check) -> str:
    if check.estimate is None or check.estimate.value is None or check.requirement is Requirement.RATE:
        return f"{check.stream.topic}: {check.reason}"
    if check.requirement is Requirement.LOSS:
        allowed = PERCENT.write(check.stream.loss_allowed)
        words = f"loses {estimate_cell(check.estimate, PERCENT).words}, {allowed} % is allowed"
    else:
        words = _took(check)
    return f"{check.stream.topic}: {words}{f' ({check.reason})' if check.reason else ''}"


def _fitting_table(found: Fitness, who: Mapping[str, Series]) -> Table:
    wired = any(each.cost.wire_bits_per_s is not None for each in found.fitting)
    columns = (
        MIDDLEWARE,
        *values("rank", "margin"),
        *named("tightest stream"),
        Column("CPU", PERCENT_OF_CORE.name),
        Column("memory", MEBIBYTES.name),
        *([Column("wire", MEGABITS_ON_WIRE_PER_S.name)] if wired else []),
    )
    rows = [
        (
            _label(each, who),
            found.places[each.id].text,
            margin(each.use),
            each.use.stream.topic if each.use else NOTHING,
            estimate_cell(each.cost.cpu, PERCENT_OF_CORE),
            Cell(each.cost.memory_bytes, MEBIBYTES),
            *([Cell(each.cost.wire_bits_per_s, MEGABITS_ON_WIRE_PER_S)] if wired else []),
        )
        for each in found.fitting
    ]
    return table("Those that meet all requirements", columns, rows, f"{READING} {_memory_words(found.fitting)}")


def _memory_words(fitting: Sequence[Candidate]) -> str:
    if all(each.cost.sampled for each in fitting):
        return "Memory of all processes and services, shared pages divided among their users."
    return "Peak resident memory of all processes and services."


_MARKS = {Judgement.HOLDS: "✓", Judgement.REFUTED: "✗", Judgement.UNDECIDED: "?"}


def _requirement_table(found: Fitness, who: Mapping[str, Series]) -> Table:
    """A row a candidate that was judged, a column a stream."""
    judged = [each for each in (*found.fitting, *found.undecided, *found.excluded) if not each.excluded]
    return table(
        "Each requirement",
        (MIDDLEWARE, *values(*(_required(stream) for stream in found.demand.streams))),
        [(_label(each, who), *(_check_words(each, stream) for stream in found.demand.streams)) for each in judged],
        "✓ met, ✗ missed, ? undecided. Times are from the scheduled instant to reception.",
    )


def _required(stream: StreamDemand) -> str:
    deadline = [] if stream.deadline is None else [f"{_share(stream)} within {DURATION.text(stream.deadline)}"]
    loss = f"loss ≤ {PERCENT.write(stream.loss_allowed)} %" if stream.loss_allowed else "no loss"
    return ", ".join([stream.topic, *deadline, loss])


def _check_words(candidate: Candidate, stream: StreamDemand) -> str:
    return ", ".join(_result_words(check) for check in candidate.checks if check.stream == stream)


def _result_words(check: Check) -> str:
    mark = _MARKS[check.judgement]
    if check.requirement is Requirement.RATE:
        return f"rate {mark}"
    unit = PERCENT if check.requirement is Requirement.LOSS else _unit(check.stream.deadline or 0)
    name = "loss " if check.requirement is Requirement.LOSS else ""
    return f"{name}{estimate_cell(check.estimate, unit).words} {mark}"
