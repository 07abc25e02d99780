"""What observers saw of a setting, in tables and charts, with what observing cost and what could not be seen.

Observed trials have their own findings, of which the same tables and charts are made as of any others; what observing
cost is the ratio of observed to unobserved trials, paired by block, and they enter no other ratio. The parts of a
message's path are `kernel_path`'s, memory over time is `memory`'s, and what was on the wire is `wire`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.judge import Verdict, judge_difference
from middlemark.report.elements.candidate_tables import CandidateRow, candidate_table, metrics_by_process
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import (
    ABSENT,
    COUNT,
    MEBIBYTES,
    MICROSECONDS,
    PER_SECOND,
    PERCENT_OF_CORE,
    Unit,
    times,
)
from middlemark.report.elements.labels import Series
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    Column,
    MetricColumn,
    Table,
    estimate_cell,
    metric_cells,
    metric_columns,
    named,
    table,
    values,
)
from middlemark.report.internals.kernel_path import path_charts, path_doubts, path_tables
from middlemark.report.internals.memory import growing, growth_table, memory_chart
from middlemark.report.internals.message_path import message_charts
from middlemark.report.internals.wire import capture_lines, capture_table, link_traffic_table, wire_table
from middlemark.report.traffic.bars import Bars, bar_chart
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL, Key, host_subject
from middlemark.suite.yaml.quantity import plural

SHARE_OF_TIME = Unit("% of the time")
Columns = tuple[MetricColumn, ...]
CPU: Columns = (
    MetricColumn("CPU", "sampled_cpu_percent_of_core", PERCENT_OF_CORE),
    MetricColumn("user", "cpu_user_percent_of_core", PERCENT_OF_CORE),
    MetricColumn("system", "cpu_system_percent_of_core", PERCENT_OF_CORE),
    MetricColumn("CPU", "cpu_per_message_ns", Unit("µs a message", MICROSECONDS.size)),
    MetricColumn("voluntary switches", "voluntary_switches_hz", PER_SECOND),
    MetricColumn("preemptions", "involuntary_switches_hz", PER_SECOND),
    MetricColumn("minor faults", "minor_faults_hz", PER_SECOND),
    MetricColumn("major faults", "major_faults_hz", PER_SECOND),
    MetricColumn("threads", "threads", COUNT),
    MetricColumn("descriptors", "descriptors", COUNT),
)
MEMORY: Columns = (
    MetricColumn("resident", "resident_bytes", MEBIBYTES),
    MetricColumn("proportional", "proportional_bytes", MEBIBYTES),
    MetricColumn("unique", "unique_bytes", MEBIBYTES),
    MetricColumn("heap and stacks", "anonymous_bytes", MEBIBYTES),
    MetricColumn("shared", "shared_resident_bytes", MEBIBYTES),
    MetricColumn("in /dev/shm", "dev_shm_bytes", MEBIBYTES),
    MetricColumn("peak resident", "peak_resident_bytes", MEBIBYTES),
)
CGROUP: Columns = (
    MetricColumn("memory", "cgroup_memory_bytes", MEBIBYTES),
    MetricColumn("CPU", "cgroup_cpu_percent_of_core", PERCENT_OF_CORE),
    MetricColumn("throttled", "cgroup_throttled_percent", SHARE_OF_TIME),
)
MACHINE: Columns = (
    MetricColumn("waiting for CPU", "cpu_pressure_percent", SHARE_OF_TIME),
    MetricColumn("waiting for memory", "memory_pressure_percent", SHARE_OF_TIME),
    MetricColumn("waiting for input and output", "io_pressure_percent", SHARE_OF_TIME),
    MetricColumn("the observer", "observer_cpu_percent_of_core", PERCENT_OF_CORE),
)
IN_TERMINAL = (
    (Observation.RESOURCES, "cpu_per_message_ns", MICROSECONDS, "{} µs of CPU a message"),
    (Observation.RESOURCES, "observer_cpu_percent_of_core", PERCENT_OF_CORE, "{} % of a core for the observer"),
    (Observation.WIRE, "wire_overhead_ratio", COUNT, "{} bytes on the wire for each of payload"),
    (Observation.WIRE, "wire_packets_per_message", COUNT, "{} packets a message"),
)
"""What the terminal shows of a middleware."""
PER_MESSAGE = (
    "CPU time of all applications and services per delivered message, from trials whose resources were sampled. "
    "Median of trials with confidence interval."
)
CPU_BARS = Bars(
    "percpu", "CPU for each message", TRIAL, "cpu_per_message_ns", "µs of CPU time", MICROSECONDS, PER_MESSAGE
)


@dataclass(frozen=True)
class _Cost:
    """What one observation cost one middleware, as ratios of observed to unobserved trials, paired by block."""

    label: str
    observation: Observation
    valid: str
    main: Difference | None
    """Of what the setting is ranked by."""
    cpu: Difference | None


def _costs(comparison: Comparison, series_of: Mapping[str, Series]) -> list[_Cost]:
    return [
        _Cost(
            series_of[candidate.experiment.id].label,
            observation,
            f"{observed.n_valid} of {plural(len(observed.outcomes), 'trial')}",
            comparison.ratio(observed, candidate),
            _cpu_ratio(observed, candidate),
        )
        for candidate in comparison.experiments
        for observation, observed in candidate.observed.items()
    ]


def _ranked_by(comparison: Comparison) -> str:
    kind = comparison.criterion.distribution
    return kind.value.replace("_", " ") if kind else "goodput"


def cost_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """Observed over unobserved, paired by block."""
    columns = (
        MIDDLEWARE,
        *named("observation"),
        *values("valid"),
        Column(_ranked_by(comparison), "observed to unobserved"),
        Column("CPU", "observed to unobserved"),
    )
    return table(
        "What observing cost",
        columns,
        [
            (cost.label, str(cost.observation), cost.valid, _ratio_words(cost.main), _ratio_words(cost.cpu))
            for cost in _costs(comparison, series_of)
        ],
        "Ratios of the medians of observed and unobserved trials, paired by block, with 95 % confidence intervals. "
        "Observed trials enter only the metrics of this part. A dash: fewer than three blocks have values of both.",
    )


def cost_lines(comparison: Comparison, series_of: Mapping[str, Series]) -> list[str]:
    """A line for each observation, for a narrow place."""
    return [
        f"{cost.label}: observing {str(cost.observation).replace('_', ' ')} cost {_ratio_words(cost.main)} in "
        f"{_ranked_by(comparison)}, {_ratio_words(cost.cpu)} in CPU"
        for cost in _costs(comparison, series_of)
        if cost.main or cost.cpu
    ]


def _cpu_ratio(observed: ExperimentFindings, candidate: ExperimentFindings) -> Difference | None:
    key = Key(TRIAL, "cpu_percent_of_core")
    cpu_ratio = ratio(candidate.block_values(key), observed.block_values(key), paired=True)
    return cpu_ratio if isinstance(cpu_ratio, Difference) else None


def _ratio_words(difference: Difference | None) -> str:
    if difference is None:
        return ABSENT
    verdict = judge_difference(difference, lower_is_better=True).verdict
    return f"{times(difference)}{'' if verdict in {Verdict.BETTER, Verdict.WORSE} else ', no significant difference'}"


@dataclass(frozen=True)
class Observed:
    """What the page shows of a setting's observed trials."""

    cost: Table
    charts: tuple[Chart, ...]
    messages: tuple[Chart, ...]
    """Single messages' paths."""
    tables: tuple[Table, ...]
    unavailable: tuple[str, ...]
    """What could not be seen, with the reason."""


