"""What to take for an application, in sentences and tables made from the figures alone.

Nothing is called best that the figures don't tell apart; baselines are the machine's limit and are not recommended
where anything else fits. `analysis.fitness` judged; the terminal and the HTML report show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from middlemark.analysis.decisions.requirements import Candidate, Check, Fitness, Requirement, Use, fitness
from middlemark.analysis.run import RunFindings
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.analysis.verdicts.ranking import Rank
from middlemark.report.elements.formatting import (
    ABSENT,
    MEBIBYTES,
    MEGABITS_ON_WIRE_PER_S,
    MICROSECONDS,
    MILLISECONDS,
    PERCENT,
    PERCENT_OF_CORE,
    Unit,
    digits,
    interval,
    listed,
    plural,
    show,
)
from middlemark.report.elements.labels import Contender, contenders
from middlemark.report.elements.tables import LEVEL_WORDS, Table
from middlemark.suite import DURATION, Demand, StreamDemand, Within, parse_given_demand

READING = (
    "Margin: how much of the tightest deadline is left, with its interval. Ranks reach from the best to the worst that "
    "the trials leave open, and hold together with 95 %. †: a baseline, the machine's own limit."
)


@dataclass(frozen=True)
class Recommendation:
    """What a demand's run came to."""

    application: str
    asked: str
    headline: str
    sentences: tuple[str, ...]
    fitting: Table | None
    others: tuple[tuple[str, str], ...]
    """Contender, and why it is undecided or out."""
    requirements: Table
    has_fitting: bool


def recommendation(findings: RunFindings) -> Recommendation | None:
    """The recommendation of a run that was given a demand; None for a suite's."""
    given = parse_given_demand(findings.manifest.suite_text, file=str(findings.folder.manifest_path))
    if given is None:
        return None
    who = contenders(findings.manifest, (each.experiment for each in findings.experiments))
    return recommended(fitness(given, findings.experiments), who)


def recommended(found: Fitness, who: Mapping[str, Contender]) -> Recommendation:
    """Put the judgement of all candidates into words."""
    first = _first(found, who)
    said = [_figure(first, who), _baseline(first, found, who), _cheapest(found, who), *_never_late(first)]
    return Recommendation(
        application=found.demand.application,
        asked=asked_words(found.demand),
        headline=_headline(first, found, who),
        sentences=tuple(sentence for sentence in said if sentence),
        fitting=_fitting_table(found, who) if found.fitting else None,
        others=tuple((_label(each, who), why(each)) for each in (*found.undecided, *found.excluded)),
        requirements=_requirement_table(found, who),
        has_fitting=bool(found.fitting),
    )


def asked_words(demand: Demand) -> str:
    """`5 streams between 4 processes on 2 hosts`."""
    hosts = {process.host for process in demand.processes} - {None}
    where = f"on {plural(len(hosts), 'host')}" if hosts else "on this machine"
    return f"{plural(len(demand.streams), 'stream')} between {len(demand.processes)} processes {where}"


def _first(found: Fitness, who: Mapping[str, Contender]) -> tuple[Candidate, ...]:
    """Those that nothing else is surely better than; baselines only where nothing but them fits."""
    field = [each for each in found.fitting if not who[each.id].baseline] or list(found.fitting)
    return tuple(each for each in field if not any(other.id in found.places[each.id].behind for other in field))


def _label(candidate: Candidate, who: Mapping[str, Contender]) -> str:
    each = who[candidate.id]
    return f"{each.label}{' †' if each.baseline else ''}"


def _headline(first: Sequence[Candidate], found: Fitness, who: Mapping[str, Contender]) -> str:
    names = [who[each.id].label for each in first]
    if not first:
        if found.undecided:
            return f"Whether anything meets all requirements of {found.demand.application} is undecided"
        return f"Nothing here meets all requirements of {found.demand.application}"
    if who[first[0].id].baseline:
        which = f"baseline {names[0]} surely meets" if len(names) == 1 else f"baselines {listed(names)} surely meet"
        return f"Only the {which} all requirements of {found.demand.application}"
    if first[0].use is None:
        meet = "meets" if len(names) == 1 else "meet"
        return f"{listed(names)} {meet} all requirements; no deadline is asked for that could rank them"
    if len(names) == 1:
        alone = len([each for each in found.fitting if not who[each.id].baseline]) == 1
        return (
            f"{names[0]} {'alone meets all requirements' if alone else 'meets all requirements with the most to spare'}"
        )
    return f"{listed(names)} meet all requirements with no significant difference in what they have to spare"


