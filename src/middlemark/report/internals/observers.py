"""The captured frames of a setting: where each file lies, what is in it and what is not, and how Wireshark reads it.

Of the frames themselves it shows nothing: that is Wireshark's business.

What observers saw of a setting, in tables and charts, with what observing cost and what could not be seen.

Observed trials have their own findings, of which the same tables and charts are made as of any others. Figures are
`analysis`'; what is beyond one setting, `wire` shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.verdicts.difference import Difference, ratio
from middlemark.analysis.verdicts.judge import Verdict, judge_difference
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.formatting import (
    ABSENT,
    COUNT,
    MEBIBYTES,
    MICROSECONDS,
    PER_SECOND,
    PERCENT_OF_CORE,
    Unit,
    cell,
    plural,
    show,
    size,
    times,
)
from middlemark.report.elements.labels import Contender
from middlemark.report.elements.tables import Table
from middlemark.report.internals.kernel_path import path_charts, path_doubts, path_tables
from middlemark.report.internals.memory import growing, growth_table, memory_chart
from middlemark.report.internals.message_path import message_charts
from middlemark.report.internals.wire import link_traffic_table, wire_table
from middlemark.report.traffic.bars import Bars, bar_chart
from middlemark.results.record import CaptureRecord, TrialRecord
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL, Key, host_subject

CAPTURES = "Captured frames"
CAPTION = (
    "Whole trials, from before T0 to the end of the drain; each frame where its host's link meets the network, so that "
    "a file has it once for its sender and once for each receiver. Cut: longer than what is kept of each. Beyond: came "
    "when the file had its size. Lost: came faster than they could be taken. Dissectors are Wireshark's names, by "
    "which it filters too."
)


def capture_table(captured: Comparison, who: Mapping[str, Contender]) -> Table:
    """A row a trial's file."""
    rows: list[tuple[str, ...]] = []
    for each in captured.experiments:
        contender = who[each.experiment.id]
        rows += [
            (contender.label, *_cells(record, record.capture), dissector_words(contender))
            for record in each.records
            if record.capture is not None
        ]
    headings = ("", "file in the run's folder", "size", "frames", "cut", "beyond", "lost", "dissectors")
    return Table(CAPTURES, headings, tuple(rows), CAPTION)


def dissector_words(contender: Contender) -> str:
    """`mqtt (what Wireshark must be told)`."""
    words = [f"{each.name} ({each.remark})" if each.remark else each.name for each in contender.dissectors]
    return "; ".join(words) or ABSENT


def _cells(record: TrialRecord, capture: CaptureRecord) -> tuple[str, ...]:
    sums = (sum(getattr(link, what) for link in capture.links) for what in ("captured", "cut", "beyond", "lost"))
    return f"trials/{record.trial.id}/capture.pcapng", size(capture.file_bytes), *map(str, sums)


SHARE_OF_TIME = Unit("% of the time", COUNT.write)
SHOWN = (Observation.RESOURCES, Observation.WIRE, Observation.KERNEL_PATH, Observation.CAPTURE)
Columns = tuple[tuple[str, str, Unit], ...]
CPU: Columns = (
    ("CPU, % of one core", "sampled_cpu_percent_of_core", PERCENT_OF_CORE),
    ("user, % of one core", "cpu_user_percent_of_core", PERCENT_OF_CORE),
    ("system, % of one core", "cpu_system_percent_of_core", PERCENT_OF_CORE),
    ("CPU, µs a message", "cpu_per_message_ns", MICROSECONDS),
    ("voluntary switches/s", "voluntary_switches_hz", PER_SECOND),
    ("preemptions/s", "involuntary_switches_hz", PER_SECOND),
    ("minor faults/s", "minor_faults_hz", PER_SECOND),
    ("major faults/s", "major_faults_hz", PER_SECOND),
    ("threads", "threads", COUNT),
    ("descriptors", "descriptors", COUNT),
)
MEMORY: Columns = (
    ("resident", "resident_bytes", MEBIBYTES),
    ("proportional", "proportional_bytes", MEBIBYTES),
    ("unique", "unique_bytes", MEBIBYTES),
    ("heap and stacks", "anonymous_bytes", MEBIBYTES),
    ("shared", "shared_resident_bytes", MEBIBYTES),
    ("in /dev/shm", "dev_shm_bytes", MEBIBYTES),
    ("peak resident", "peak_resident_bytes", MEBIBYTES),
)
CGROUP: Columns = (
    ("memory, MiB", "cgroup_memory_bytes", MEBIBYTES),
    ("CPU, % of one core", "cgroup_cpu_percent_of_core", PERCENT_OF_CORE),
    ("throttled, % of the time", "cgroup_throttled_percent", SHARE_OF_TIME),
)
MACHINE: Columns = (
    ("waiting for CPU, % of the time", "cpu_pressure_percent", SHARE_OF_TIME),
    ("for memory", "memory_pressure_percent", SHARE_OF_TIME),
    ("for input and output", "io_pressure_percent", SHARE_OF_TIME),
    ("the observer, % of one core", "observer_cpu_percent_of_core", PERCENT_OF_CORE),
)
NARROW = (
    (Observation.RESOURCES, "cpu_per_message_ns", MICROSECONDS, "{} µs of CPU a message"),
    (Observation.RESOURCES, "observer_cpu_percent_of_core", PERCENT_OF_CORE, "{} % of a core for the observer"),
    (Observation.WIRE, "wire_overhead_ratio", COUNT, "{} bytes on the wire for each of payload"),
    (Observation.WIRE, "wire_packets_per_message", COUNT, "{} packets a message"),
)
"""What the terminal shows of a middleware."""
PER_MESSAGE = (
    "CPU time of all applications and services for each message delivered, of trials whose resources were sampled. "
    "Median of trials with interval."
)