def observed(comparison: Comparison, series_of: Mapping[str, Series]) -> Observed | None:
    """All of it; None where nothing was observed."""
    if not any(candidate.observed for candidate in comparison.experiments):
        return None
    sampled, wired = seen_by(comparison, Observation.RESOURCES), seen_by(comparison, Observation.WIRE)
    cut, captured = seen_by(comparison, Observation.KERNEL_PATH), seen_by(comparison, Observation.CAPTURE)
    charts = (*path_charts(cut, series_of), bar_chart(sampled, series_of, CPU_BARS), memory_chart(sampled, series_of))
    return Observed(
        cost=cost_table(comparison, series_of),
        charts=tuple(chart for chart in charts if chart),
        messages=tuple(message_charts(cut, series_of)),
        tables=tuple(
            table
            for table in (
                *path_tables(cut, series_of),
                *_resource_tables(sampled, series_of),
                wire_table(wired, series_of),
                link_traffic_table(wired, series_of),
                capture_table(captured, series_of),
            )
            if table.rows
        ),
        unavailable=_unavailable(comparison, series_of),
    )


def seen_by(comparison: Comparison, observation: Observation) -> Comparison:
    """The same setting with the findings of observed trials in the place of the others."""
    experiments = tuple(
        candidate.observed[observation] for candidate in comparison.experiments if observation in candidate.observed
    )
    return replace(comparison, experiments=experiments)