def _figure(first: Sequence[Candidate], who: Mapping[str, Contender]) -> str:
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
    text = f"{100 * (1 - use.value):.0f} %"
    if use.low is None or use.high is None:
        return text
    low, high = f"{100 * (1 - use.high):.0f}", f"{100 * (1 - use.low):.0f}"
    return text if low == high else f"{text} ({low}{ABSENT}{high})"


def _took(check: Check) -> str:
    """`99 % of its messages take at most 12.3 ms (11.9–12.8) of the 50 ms allowed`."""
    estimate, deadline_ns = check.estimate, check.stream.deadline or 0
    unit = _unit(deadline_ns)
    span = f" ({interval(estimate, unit)})" if estimate and interval(estimate, unit) else ""
    shown = show(estimate, unit)
    value = ABSENT if shown.missing else " ".join(word for word in (shown.text, shown.clocks) if word)
    part = (
        "the slowest of its messages takes"
        if check.stream.within is Within.ALL
        else f"{_part(check.stream)} take at most"
    )
    return f"{part} {value} {unit.name}{span} of the {DURATION.text(deadline_ns)} allowed"


def _part(stream: StreamDemand) -> str:
    share = {"p50": "half", **LEVEL_WORDS}[stream.within.value]
    return f"{'half' if stream.within is Within.HALF else share} of its messages"


def _unit(deadline_ns: int) -> Unit:
    return MILLISECONDS if deadline_ns >= 1e6 else MICROSECONDS


def _baseline(first: Sequence[Candidate], found: Fitness, who: Mapping[str, Contender]) -> str:
    limits = [each for each in found.fitting if who[each.id].baseline]
    if not limits or not first or who[first[0].id].baseline or limits[0].use is None:
        return ""
    return f"The machine's own limit, {who[limits[0].id].label}, has {margin(limits[0].use)} to spare."


def _cheapest(found: Fitness, who: Mapping[str, Contender]) -> str:
    """Who takes the least CPU among those that fit, baselines apart."""
    places = [place for place in found.cheapest if not who[place.key].baseline]
    if len(places) < 2:
        return ""
    cpu = {each.id: each.cost.cpu for each in found.fitting}
    least = places[0]
    names = [place.key for place in places if place.key == least.key or _ties(place, least)]
    value = show(cpu[least.key], PERCENT_OF_CORE)
    figure = f"{value.text} {PERCENT_OF_CORE.name}{f' ({value.interval})' if value.interval else ''}"
    if len(names) == 1:
        return f"Of those that fit, {who[least.key].label} takes the least CPU time: {figure}."
    others = listed([who[name].label for name in names if name != least.key])
    differ = "does not differ" if len(names) == 2 else "do not differ"
    return f"Of those that fit, {who[least.key].label} takes {figure} of CPU time; {others} {differ} significantly."


def _ties(place: Rank[str], least: Rank[str]) -> bool:
    return least.key in place.tied_with


