"""The report's tables as plain text in rows and columns: the quantiles, the rates, the accounting, the processes.

It decides what is shown and in which words; the template only sets it. The table that answers is `ranking`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import Totals
from middlemark.analysis.stats.estimate import FEWEST_FOR_FENCES as FEWEST_FOR_OUTLIERS
from middlemark.analysis.stats.estimate import Estimate
from middlemark.analysis.stats.shapes import Box
from middlemark.report.conclusions.ranking import loss_metric
from middlemark.report.elements.formatting import (
    ABSENT,
    COUNT,
    MEBIBYTES,
    MEGABITS_PER_S,
    MEGABYTES_PER_S,
    PER_SECOND,
    PERCENT,
    PERCENT_OF_CORE,
    Shown,
    Unit,
    cell,
    listed,
    show,
    thousands,
    unit_of,
)
from middlemark.report.elements.labels import Contender
from middlemark.suite.metrics import LEVELS, TRIAL, Distribution, distribution_subject, quantile_metric

LEVEL_WORDS = {"p50": "median", "p90": "90 %", "p99": "99 %", "p999": "99.9 %", "p9999": "99.99 %"}


@dataclass(frozen=True)
class Table:
    """Any other table."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


def quantile_table(comparison: Comparison, who: Mapping[str, Contender], kind: Distribution) -> Table | None:
    """Quantiles of one distribution with their intervals; those that nothing supports are named in the caption."""
    stream, unit = comparison.setting.stream, unit_of(kind)
    rows: list[tuple[str, Box, dict[str, Shown]]] = []
    for each in comparison.experiments:
        box = each.shapes.boxes.get((stream, kind))
        if box is not None:
            estimates = {
                name: each.estimate(distribution_subject(stream, kind), quantile_metric(kind, name)) for name in LEVELS
            }
            shown = {name: show(estimate, unit) for name, estimate in estimates.items()}
            rows.append((who[each.experiment.id].label, box, shown))
    if not rows:
        return None
    given = [name for name in LEVELS if not all(shown[name].missing for _, _, shown in rows)]
    left_out = {name: {shown[name].text for _, _, shown in rows} for name in LEVELS if name not in given}
    few = [LEVEL_WORDS[name] for name, texts in left_out.items() if any(text.startswith("too few") for text in texts)]
    within = [LEVEL_WORDS[name] for name in left_out if LEVEL_WORDS[name] not in few]
    said = f" Too few samples for {listed(few)}." if few else ""
    said += f" Within the clocks' bound: {listed(within)}." if within else ""
    return Table(
        title=f"{kind.value.replace('_', ' ').capitalize()}, {unit.name}",
        headings=("", "fastest", *(LEVEL_WORDS[name] for name in given), "slowest", "n"),
        rows=tuple(
            (
                label,
                _end(box.minimum, unit),
                *(cell(shown[name]) for name in given),
                _end(box.maximum, unit),
                thousands(box.n),
            )
            for label, box, shown in rows
        ),
        caption=f"{kind.summary[0].upper()}{kind.summary[1:]}.{said}",
    )


def _end(value_ns: float | None, unit: Unit) -> str:
    return ABSENT if value_ns is None else unit.write(value_ns)


def rate_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """What went out and what came in, a second."""
    columns: tuple[tuple[str, str, Unit], ...] = (
        ("intended, messages/s", "intended_rate_hz", PER_SECOND),
        ("achieved, messages/s", "achieved_rate_hz", PER_SECOND),
        ("received, messages/s", "received_rate_hz", PER_SECOND),
        ("goodput, MB/s payload", "goodput_bytes_per_s", MEGABYTES_PER_S),
        ("goodput, Mbit/s payload", "goodput_bytes_per_s", MEGABITS_PER_S),
        ("after the window, %", "after_window_share", PERCENT),
    )
    stream = comparison.setting.subject
    rows = tuple(
        (
            who[each.experiment.id].label,
            *(cell(show(each.estimate(stream, metric), unit)) for _, metric, unit in columns),
            f"{each.delivery.overloaded.get(comparison.setting.stream, 0)} of {each.n_valid}",
        )
        for each in comparison.experiments
        if each.n_valid
    )
    caption = (
        "Summed over all publishers and subscribers. Received, and goodput: what arrived within the window; after it: "
        "the share of all that arrived. Overloaded: some publisher sent less than 95 % within the window."
    )
    caption += _gone(comparison)
    return Table("Rates", ("", *(heading for heading, _, _ in columns), "trials overloaded"), rows, caption)