@dataclass(frozen=True)
class Observed:
    """What the page shows of a setting's observed trials."""

    cost: Table
    charts: tuple[Chart, ...]
    messages: tuple[Chart, ...]
    """Single messages' ways."""
    tables: tuple[Table, ...]
    unavailable: tuple[str, ...]
    """What could not be seen, with the reason."""


def observed(comparison: Comparison, who: Mapping[str, Contender]) -> Observed | None:
    """All of it; None where nothing was observed."""
    if not any(each.observed for each in comparison.experiments):
        return None
    sampled, wired, cut, captured = (seen_by(comparison, each) for each in SHOWN)
    cpu = Bars("percpu", "CPU for each message", TRIAL, "cpu_per_message_ns", "µs of CPU time", 1e3, PER_MESSAGE)
    charts = (*path_charts(cut, who), bar_chart(sampled, who, cpu), memory_chart(sampled, who))
    return Observed(
        cost=_cost_table(comparison, who),
        charts=tuple(chart for chart in charts if chart),
        messages=tuple(message_charts(cut, who)),
        tables=tuple(
            table
            for table in (
                *path_tables(cut, who),
                *_resource_tables(sampled, who),
                *_wire_tables(wired, who),
                capture_table(captured, who),
            )
            if table.rows
        ),
        unavailable=_unavailable(comparison, who),
    )


def seen_by(comparison: Comparison, observation: Observation) -> Comparison:
    """The same setting with the findings of observed trials in the place of the others."""
    seen = tuple(each.observed[observation] for each in comparison.experiments if observation in each.observed)
    return replace(comparison, experiments=seen)


def _resource_tables(sampled: Comparison, who: Mapping[str, Contender]) -> list[Table]:
    sums = "Medians of trials over the window, of a process with all that it started."
    cpu = f"{sums} CPU a message: sent or received by it; of a service, delivered in all."
    return [
        _process_table("CPU and threads", sampled, who, CPU, cpu),
        _process_table(
            "Memory, MiB",
            sampled,
            who,
            MEMORY,
            f"{sums} Proportional: shared pages divided among their users; unique: nobody else's; heap and stacks: "
            "anonymous pages; in /dev/shm: all that is in the one it sees.",
        ),
        growth_table(sampled, who),
        _process_table("Control groups", sampled, who, CGROUP, "Of processes in groups of their own."),
        _machine_table(sampled, who),
    ]


def _process_table(title: str, seen: Comparison, who: Mapping[str, Contender], columns: Columns, caption: str) -> Table:
    """A row a process that has any of the figures."""
    rows = []
    for each in seen.experiments:
        metrics = {metric for _, metric, _ in columns}
        subjects = sorted({key.subject for key in each.estimates if key.metric in metrics and key.subject != TRIAL})
        for subject in subjects:
            cells = (cell(show(each.estimate(subject, metric), unit)) for _, metric, unit in columns)
            rows.append((who[each.experiment.id].label, subject.removeprefix("process:"), *cells))
    return Table(title, ("", "process", *(heading for heading, _, _ in columns)), tuple(rows), caption)


def _machine_table(seen: Comparison, who: Mapping[str, Contender]) -> Table:
    """A row a machine: the one that Middlemark ran on, then the hosts that are others."""
    rows = []
    for each in seen.experiments:
        others = sorted({key.subject for key in each.estimates if key.subject.startswith(host_subject(""))})
        for subject in (TRIAL, *others):
            estimates = [each.estimate(subject, metric) for _, metric, _ in MACHINE]
            if any(estimates):
                machine = "this one" if subject == TRIAL else subject.removeprefix(host_subject(""))
                cells = (cell(show(found, unit)) for found, (_, _, unit) in zip(estimates, MACHINE, strict=True))
                rows.append((who[each.experiment.id].label, machine, *cells))
    caption = "Pressure: the share of the window in which some task of the machine had to wait (PSI)."
    return Table(
        "The machine meanwhile", ("", "machine", *(heading for heading, _, _ in MACHINE)), tuple(rows), caption
    )


