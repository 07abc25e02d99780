"""What to take for an application, in sentences and tables; the page and the terminal show the same.

Nothing is called best without a significant difference, and baselines, the machine's limit, are recommended only where
nothing else fits. It judges nothing: `analysis.decisions.requirements` did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from middlemark.analysis.decisions.requirements import Candidate, Check, Fitness, Requirement, judge_fitness
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.conclusions.recommendation_tables import (
    candidate_label,
    fitting_table,
    group_table,
    margin,
    requirement_table,
    severity,
    share_words,
    time_unit,
)
from middlemark.report.elements.formatting import (
    ABSENT,
    PERCENT,
    PERCENT_OF_CORE,
    digits,
    listed,
)
from middlemark.report.elements.labels import DIFFER, Series, differing_deliveries, series_by_experiment
from middlemark.report.elements.tables import (
    Table,
    estimate_cell,
)
from middlemark.suite import DURATION, Demand, Demanded, ServiceDemand, Within, parse_given_demand
from middlemark.suite.yaml.quantity import first_few, plural

MOST_REASONS = 3
"""Of why a candidate is out: nobody reads more of a hundred streams."""


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
    groups: Table | None
    """Of many streams, those of each process."""
    requirements: Table
    has_fitting: bool


def recommendation_data(advice: Recommendation) -> dict[str, object]:
    """The recommendation for a program to read."""
    tables = {"fitting": advice.fitting, "groups": advice.groups, "requirements": advice.requirements}
    return {**vars(advice), **{name: None if table is None else table.data for name, table in tables.items()}}


def recommendation(findings: RunFindings) -> Recommendation | None:
    """The recommendation of a run that was given a demand; None for a suite's."""
    demand = parse_given_demand(findings.manifest.suite_text, file=str(findings.folder.manifest_path))
    if demand is None:
        return None
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    return recommended(judge_fitness(demand, findings.experiments), series_of)


def recommended(fitness: Fitness, series_of: Mapping[str, Series]) -> Recommendation:
    """Put the judgement of all candidates into words."""
    first = _best(fitness, series_of)
    sentences = [
        _use_sentence(first, series_of),
        _baseline(first, fitness, series_of),
        _cheapest(fitness, series_of),
        *_never_late(first),
        _decided_by_more(fitness),
        differing_deliveries((candidate.findings for candidate in fitness.fitting), series_of),
    ]
    return Recommendation(
        application=fitness.demand.application,
        demand=demand_words(fitness.demand),
        headline=_headline(first, fitness, series_of),
        sentences=tuple(sentence for sentence in sentences if sentence),
        fitting=fitting_table(fitness, series_of) if fitness.fitting else None,
        others=tuple(
            (candidate_label(candidate, series_of), why(candidate))
            for candidate in (*fitness.undecided, *fitness.excluded)
        ),
        groups=group_table(fitness, series_of),
        requirements=requirement_table(fitness, series_of),
        has_fitting=bool(fitness.fitting),
    )


def demand_words(demand: Demand) -> str:
    """`5 streams and 1 service between 4 processes on 2 hosts`."""
    hosts = {process.host for process in demand.processes} - {None}
    where = f"on {plural(len(hosts), 'host')}" if hosts else "on this machine"
    counts = (("stream", demand.streams), ("service", demand.services))
    load = listed([plural(len(demanded), word) for word, demanded in counts if demanded])
    return f"{load} between {len(demand.processes)} processes {where}"


def _best(fitness: Fitness, series_of: Mapping[str, Series]) -> tuple[Candidate, ...]:
    """Those that nothing else is significantly better than; baselines only where nothing but them fits."""
    field = [candidate for candidate in fitness.fitting if not series_of[candidate.id].baseline] or list(
        fitness.fitting
    )
    return tuple(
        candidate for candidate in field if not any(other.id in fitness.places[candidate.id].behind for other in field)
    )


