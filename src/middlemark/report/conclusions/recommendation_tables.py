"""The tables of a recommendation: those that fit in their order, how each process's streams fare, and each requirement.

It puts nothing into sentences: `recommendation` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from middlemark.analysis.decisions.requirements import Candidate, Check, Fitness, Requirement, Use
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.elements.candidate_tables import LabelledRow, labelled_table
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
)
from middlemark.report.elements.labels import Series, delivery_cell
from middlemark.report.elements.tables import (
    NOTHING,
    Cell,
    Column,
    Row,
    Table,
    estimate_cell,
    named,
    table,
    values,
)
from middlemark.suite import DURATION, Demanded, ServiceDemand, Within

READING = (
    "Margin: the unused part of the deadline that is used most, with its confidence interval. A rank is an interval, "
    "from the best to the worst that the trials allow; all hold together with 95 %. †: a baseline, the machine's limit."
)
MARKS_READING = "✓ met, ✗ missed, ? undecided. Times are from the scheduled instant to reception, or to the response."
GROUPS_READING = (
    "How many of its streams ✗ miss a requirement, ? have an undecided one and miss none, ✓ meet all. The worst first; "
    "each stream has a row in the next table."
)
MOST_COLUMNS = 8
"""Of streams: with more of them each has a row."""
WHOLE_PERCENT = Unit("%", PERCENT.size, "{:.0f}".format)


def fitting_table(fitness: Fitness, series_of: Mapping[str, Series]) -> Table:
    """Those that meet all requirements, the most to spare first, with their cost."""
    wired = any(candidate.cost.wire_bits_per_s is not None for candidate in fitness.fitting)
    columns = (
        *values("rank", "margin"),
        *named("tightest stream"),
        Column("CPU", PERCENT_OF_CORE.name),
        Column("memory", MEBIBYTES.name),
        *([Column("wire", MEGABITS_ON_WIRE_PER_S.name)] if wired else []),
    )
    rows = (
        _row(
            candidate,
            series_of,
            fitness.places[candidate.id].text,
            margin(candidate.use),
            candidate.use.stream.title if candidate.use else NOTHING,
            estimate_cell(candidate.cost.cpu, PERCENT_OF_CORE),
            Cell(candidate.cost.memory_bytes, MEBIBYTES),
            *([Cell(candidate.cost.wire_bits_per_s, MEGABITS_ON_WIRE_PER_S)] if wired else []),
        )
        for candidate in fitness.fitting
    )
    caption = f"{READING} {_memory_words(fitness.fitting)}"
    return labelled_table("Those that meet all requirements", columns, rows, caption)


def _row(candidate: Candidate, series_of: Mapping[str, Series], *cells: Cell | str) -> LabelledRow:
    return candidate_label(candidate, series_of), delivery_cell(candidate.findings), cells


def _memory_words(fitting: Sequence[Candidate]) -> str:
    if all(candidate.cost.sampled for candidate in fitting):
        return "Memory of all processes and services, shared pages divided among their users."
    return "Peak resident memory of all processes and services."


_MARKS = {Judgement.HOLDS: "✓", Judgement.REFUTED: "✗", Judgement.UNDECIDED: "?"}


def group_table(fitness: Fitness, series_of: Mapping[str, Series]) -> Table | None:
    """Of many streams, how those of each process fare; None of few streams, or where one process publishes them all."""
    streams, judged = fitness.demand.demanded, _judged(fitness)
    groups: dict[str, list[Demanded]] = {}
    for stream in streams:
        groups.setdefault(", ".join(stream.publishers), []).append(stream)
    if len(streams) <= MOST_COLUMNS or len(groups) < 2:
        return None
    checks_of = [_checks_by_stream(candidate) for candidate in judged]
    rows = []
    for process, published in groups.items():
        counts_of = [
            Counter(_whole(of_candidate.get(stream.name, ())) for stream in published) for of_candidate in checks_of
        ]
        bad = tuple(sum(counts[judgement] for counts in counts_of) for judgement in _WORST_FIRST[:-1])
        row: Row = (process, Cell(len(published)), *map(_counted, counts_of))
        rows.append((bad, row))
    rows.sort(key=lambda row: row[0], reverse=True)
    return table(
        "Streams by process",
        (*named("published by"), *values("streams", *(candidate_label(candidate, series_of) for candidate in judged))),
        [row for _, row in rows],
        GROUPS_READING,
    )


_WORST_FIRST = (Judgement.REFUTED, Judgement.UNDECIDED, Judgement.HOLDS)


def _whole(checks: Sequence[Check]) -> Judgement:
    """The judgement of all that is required of a stream."""
    judgements = {check.judgement for check in checks}
    return next((judgement for judgement in _WORST_FIRST if judgement in judgements), Judgement.UNDECIDED)


def _counted(counts: Mapping[Judgement, int]) -> str:
    """`2 ✗ 1 ? 8 ✓`."""
    return " ".join(f"{counts[judgement]} {_MARKS[judgement]}" for judgement in _WORST_FIRST if counts[judgement])


def _judged(fitness: Fitness) -> list[Candidate]:
    return [
        candidate for candidate in (*fitness.fitting, *fitness.undecided, *fitness.excluded) if not candidate.excluded
    ]


def requirement_table(fitness: Fitness, series_of: Mapping[str, Series]) -> Table:
    """A row a candidate that was judged, a column a stream or a service; of many, a row for each of these."""
    judged, streams = _judged(fitness), fitness.demand.demanded
    if len(streams) > MOST_COLUMNS:
        return _table_by_stream(streams, judged, series_of)
    return labelled_table(
        "Each requirement",
        values(*(_required(stream) for stream in streams)),
        (_row(candidate, series_of, *(_check_words(candidate, stream) for stream in streams)) for candidate in judged),
        MARKS_READING,
    )


def _table_by_stream(
    streams: Sequence[Demanded], judged: Sequence[Candidate], series_of: Mapping[str, Series]
) -> Table:
    """First those that most candidates miss, then those undecided for most, then by what is used of the deadline."""
    checks_of = [_checks_by_stream(candidate) for candidate in judged]
    rows = []
    for stream in streams:
        checks = [of_candidate.get(stream.name, []) for of_candidate in checks_of]
        missed, undecided = (
            sum(any(check.judgement is judgement for check in of_candidate) for of_candidate in checks)
            for judgement in (Judgement.REFUTED, Judgement.UNDECIDED)
        )
        worst = max((severity(check) for of_candidate in checks for check in of_candidate), default=(0, 0.0))
        words = [", ".join(map(_result_words, of_candidate)) for of_candidate in checks]
        row = (stream.title, _required(stream, with_title=False), _standing(missed, undecided, len(judged)), *words)
        rows.append(((missed, undecided, worst), row))
    rows.sort(key=lambda row: row[0], reverse=True)
    return table(
        "Each requirement",
        (
            *named("stream", "required", "result"),
            *values(*(candidate_label(candidate, series_of) for candidate in judged)),
        ),
        [row for _, row in rows],
        f"The worst first. {MARKS_READING}",
    )


def _checks_by_stream(candidate: Candidate) -> dict[str, list[Check]]:
    checks: dict[str, list[Check]] = {}
    for check in candidate.checks:
        checks.setdefault(check.stream.name, []).append(check)
    return checks


def _standing(missed: int, undecided: int, of: int) -> str:
    if missed:
        return f"missed by {missed} of {of}"
    if undecided:
        return f"undecided for {undecided} of {of}"
    return "met by all" if of else ABSENT


def severity(check: Check) -> tuple[int, float]:
    """What sorts requirements: rates that are missed, then loss by its share, then deadlines by what is used."""
    value = 0.0 if check.estimate is None or check.estimate.value is None else check.estimate.value
    match check.requirement:
        case Requirement.RATE:
            return (3 if check.judgement is not Judgement.HOLDS else 0), 0.0
        case Requirement.LOSS:
            return (2 if value > check.stream.loss_allowed else 0), value
        case Requirement.DEADLINE:
            return 1, value / (check.stream.deadline or 1)


def _required(stream: Demanded, *, with_title: bool = True) -> str:
    deadline = [] if stream.deadline is None else [f"{share_words(stream)} within {DURATION.text(stream.deadline)}"]
    return ", ".join([*([stream.title] if with_title else []), *deadline, _loss_allowed(stream)])


def _loss_allowed(stream: Demanded) -> str:
    if stream.loss_allowed:
        return f"{stream.share_lost} ≤ {PERCENT.write(stream.loss_allowed)} %"
    return "all answered" if isinstance(stream, ServiceDemand) else "no loss"


def _check_words(candidate: Candidate, stream: Demanded) -> str:
    return ", ".join(_result_words(check) for check in candidate.checks if check.stream == stream)


def _result_words(check: Check) -> str:
    mark = _MARKS[check.judgement]
    if check.requirement is Requirement.RATE:
        return f"rate {mark}"
    unit = PERCENT if check.requirement is Requirement.LOSS else time_unit(check.stream.deadline or 0)
    name = f"{check.stream.share_lost} " if check.requirement is Requirement.LOSS else ""
    return f"{name}{estimate_cell(check.estimate, unit).words} {mark}"


def candidate_label(candidate: Candidate, series_of: Mapping[str, Series]) -> str:
    """Its name, marked where it is a baseline."""
    return f"{series_of[candidate.id].label}{' †' if series_of[candidate.id].baseline else ''}"


def margin(use: Use | None) -> str:
    """What is left of the tightest deadline: `75 % (73–77)`."""
    if use is None:
        return ABSENT
    low, high = (None if end is None else 1 - end for end in (use.high, use.low))
    return Cell(1 - use.value, WHOLE_PERCENT, low, high).words


def share_words(stream: Demanded) -> str:
    """Of how many messages the deadline is: `all`, `half`, `99 %`."""
    words = {Within.ALL: "all", Within.HALF: "half"}
    return words.get(stream.within) or LEVEL_WORDS[stream.within.value]


def time_unit(deadline_ns: int) -> Unit:
    """The unit that suits a deadline and what is compared with it."""
    return MILLISECONDS if deadline_ns >= 1e6 else MICROSECONDS