def accounting_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """Exact counts, summed over valid trials."""
    names = [each.name for each in fields(Totals)]
    rows = []
    for each in comparison.experiments:
        for answers in (False, True):
            totals = each.delivery.totals.get((comparison.setting.stream, answers))
            if totals is not None:
                label = who[each.experiment.id].label + (", answers" if answers else "")
                rows.append((label, *(thousands(getattr(totals, name)) for name in names)))
    caption = (
        "Sent = received + late + lost, summed over valid trials, publishers and subscribers; checked for every flow "
        "against the recorded samples. Duplicates, reordered, corrupt, foreign and negative (received before sent) "
        "stand beside it; beyond samples: received, but after the sample memory was full."
    ) + _gone(comparison)
    headings = ("", *(name.replace("_", " ") for name in names))
    return Table("Accounting, messages", headings, tuple(rows), caption)


def loss_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """What was lost, and how many in a row."""
    columns: tuple[tuple[str, str, Unit], ...] = (
        (f"{'missing' if comparison.faulty else 'lost'}, %", loss_metric(comparison), PERCENT),
        ("undelivered, %", "undelivered_share", PERCENT),
        ("longest run, messages", "longest_loss_run_messages", COUNT),
        ("mean run, messages", "mean_loss_run_messages", COUNT),
    )
    stream = comparison.setting.subject
    rows = tuple(
        (
            who[each.experiment.id].label,
            *(cell(show(each.estimate(stream, metric), unit)) for _, metric, unit in columns),
        )
        for each in comparison.experiments
        if each.n_valid
    )
    caption = (
        "Of all messages of all valid trials. Undelivered: lost, or not even taken by the middleware, of all that were "
        "to be sent. A run is of one flow, one message lost after the other (RFC 3357), "
        "medians of trials. There is no run where a flow has more messages than samples."
    )
    return Table("Loss and loss runs", ("", *(heading for heading, _, _ in columns)), rows, caption + _gone(comparison))


def outlier_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """Trials that lie far from the others, counted; they are in every figure all the same."""
    stream = comparison.setting.subject
    kind = comparison.criterion.distribution
    columns = (
        *((("99 %", stream, quantile_metric(kind, "p99")),) if kind else ()),
        ("first message", TRIAL, "first_message_ns"),
        ("CPU", TRIAL, "cpu_percent_of_core"),
        ("peak memory", TRIAL, "peak_memory_bytes"),
    )
    main = ("median" if kind else "goodput", stream, comparison.criterion.metric)
    rows = tuple(
        (
            who[each.experiment.id].label,
            *(_outliers(each.estimate(subject, metric)) for _, subject, metric in (main, *columns)),
        )
        for each in comparison.experiments
        if each.n_valid
    )
    return Table(
        "Outlying trials",
        ("", *(heading for heading, _, _ in (main, *columns))),
        rows,
        "Mild: beyond Tukey's inner fences, 1.5 interquartile ranges; severe: beyond the outer, 3. Counted, and kept "
        f"in every figure. With fewer than {FEWEST_FOR_OUTLIERS} trials none can be told.",
    )


def _outliers(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None or estimate.n_trials < FEWEST_FOR_OUTLIERS:
        return ABSENT
    found = estimate.outliers
    told = [f"{count} {kind}" for count, kind in ((found.mild, "mild"), (found.severe, "severe")) if count]
    return f"{', '.join(told) or 'none'} of {estimate.n_trials}"


def _gone(comparison: Comparison) -> str:
    if not comparison.faulty:
        return ""
    return " Flows whose publisher or subscriber ended, or came, within the window are not counted here."


def process_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """What each application and service spent."""
    columns = (
        ("CPU, % of one core", "cpu_percent_of_core", PERCENT_OF_CORE),
        ("peak memory, MiB", "peak_memory_bytes", MEBIBYTES),
        ("voluntary switches/s", "voluntary_switches_hz", PER_SECOND),
        ("preemptions/s", "involuntary_switches_hz", PER_SECOND),
        ("major faults", "major_faults", PER_SECOND),
    )
    rows = []
    for each in comparison.experiments:
        processes = sorted({key.subject for key in each.estimates if key.subject.startswith("process:")})
        for subject in processes:
            cells = (cell(show(each.estimate(subject, metric), unit)) for _, metric, unit in columns)
            rows.append((who[each.experiment.id].label, subject.removeprefix("process:"), *cells))
    headings = ("", "process", *(heading for heading, _, _ in columns))
    return Table("Processes", headings, tuple(rows), "Applications and services over the window; medians of trials.")


def outcome_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """How many trials ended how, and why."""
    rows = []
    for each in comparison.experiments:
        groups: dict[tuple[str, str], int] = {}
        for outcome in each.outcomes:
            groups[outcome.kind, outcome.detail] = groups.get((outcome.kind, outcome.detail), 0) + 1
        rows += [
            (who[each.experiment.id].label, kind.replace("_", " "), str(count), detail or ABSENT)
            for (kind, detail), count in sorted(groups.items())
        ]
    return Table("Outcomes", ("", "outcome", "trials", "why"), tuple(rows), "Only valid trials enter figures.")