def _headline(first: Sequence[Candidate], fitness: Fitness, series_of: Mapping[str, Series]) -> str:
    names = [series_of[candidate.id].label for candidate in first]
    if not first:
        if fitness.undecided:
            return _none_shown(fitness, series_of)
        return f"No candidate meets all requirements of {fitness.demand.application}"
    if series_of[first[0].id].baseline:
        are = f"baseline {names[0]} is" if len(names) == 1 else f"baselines {listed(names)} are"
        return f"Only the {are} shown to meet all requirements of {fitness.demand.application}"
    if first[0].use is None:
        meet = "meets" if len(names) == 1 else "meet"
        return f"{listed(names)} {meet} all requirements; without a required deadline they can't be ranked"
    return _most_to_spare(
        names, [candidate.findings for candidate in fitness.fitting if not series_of[candidate.id].baseline], series_of
    )


def _none_shown(fitness: Fitness, series_of: Mapping[str, Series]) -> str:
    """Who is still to be considered: those that miss nothing; baselines only where there are no others."""
    series = [series_of[candidate.id] for candidate in fitness.undecided]
    names = [line.label for line in series if not line.baseline] or [line.label for line in series]
    miss = "misses" if len(names) == 1 else "miss"
    return (
        f"No candidate is shown to meet all requirements of {fitness.demand.application}; "
        f"{listed(names)} {miss} none that could be judged"
    )


def _decided_by_more(fitness: Fitness) -> str:
    """What decides more, where nothing is shown to fit because too few messages were sent."""
    if fitness.fitting or not fitness.undecided:
        return ""
    undecided = [check for candidate in fitness.undecided for check in candidate.of(Judgement.UNDECIDED)]
    estimates = [check.estimate for check in undecided]
    few = sum(estimate is not None and estimate.value is None and estimate.n_messages > 0 for estimate in estimates)
    if not few:
        return ""
    return (
        f"{few} of {plural(len(undecided), 'undecided requirement')} have too few messages to judge: "
        "a longer `window` in the application's file, or more trials (`--trials`), decide more of them."
    )


def _most_to_spare(names: list[str], field: Sequence[ExperimentFindings], series_of: Mapping[str, Series]) -> str:
    if len(field) == 1:
        return f"{names[0]} alone meets all requirements"
    differ = DIFFER if differing_deliveries(field, series_of) else ""
    if len(names) == 1:
        return f"{names[0]} meets all requirements with the most to spare{differ}"
    return f"{listed(names)} meet all requirements with no significant difference in what they have to spare{differ}"


def _use_sentence(first: Sequence[Candidate], series_of: Mapping[str, Series]) -> str:
    if not first or first[0].use is None:
        return ""
    best = first[0]
    check = next(c for c in best.checks if c.requirement is Requirement.DEADLINE and c.stream == first[0].use.stream)
    kind = "service" if isinstance(check.stream, ServiceDemand) else "stream"
    whose = f"Its tightest {kind}" if len(first) == 1 else f"The tightest {kind} of {series_of[best.id].label}"
    return f"{whose} is {check.stream.title}: {_took(check)}, {margin(best.use)} to spare."


def _took(check: Check) -> str:
    """`99 % of its messages take at most 12.3 ms (11.9–12.8) of the 50 ms allowed`."""
    deadline_ns = check.stream.deadline or 0
    cell = estimate_cell(check.estimate, time_unit(deadline_ns))
    took = f"{ABSENT} {cell.unit.name}" if cell.is_missing else cell.words
    is_all = check.stream.within is Within.ALL
    they = _judged(check.stream)
    many = f"{share_words(check.stream)} of its {they} take at most"
    part = f"the slowest of its {they} takes" if is_all else many
    return f"{part} {took} of the {DURATION.text(deadline_ns)} allowed"


def _judged(stream: Demanded) -> str:
    """What has to meet a deadline."""
    return "responses" if isinstance(stream, ServiceDemand) else "messages"


def _baseline(first: Sequence[Candidate], fitness: Fitness, series_of: Mapping[str, Series]) -> str:
    limits = [candidate for candidate in fitness.fitting if series_of[candidate.id].baseline]
    if not limits or not first or series_of[first[0].id].baseline or limits[0].use is None:
        return ""
    return f"The machine's own limit, {series_of[limits[0].id].label}, has {margin(limits[0].use)} to spare."