def _never_late(first: Sequence[Candidate]) -> Iterable[str]:
    """What `max` can say: that none of so many messages was late (the rule of three: Hanley, JAMA 249, 1983)."""
    for check in first[0].checks if first else ():
        if check.requirement is Requirement.DEADLINE and check.stream.within is Within.ALL and check.estimate:
            n = check.estimate.n_messages
            yield (
                f"Of {check.stream.topic} none of {digits(n)} messages was late: were they independent of each other, "
                f"fewer than one in {digits(n / 3)} would be, with 95 % confidence."
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
        return f"{topic} loses {_with_interval(check.estimate, PERCENT)} of its messages, {allowed}"
    use = (check.estimate.value or 0) / (check.stream.deadline or 1) if check.estimate else 0
    return f"{topic} misses its deadline: {_took(check)}, {digits(use)} times as long"


def _open(check: Check) -> str:
    if check.estimate is None or check.estimate.value is None or check.requirement is Requirement.RATE:
        return f"{check.stream.topic}: {check.reason}"
    if check.requirement is Requirement.LOSS:
        said = (
            f"loses {_with_interval(check.estimate, PERCENT)}, {PERCENT.write(check.stream.loss_allowed)} % is allowed"
        )
    else:
        said = _took(check)
    return f"{check.stream.topic}: {said}{f' ({check.reason})' if check.reason else ''}"


def _with_interval(estimate: Estimate | None, unit: Unit) -> str:
    shown = show(estimate, unit)
    if shown.missing:
        return shown.text
    return f"{shown.text} {unit.name}{f' ({shown.interval})' if shown.interval else ''}"


def _fitting_table(found: Fitness, who: Mapping[str, Contender]) -> Table:
    wired = any(each.cost.wire_bits_per_s is not None for each in found.fitting)
    headings = ("middleware", "rank", "margin", "tightest stream", "CPU, % of one core", "memory, MiB")
    rows = [
        (
            _label(each, who),
            _rank(found.places[each.id]),
            margin(each.use),
            each.use.stream.topic if each.use else ABSENT,
            _plain(each.cost.cpu),
            ABSENT if each.cost.memory_bytes is None else MEBIBYTES.write(each.cost.memory_bytes),
            *([_wire(each)] if wired else []),
        )
        for each in found.fitting
    ]
    return Table(
        title="Those that meet all requirements",
        headings=(*headings, "wire, Mbit/s") if wired else headings,
        rows=tuple(rows),
        caption=f"{READING} {_memory_words(found.fitting)}",
    )


def _memory_words(fitting: Sequence[Candidate]) -> str:
    if all(each.cost.sampled for each in fitting):
        return "Memory of all processes and services, shared pages divided among their users."
    return "Memory of all processes and services, resident at most."


def _plain(estimate: Estimate | None) -> str:
    shown = show(estimate, PERCENT_OF_CORE)
    return f"{shown.text} ({shown.interval})" if shown.interval else shown.text


def _wire(each: Candidate) -> str:
    bits_per_s = each.cost.wire_bits_per_s
    return ABSENT if bits_per_s is None else MEGABITS_ON_WIRE_PER_S.write(bits_per_s)


def _rank(place: Rank[str]) -> str:
    return place.text


_MARKS = {Judgement.HOLDS: "✓", Judgement.REFUTED: "✗", Judgement.UNDECIDED: "?"}


def _requirement_table(found: Fitness, who: Mapping[str, Contender]) -> Table:
    """A row a candidate that was judged, a column a stream."""
    judged = [each for each in (*found.fitting, *found.undecided, *found.excluded) if not each.excluded]
    return Table(
        title="Each requirement",
        headings=("middleware", *(_required(stream) for stream in found.demand.streams)),
        rows=tuple((_label(each, who), *(_kept(each, stream) for stream in found.demand.streams)) for each in judged),
        caption="✓ met, ✗ missed, ? undecided. Times are from the scheduled instant to reception.",
    )


def _required(stream: StreamDemand) -> str:
    parts = [stream.topic]
    if stream.deadline is not None:
        part = (
            "all"
            if stream.within is Within.ALL
            else "half"
            if stream.within is Within.HALF
            else LEVEL_WORDS[stream.within.value]
        )
        parts.append(f"{part} within {DURATION.text(stream.deadline)}")
    parts.append(f"loss ≤ {PERCENT.write(stream.loss_allowed)} %" if stream.loss_allowed else "no loss")
    return ", ".join(parts)


def _kept(candidate: Candidate, stream: StreamDemand) -> str:
    return ", ".join(_shown(check) for check in candidate.checks if check.stream == stream)


def _shown(check: Check) -> str:
    mark = _MARKS[check.judgement]
    if check.requirement is Requirement.RATE:
        return f"rate {mark}"
    unit = PERCENT if check.requirement is Requirement.LOSS else _unit(check.stream.deadline or 0)
    name = "loss " if check.requirement is Requirement.LOSS else ""
    return f"{name}{_with_interval(check.estimate, unit)} {mark}"


def print_recommendation(said: Recommendation, console: Console) -> None:
    """The recommendation in the terminal."""
    console.print()
    console.print(Text.assemble((said.application, "bold"), (f"  {said.asked}", "dim")))
    if said.fitting is not None:
        console.print(_grid(said.fitting))
    for label, reason in said.others:
        console.print(Padding(Text.assemble((label, ""), (f": {reason}", "dim")), (0, 0, 0, 2)))
    console.print(Text.assemble((f"{said.headline}. ", "bold"), " ".join(said.sentences)))
    console.print(Text(f"\n{READING}", "dim"))


def _grid(table: Table) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for number, heading in enumerate(table.headings):
        grid.add_column(heading.replace(", ", "\n"), justify="left" if number in {0, 3} else "right")
    for row in table.rows:
        grid.add_row(*map(Text, row))
    return grid