def _resource_tables(sampled: Comparison, series_of: Mapping[str, Series]) -> list[Table]:
    sums = "Medians of trials over the window, for each process with its child processes."
    per_message = "CPU a message: per message that the process sent or received; of a service, per delivered message."
    pages = (
        "Proportional: shared pages divided among their users; unique: pages of this process only; heap and stacks: "
        "anonymous pages; in /dev/shm: everything in the /dev/shm that the process sees."
    )
    groups = "Only of processes in groups of their own."
    candidates = sampled.experiments
    return [
        metrics_by_process("CPU and threads", CPU, candidates, series_of, f"{sums} {per_message}"),
        metrics_by_process("Memory", MEMORY, candidates, series_of, f"{sums} {pages}"),
        growth_table(sampled, series_of),
        metrics_by_process("Control groups", CGROUP, candidates, series_of, groups),
        _machine_table(sampled, series_of),
    ]


def _machine_table(comparison: Comparison, series_of: Mapping[str, Series]) -> Table:
    """A row a machine: the one that Middlemark ran on, then the hosts that are others."""
    rows: list[CandidateRow] = []
    for candidate in comparison.experiments:
        others = sorted({key.subject for key in candidate.estimates if key.subject.startswith(host_subject(""))})
        for subject in (TRIAL, *others):
            if any(candidate.estimate(subject, column.metric) for column in MACHINE):
                machine = "this one" if subject == TRIAL else subject.removeprefix(host_subject(""))
                rows.append((candidate, (machine, *metric_cells(MACHINE, candidate, subject))))
    columns = (*named("machine"), *metric_columns(MACHINE))
    caption = "Pressure: the share of the window in which some task of the machine had to wait (PSI)."
    return candidate_table("The machine", columns, rows, series_of, caption)


def observed_lines(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[str, ...]:
    """For a narrow place: what observing cost where that is known, and what each middleware's observers came to."""
    lines = cost_lines(comparison, series_of)
    for candidate in comparison.experiments:
        metrics = [_metric_words(candidate, *wanted) for wanted in IN_TERMINAL]
        packets = _packets(candidate, comparison.setting.subject)
        words = ", ".join([*filter(None, metrics), *packets, *growing(candidate.observed.get(Observation.RESOURCES))])
        lines += [f"{series_of[candidate.experiment.id].label}: {words}"] if words else []
    lines += path_doubts(seen_by(comparison, Observation.KERNEL_PATH), series_of)
    return (*lines, *capture_lines(seen_by(comparison, Observation.CAPTURE), series_of))


def _packets(candidate: ExperimentFindings, stream: str) -> list[str]:
    """How many transmit a message, and between when and when."""
    findings = candidate.observed.get(Observation.KERNEL_PATH)
    names = ("packets_per_message", "typical_first_queued_ns", "typical_last_arrived_ns")
    estimates = [findings.estimate(stream, f"path_{name}") if findings else None for name in names]
    if not all(estimates):
        return []
    units = (COUNT, MICROSECONDS, MICROSECONDS)
    packets, first, last = (estimate_cell(estimate, unit).text for estimate, unit in zip(estimates, units, strict=True))
    return [f"{packets} packets on a message's path, from {first} µs (queued) to {last} µs (arrived)"]


def _metric_words(candidate: ExperimentFindings, observation: Observation, metric: str, unit: Unit, words: str) -> str:
    findings = candidate.observed.get(observation)
    cell = estimate_cell(findings.estimate(TRIAL, metric) if findings else None, unit)
    return "" if cell.is_missing else words.format(cell.text)


def _unavailable(comparison: Comparison, series_of: Mapping[str, Series]) -> tuple[str, ...]:
    """Each reason once, with those it holds for where not for all."""
    labels_by_reason: dict[str, dict[str, None]] = {}
    for candidate in comparison.experiments:
        for findings in candidate.observed.values():
            for record in findings.records:
                for name, reason in record.unavailable.items():
                    labels_by_reason.setdefault(f"{name.replace('_', ' ')}: {reason}", {})[
                        series_of[candidate.experiment.id].label
                    ] = None
    everyone = len([measured for measured in comparison.experiments if measured.observed])
    return tuple(
        reason if len(labels) == everyone else f"{reason} ({', '.join(labels)})"
        for reason, labels in labels_by_reason.items()
    )
