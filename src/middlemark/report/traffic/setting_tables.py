"""The tables of one setting: quantiles, rates, accounting, loss, first messages, outlying trials, processes.

They say what was measured and rank nothing: the ranking is `conclusions.ranking`'s, and each other subject (faults,
links, chains, observers) has its tables in its own module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings, Totals
from middlemark.analysis.stats.estimate import FEWEST_FOR_FENCES as FEWEST_FOR_OUTLIERS
from middlemark.analysis.stats.estimate import Estimate, Method
from middlemark.report.conclusions.comparison import unit_of as unit_of_metric
from middlemark.report.conclusions.ranking import lacks_samples, loss_metric
from middlemark.report.elements.candidate_tables import (
    CandidateRow,
    LabelledRow,
    candidate_table,
    labelled_rows,
    labelled_table,
    metric_table,
    metrics_by_process,
)
from middlemark.report.elements.formatting import (
    COUNT,
    LEVEL_WORDS,
    MEBIBYTES,
    MEGABITS_PER_S,
    MEGABYTES_PER_S,
    MILLISECONDS,
    PER_SECOND,
    PERCENT,
    PERCENT_OF_CORE,
    Unit,
    listed,
    unit_of,
)
from middlemark.report.elements.labels import Series, delivery_cell
from middlemark.report.elements.tables import (
    NOTHING,
    Cell,
    Column,
    MetricColumn,
    Table,
    estimate_cell,
    metric_cells,
    metric_columns,
    values,
)
from middlemark.suite.metrics import (
    LEVELS,
    PLAIN,
    TRIAL,
    Distribution,
    distribution_subject,
    quantile_metric,
)

MESSAGES = Unit("messages")
LOSSES = {"loss_share", "unanswered_share", "missing_share"}
"""Of which `loss_table` shows the one that a setting has."""
RATES = (
    MetricColumn("intended messages", "intended_rate_hz", PER_SECOND),
    MetricColumn("achieved messages", "achieved_rate_hz", PER_SECOND),
    MetricColumn("received messages", "received_rate_hz", PER_SECOND),
    MetricColumn("goodput", "goodput_bytes_per_s", MEGABYTES_PER_S),
    MetricColumn("goodput", "goodput_bytes_per_s", MEGABITS_PER_S),
    MetricColumn("after the window", "after_window_share", PERCENT),
)
FIRST_MESSAGES = (
    MetricColumn("initialised", "initialised_ns", MILLISECONDS),
    MetricColumn("matched", "matched_ns", MILLISECONDS),
    MetricColumn("first message", "first_message_ns", MILLISECONDS),
    MetricColumn("first of full size", "first_full_message_ns", MILLISECONDS),
)
HANDSHAKE = MetricColumn("of it handshake", "handshake_ns", MILLISECONDS)
FILLING = MetricColumn("filling", "fill_share", PERCENT)
HANDSHAKES = (
    "Of it handshake: what the longest handshake took, by which publisher and subscriber prove to each other who they "
    "are; none where the library does not tell. "
)
PROCESSES = (
    MetricColumn("CPU", "cpu_percent_of_core", PERCENT_OF_CORE),
    MetricColumn("peak memory", "peak_memory_bytes", MEBIBYTES),
    MetricColumn("voluntary switches", "voluntary_switches_hz", PER_SECOND),
    MetricColumn("preemptions", "involuntary_switches_hz", PER_SECOND),
    MetricColumn("major faults", "major_faults", COUNT),
)


def quantile_table(comparison: Comparison, series_of: Mapping[str, Series], kind: Distribution) -> Table | None:
    """Quantiles of one distribution with their intervals; those that nothing supports are named in the caption."""
    stream, unit = comparison.setting.stream, unit_of(kind)
    shown = [
        candidate for candidate in comparison.experiments if candidate.shapes.boxes.get((stream, kind)) is not None
    ]
    if not shown:
        return None
    estimates = {name: [_quantile(candidate, stream, kind, name) for candidate in shown] for name in LEVELS}
    supported = [
        name for name in LEVELS if any(estimate and estimate.value is not None for estimate in estimates[name])
    ]
    rows: list[CandidateRow] = []
    for place, measured in enumerate(shown):
        box = measured.shapes.boxes[stream, kind]
        quantiles = (estimate_cell(estimates[name][place], unit) for name in supported)
        rows.append((measured, (Cell(box.minimum, unit), *quantiles, Cell(box.maximum, unit), Cell(box.n))))
    missing = {name: estimates[name] for name in LEVELS if name not in supported}
    return labelled_table(
        f"{kind.value.replace('_', ' ').capitalize()}",
        values("fastest", *(LEVEL_WORDS[name] for name in supported), "slowest", "n"),
        labelled_rows(rows, series_of),
        f"{kind.summary[0].upper()}{kind.summary[1:]}.{_missing_words(missing)}",
        detail=unit.name,
    )


def _quantile(candidate: ExperimentFindings, stream: str, kind: Distribution, name: str) -> Estimate | None:
    return candidate.estimate(distribution_subject(stream, kind), quantile_metric(kind, name))


def _missing_words(missing: Mapping[str, list[Estimate | None]]) -> str:
    """Which quantiles have no column, and why."""
    reasons: dict[str, list[str]] = {}
    for name, estimates in missing.items():
        if any(lacks_samples(estimate, LEVELS[name]) for estimate in estimates):
            reason = "Too few samples for"
        elif any(estimate and estimate.method is Method.WITHIN_CLOCKS for estimate in estimates):
            reason = "Within the clocks' bound:"
        else:
            reason = "No value, as messages are missing, for"
        reasons.setdefault(reason, []).append(LEVEL_WORDS[name])
    return "".join(f" {reason} {listed(names)}." for reason, names in reasons.items())


def rate_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """What was sent and what was received, a second."""
    subject = comparison.setting.subject
    fills = any(candidate.estimate(subject, FILLING.metric) for candidate in comparison.experiments)
    measured = (*RATES, FILLING) if fills else RATES
    rows: Iterable[CandidateRow] = (
        (
            candidate,
            (
                *metric_cells(measured, candidate, subject),
                f"{candidate.accounting.overloaded.get(comparison.setting.stream, 0)} of {candidate.n_valid}",
            ),
        )
        for candidate in comparison.experiments
        if candidate.n_valid
    )
    caption = (
        "Summed over all publishers and subscribers. Received and goodput: what arrived within the window. After the "
        "window: what arrived later, as a share of all that arrived. Overloaded: some publisher sent less than 95 % "
        "within the window."
    )
    if fills:
        caption += (
            " Filling: the share of the publishers' time that writing messages took; without it rates are higher by a "
            "factor of 1 ÷ (1 − share) at most."
        )
    columns = (*metric_columns(measured), *values("trials overloaded"))
    return candidate_table("Rates", columns, rows, series_of, caption + _of_faults(comparison))


def accounting_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """Exact counts, summed over valid trials."""
    names = [field.name for field in fields(Totals)]
    rows: list[LabelledRow] = []
    for candidate in comparison.experiments:
        for answers in (False, True):
            totals = candidate.accounting.totals.get((comparison.setting.stream, answers))
            if totals is not None:
                label = series_of[candidate.experiment.id].label + (", answers" if answers else "")
                counts = tuple(Cell(getattr(totals, name)) for name in names)
                rows.append((label, delivery_cell(candidate), counts))
    caption = (
        "Sent = received + late + lost, summed over valid trials, publishers and subscribers; checked for every flow "
        "against the recorded samples. Duplicates, reordered, corrupt, foreign and negative (received before sent) "
        "are counted separately. Beyond samples: received after the sample memory was full."
    ) + _of_faults(comparison)
    columns = values(*(name.replace("_", " ") for name in names))
    return labelled_table("Accounting", columns, rows, caption, detail="messages")


def loss_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """What was lost, and how many in a row."""
    columns = (
        MetricColumn("missing" if comparison.faulty else "lost", loss_metric(comparison), PERCENT),
        MetricColumn("undelivered", "undelivered_share", PERCENT),
        MetricColumn("longest run", "longest_loss_run_messages", MESSAGES),
        MetricColumn("mean run", "mean_loss_run_messages", MESSAGES),
    )
    subject = comparison.setting.subject
    subjects = ((candidate, subject) for candidate in comparison.experiments if candidate.n_valid)
    caption = (
        "Of all messages of all valid trials. Undelivered: lost, refused or not offered, as a share of all that were "
        "due. A run: messages of one flow lost in succession (RFC 3357); medians of trials. No run is given where a "
        "flow has more messages than samples."
    )
    return metric_table("Loss and loss runs", columns, subjects, series_of, caption + _of_faults(comparison))


def outlier_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """Trials that lie far from the others, counted; they are in every metric all the same."""
    stream = comparison.setting.subject
    kind = comparison.criterion.distribution
    columns = (
        ("median" if kind else "goodput", stream, comparison.criterion.metric),
        *((("99 %", stream, quantile_metric(kind, "p99")),) if kind else ()),
        ("first message", TRIAL, "first_message_ns"),
        ("CPU", TRIAL, "cpu_percent_of_core"),
        ("peak memory", TRIAL, "peak_memory_bytes"),
    )
    rows = (
        (candidate, tuple(_outliers(candidate.estimate(subject, metric)) for _, subject, metric in columns))
        for candidate in comparison.experiments
        if candidate.n_valid
    )
    return candidate_table(
        "Outliers",
        values(*(name for name, _, _ in columns)),
        rows,
        series_of,
        "Mild: beyond Tukey's inner fences, 1.5 interquartile ranges; severe: beyond the outer, 3. Outliers are "
        f"counted, and stay in every metric. With fewer than {FEWEST_FOR_OUTLIERS} trials none is identified.",
    )


def first_message_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table | None:
    """The parts of the time to first message."""
    shown = [candidate for candidate in comparison.experiments if candidate.estimate(TRIAL, "first_message_ns")]
    if not shown:
        return None
    shakes_hands = any(candidate.estimate(TRIAL, HANDSHAKE.metric) for candidate in shown)
    return metric_table(
        "First messages",
        (*FIRST_MESSAGES[:2], HANDSHAKE, *FIRST_MESSAGES[2:]) if shakes_hands else FIRST_MESSAGES,
        ((candidate, TRIAL) for candidate in shown),
        series_of,
        "From T0, of the last application, publisher or path each. Initialised: all endpoints exist. Matched: the "
        "publisher knows of a subscriber, or that it is connected to the broker; none where it can't know. "
        f"{HANDSHAKES if shakes_hands else ''}First message: the header alone, which every publisher sends once a "
        "millisecond until all paths have had one. First of full size: sent as soon as all first messages have "
        "arrived. Medians of trials.",
    )


def _outliers(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None or estimate.n_trials < FEWEST_FOR_OUTLIERS:
        return NOTHING
    outliers = estimate.outliers
    kinds = [f"{count} {kind}" for count, kind in ((outliers.mild, "mild"), (outliers.severe, "severe")) if count]
    return Cell(f"{', '.join(kinds) or 'none'} of {estimate.n_trials}")


def further_table(comparison: Comparison, series_of: Mapping[str, Series], shown: Iterable[Column]) -> Table | None:
    """The metrics of the catalogue that no column of the setting shows: a new one needs no table of its own."""
    stream, elsewhere = comparison.setting.stream, LOSSES | {column.metric for column in shown}
    metrics = [
        metric
        for metric in PLAIN
        if metric.stored_name not in elsewhere
        and (metric.of_trial or metric.of_chain is comparison.setting.of_chain)
        and any(metric.key(stream) in candidate.estimates for candidate in comparison.experiments)
    ]
    rows = (
        (
            candidate,
            tuple(
                estimate_cell(candidate.estimates.get(metric.key(stream)), unit_of_metric(metric)) for metric in metrics
            ),
        )
        for candidate in comparison.experiments
        if candidate.n_valid
    )
    columns = (Column(metric.name, unit_of_metric(metric).name, metric=metric.stored_name) for metric in metrics)
    return candidate_table("Further metrics", columns, rows, series_of, "Over trials.") if metrics else None


def _of_faults(comparison: Comparison) -> str:
    if not comparison.faulty:
        return ""
    return " Flows whose publisher or subscriber ended or started within the window are not counted here."


def process_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """What each application and service spent."""
    caption = "Applications and services over the window; medians of trials."
    return metrics_by_process("Processes", PROCESSES, comparison.experiments, series_of, caption)