def _wire_tables(wired: Comparison, who: Mapping[str, Contender]) -> list[Table]:
    return [wire_table(wired, who), link_traffic_table(wired, who)]


def observed_lines(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[str, ...]:
    """For a narrow place: what observing cost where that can be told, and what each middleware's observers came to."""
    found = observed(comparison, who)
    if found is None:
        return ()
    lines = [
        f"{label}: observing {observation.replace('_', ' ')} cost {latency} in latency, {cpu} in CPU"
        for label, observation, _, latency, cpu in found.cost.rows
        if {latency, cpu} != {ABSENT}
    ]
    for each in comparison.experiments:
        figures = [_figure(each, *wanted) for wanted in NARROW]
        packets = _packets(each, comparison.setting.subject)
        words = ", ".join([*filter(None, figures), *packets, *growing(each.observed.get(Observation.RESOURCES))])
        lines += [f"{who[each.experiment.id].label}: {words}"] if words else []
    cut = seen_by(comparison, Observation.KERNEL_PATH)
    lines += path_doubts(cut, who)
    captured = [row for table in found.tables if table.title == CAPTURES for row in table.rows]
    return (*lines, *(f"{row[0]}: {row[3]} frames in {row[1]}, Wireshark: {row[-1]}" for row in captured))


def _packets(each: ExperimentFindings, stream: str) -> list[str]:
    """How many carry a message, and between when and when."""
    seen = each.observed.get(Observation.KERNEL_PATH)
    names = ("packets_per_message", "typical_first_queued_ns", "typical_last_arrived_ns")
    found = [seen.estimate(stream, f"path_{name}") if seen else None for name in names]
    if not all(found):
        return []
    packets, first, last = (
        show(estimate, unit).text for estimate, unit in zip(found, (COUNT, MICROSECONDS, MICROSECONDS), strict=True)
    )
    return [f"{packets} packets on a message's way, from {first} µs (queued) to {last} µs (arrived)"]


def _figure(each: ExperimentFindings, observation: Observation, metric: str, unit: Unit, words: str) -> str:
    seen = each.observed.get(observation)
    estimate = seen.estimate(TRIAL, metric) if seen else None
    return "" if estimate is None or estimate.value is None else words.format(show(estimate, unit).text)


def _cost_table(comparison: Comparison, who: Mapping[str, Contender]) -> Table:
    """Observed over unobserved, paired by block."""
    rows = []
    for each in comparison.experiments:
        for observation, seen in each.observed.items():
            ratios = (comparison.ratio(seen, each), _cpu_ratio(seen, each))
            valid = f"{seen.n_valid} of {plural(len(seen.outcomes), 'trial')}"
            rows.append((who[each.experiment.id].label, str(observation), valid, *map(_ratio_words, ratios)))
    main = comparison.criterion.metric.partition("_p50")[0].replace("_", " ").removesuffix(" bytes per s")
    return Table(
        "What observing cost",
        ("", "observation", "valid", f"{main}, observed to unobserved", "CPU, observed to unobserved"),
        tuple(rows),
        "Ratios of the medians of observed and unobserved trials, paired by block, with 95 % intervals. Observed "
        "trials enter no other figure than those of this part.",
    )


def _cpu_ratio(seen: ExperimentFindings, each: ExperimentFindings) -> Difference | None:
    key = Key(TRIAL, "cpu_percent_of_core")
    found = ratio(each.known(key), seen.known(key), paired=True)
    return found if isinstance(found, Difference) else None


def _ratio_words(found: Difference | None) -> str:
    if found is None:
        return ABSENT
    said = judge_difference(found, lower_is_better=True).verdict
    return f"{times(found)}{'' if said in {Verdict.BETTER, Verdict.WORSE} else ', no significant difference'}"


def _unavailable(comparison: Comparison, who: Mapping[str, Contender]) -> tuple[str, ...]:
    """Each reason once, with those it holds for where not for all."""
    found: dict[str, dict[str, None]] = {}
    for each in comparison.experiments:
        for seen in each.observed.values():
            for record in seen.records:
                for what, reason in record.unavailable.items():
                    found.setdefault(f"{what.replace('_', ' ')}: {reason}", {})[who[each.experiment.id].label] = None
    everyone = len([each for each in comparison.experiments if each.observed])
    return tuple(
        reason if len(labels) == everyone else f"{reason} ({', '.join(labels)})" for reason, labels in found.items()
    )