def _cheapest(fitness: Fitness, series_of: Mapping[str, Series]) -> str:
    """Who takes the least CPU among those that fit, baselines apart."""
    places = [place for place in fitness.cheapest if not series_of[place.key].baseline]
    if len(places) < 2:
        return ""
    cpu = {candidate.id: candidate.cost.cpu for candidate in fitness.fitting}
    least = places[0]
    names = [place.key for place in places if place.key == least.key or least.key in place.tied_with]
    cost = estimate_cell(cpu[least.key], PERCENT_OF_CORE).words
    if len(names) == 1:
        return f"Of those that fit, {series_of[least.key].label} takes the least CPU time: {cost}."
    others = listed([series_of[name].label for name in names if name != least.key])
    differ = "does not differ" if len(names) == 2 else "do not differ"
    return f"Of those that fit, {series_of[least.key].label} takes {cost} of CPU time; {others} {differ} significantly."


def _never_late(first: Sequence[Candidate]) -> Iterable[str]:
    """What `max` can say: that none of so many messages was late (the rule of three: Hanley, JAMA 249, 1983)."""
    never = [
        (check.estimate.n_messages, check.stream)
        for check in (first[0].checks if first else ())
        if check.requirement is Requirement.DEADLINE and check.stream.within is Within.ALL and check.estimate
    ]
    shown = never if len(never) <= MOST_REASONS else [min(never, key=lambda counted: counted[0])]
    for n, stream in shown:
        rarest = "" if len(never) <= MOST_REASONS else f", the rarest of {len(never)} streams"
        yield (
            f"None of {digits(n)} {_judged(stream)} of {stream.title}{rarest} was late: if they were "
            f"independent of each other, fewer than one in {digits(n / 3)} would be, with 95 % confidence."
        )


def why(candidate: Candidate) -> str:
    """Why a candidate is out, or what is undecided of it."""
    if candidate.excluded:
        return candidate.excluded
    missed = candidate.of(Judgement.REFUTED)
    if missed:
        return _worst_first(missed, _missed, "missed")
    undecided = candidate.of(Judgement.UNDECIDED)
    kind = "" if len(undecided) > MOST_REASONS else "undecided: "
    return kind + _worst_first(undecided, _open, "undecided")


def _worst_first(checks: Sequence[Check], words: Callable[[Check], str], judged: str) -> str:
    """All in the order of the streams, or of many the worst with the number of all."""
    if len(checks) <= MOST_REASONS:
        return "; ".join(map(words, checks))
    in_order = sorted(checks, key=severity, reverse=True)
    shown = first_few(map(words, in_order), MOST_REASONS, "requirement")
    return f"{len(checks)} requirements {judged}, the worst: {shown}"


def _missed(check: Check) -> str:
    topic = check.stream.title
    if check.requirement is Requirement.RATE:
        return f"{topic}: {check.reason}"
    if check.requirement is Requirement.LOSS:
        allowed = (
            f"{PERCENT.write(check.stream.loss_allowed)} % is allowed" if check.stream.loss_allowed else "none may be"
        )
        return f"{topic} {_lost(check)}, {allowed}"
    use = (check.estimate.value or 0) / (check.stream.deadline or 1) if check.estimate else 0
    return f"{topic} misses its deadline: {_took(check)}, {digits(use)} times as long"


def _open(check: Check) -> str:
    if check.estimate is None or check.estimate.value is None or check.requirement is Requirement.RATE:
        return f"{check.stream.title}: {check.reason}"
    if check.requirement is Requirement.LOSS:
        allowed = PERCENT.write(check.stream.loss_allowed)
        words = f"{_lost(check)}, {allowed} % is allowed"
    else:
        words = _took(check)
    return f"{check.stream.title}: {words}{f' ({check.reason})' if check.reason else ''}"


def _lost(check: Check) -> str:
    share = estimate_cell(check.estimate, PERCENT).words
    if isinstance(check.stream, ServiceDemand):
        return f"leaves {share} of its requests unanswered"
    return f"loses {share} of its messages"
