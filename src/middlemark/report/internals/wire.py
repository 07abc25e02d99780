"""What was on the wire: by phase, by link, over message sizes, and in captured frames.

`analysis.metrics.wire` has the values; of the frames themselves it shows nothing, that is Wireshark's business. Which
settings were observed, `observers` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.conditions import spread
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics.traffic import payload_hosts, receiving_hosts
from middlemark.plan.factors import is_of_candidate, varying_factors
from middlemark.report.elements.candidate_tables import CandidateRow, LabelledRow, labelled_rows, labelled_table
from middlemark.report.elements.chart import Chart, finished, identity, log_scale
from middlemark.report.elements.formatting import ABSENT, COUNT, Unit, size
from middlemark.report.elements.labels import (
    Series,
    deliveries_cell,
    differing_deliveries,
    n_trials,
    trials_behind,
)
from middlemark.report.elements.tables import (
    MIDDLEWARE,
    NOTHING,
    Cell,
    MetricColumn,
    Row,
    Table,
    estimate_cell,
    metric_cells,
    metric_columns,
    named,
    sentences,
    table,
    values,
)
from middlemark.results.record import CaptureRecord, TrialRecord
from middlemark.suite import Observation
from middlemark.suite.metrics import TRIAL

PHASES = {"discovery": "discovery", "warm_up": "warm-up", "window": "window", "drain": "drain"}
BYTES = Unit("", written=size)
NOT_SEPARABLE = "can't be separated"
OVERHEAD = "wire_overhead_ratio"
ABOUT = (
    "Whole frames with their Ethernet headers, counted where they leave a host; per message or byte delivered to a "
    "subscriber. Through a broker on a host of its own each message is on the wire twice; by multicast it is there "
    "once for all subscribers."
)


def wire_table(wired: Comparison, series_of: Mapping[str, Series]) -> Table:
    """A row for each that was read, medians of trials."""
    rows: list[CandidateRow] = []
    for candidate in wired.experiments:
        if candidate.estimate(TRIAL, "wire_window_bytes") is not None:
            phases = [_amount(candidate, phase) for phase in PHASES]
            ratios = metric_cells(_PER_MESSAGE, candidate, TRIAL)
            split = [
                _amount(candidate, name) if _is_separable(candidate) else NOT_SEPARABLE for name in ("data", "control")
            ]
            rows.append((candidate, (*phases, *split, *ratios)))
    traffic = values(*PHASES.values(), "data in the window", "control in the window")
    caption = (
        f"{ABOUT} Discovery: from before T0 to the last first message. Control: what hosts without publisher, server "
        "and broker sent. Data: everything else, including the little control traffic of hosts that send payload. "
        "Where every host sends payload, the two can't be separated. Medians of trials."
    )
    columns = (*traffic, *metric_columns(_PER_MESSAGE))
    return labelled_table("On the wire", columns, labelled_rows(rows, series_of), caption, "all hosts together")


_PER_MESSAGE = (
    MetricColumn("bytes a message", "wire_bytes_per_message", BYTES),
    MetricColumn("packets a message", "wire_packets_per_message", COUNT),
    MetricColumn("wire to payload", OVERHEAD, COUNT),
)


def _amount(candidate: ExperimentFindings, name: str) -> str:
    sent_bytes, packets = (candidate.estimate(TRIAL, f"wire_{name}_{unit}") for unit in ("bytes", "packets"))
    return f"{estimate_cell(sent_bytes, BYTES).text}, {estimate_cell(packets, COUNT).text} packets"


def _is_separable(candidate: ExperimentFindings) -> bool:
    return candidate.estimate(TRIAL, "wire_control_bytes") is not None


def link_traffic_table(wired: Comparison, series_of: Mapping[str, Series]) -> Table:
    """Both directions of each link in each phase."""
    rows: list[CandidateRow] = []
    for candidate in wired.experiments:
        for host, network in dict.fromkeys((t.host, t.network) for r in candidate.records for t in r.wire):
            cells = (_both_directions(candidate, (host, network, phase)) for phase in PHASES)
            sends = _what_is_sent(candidate, host)
            rows.append((candidate, (f"{host} – {network}", *cells, sends)))
    columns = (*named("link"), *values(*PHASES.values()), *named("what the host sends in the window"))
    caption = (
        "Bytes, packets; medians of trials. A host that sends payload and receives some sends both data and control "
        "on one interface: only a capture separates them."
    )
    detail = "sent / received by the host"
    return labelled_table("Traffic of the links", columns, labelled_rows(rows, series_of), caption, detail)


def _what_is_sent(candidate: ExperimentFindings, host: str) -> str:
    if host not in payload_hosts(candidate.experiment):
        return "control"
    return "data and control" if host in receiving_hosts(candidate.experiment) else "data"


def _both_directions(candidate: ExperimentFindings, wanted: tuple[str, str, str]) -> str:
    traffic = [t for record in candidate.records for t in record.wire if (t.host, t.network, t.phase) == wanted]
    directions = (
        (spread(t.sent_bytes for t in traffic), spread(t.sent_packets for t in traffic)),
        (spread(t.received_bytes for t in traffic), spread(t.received_packets for t in traffic)),
    )
    return " / ".join(
        f"{size(sent.median)}, {packets.median:.0f}" if sent and packets else ABSENT for sent, packets in directions
    )


CAPTURES = (
    "Whole trials, from before T0 to the end of the drain. Each frame is recorded at its host's link, so that a file "
    "has it once for its sender and once for each receiver. Cut: longer than what is kept of each frame. Overflow: "
    "arrived when the file had its maximum size. Lost: arrived faster than they could be recorded. Readable headers: "
    "of the trial's messages, in clear; an encrypted trial has none. Dissectors: Wireshark's names, which its filters "
    "use too."
)


def capture_table(captured: Comparison, series_of: Mapping[str, Series]) -> Table:
    """A row a trial's file."""
    rows: list[Row] = []
    for candidate in captured.experiments:
        series = series_of[candidate.experiment.id]
        rows += [
            (series.label, *_capture_cells(record, record.capture), dissector_words(series))
            for record in candidate.records
            if record.capture is not None
        ]
    counts = values("size", "frames", "cut", "overflow", "lost", "readable headers")
    columns = (MIDDLEWARE, *named("file in the run's folder"), *counts, sentences("dissectors"))
    return table("Captured frames", columns, rows, CAPTURES)


def dissector_words(series: Series) -> str:
    """`mqtt (what Wireshark needs to know)`."""
    words = [
        f"{dissector.name} ({dissector.remark})" if dissector.remark else dissector.name
        for dissector in series.dissectors
    ]
    return "; ".join(words) or ABSENT


def _capture_cells(record: TrialRecord, capture: CaptureRecord) -> tuple[Cell, ...]:
    path = _capture_path(record)
    sums = (sum(getattr(link, fate) for link in capture.links) for fate in ("captured", "cut", "beyond", "lost"))
    readable = NOTHING if capture.readable_headers is None else Cell(capture.readable_headers)
    return Cell(path, link=path), Cell(capture.file_bytes, BYTES), *map(Cell, sums), readable


def capture_lines(captured: Comparison, series_of: Mapping[str, Series]) -> list[str]:
    """A line a trial's file, for a narrow place."""
    return [
        f"{series.label}: {sum(link.captured for link in record.capture.links)} frames in {_capture_path(record)}, "
        f"Wireshark: {dissector_words(series)}"
        for candidate in captured.experiments
        for record in candidate.records
        if record.capture is not None
        for series in (series_of[candidate.experiment.id],)
    ]


def _capture_path(record: TrialRecord) -> str:
    return f"trials/{record.trial.id}/capture.pcapng"


def overhead_table(experiments: Sequence[ExperimentFindings], series_of: Mapping[str, Series]) -> Table | None:
    """Wire to payload over message sizes; None where no wire was read."""
    by_setting = _by_setting(experiments, series_of)
    if not by_setting:
        return None
    sizes = sorted({size_bytes for points in by_setting.values() for size_bytes in points})
    rows: list[LabelledRow] = []
    for (label, setting), points in by_setting.items():
        ratios = (estimate_cell(points[s].estimate(TRIAL, OVERHEAD), COUNT) if s in points else NOTHING for s in sizes)
        rows.append((label, deliveries_cell(points.values()), (setting, *ratios)))
    columns = (*named("setting"), *values(*map(size, sizes)))
    return labelled_table("Bytes on the wire for each byte of payload", columns, rows, ABOUT, detail="by message size")


def overhead_chart(experiments: Sequence[ExperimentFindings], series_of: Mapping[str, Series]) -> Chart | None:
    """The same as lines; None where no middleware was measured with two sizes."""
    drawn = {name: points for name, points in _by_setting(experiments, series_of).items() if len(points) > 1}
    rows: list[dict[str, Any]] = [
        {"series": label, "setting": setting, "size": size_bytes, "ratio": ratio.value}
        for (label, setting), points in drawn.items()
        for size_bytes, candidate in sorted(points.items())
        if (ratio := candidate.estimate(TRIAL, OVERHEAD)) is not None and ratio.value
    ]
    if not rows:
        return None
    behind = [
        (f"{label}, {setting}", candidate)
        for (label, setting), points in drawn.items()
        for _, candidate in sorted(points.items())
    ]
    n = n_trials(candidate.estimate(TRIAL, OVERHEAD) for _, candidate in behind)
    deliveries = differing_deliveries((candidate for _, candidate in behind), series_of)
    return Chart(
        id="overhead",
        title="Overhead on the wire over message size",
        caption=f"{ABOUT} Medians of trials. {n} {deliveries}".rstrip(),
        description="A line for each middleware and setting; the table below has the values.",
        spec=finished(*_overhead_lines(rows, series_of), height=280, rows=rows),
        trials=trials_behind(behind),
    )


def _overhead_lines(rows: Sequence[Mapping[str, Any]], series_of: Mapping[str, Series]) -> tuple[alt.Chart, alt.Chart]:
    labels = {str(row["series"]) for row in rows}
    shown = identity(
        series for series in sorted(series_of.values(), key=lambda series: series.label) if series.label in labels
    )
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=log_scale([float(row["size"]) for row in rows]).x("size:Q", "bytes a message"),
        y=log_scale([float(row["ratio"]) for row in rows]).y("ratio:Q", "wire to payload"),
        color=shown.colour,
        detail=alt.Detail("setting:N"),
        tooltip=[
            alt.Tooltip("series:N", title="middleware"),
            alt.Tooltip("setting:N"),
            alt.Tooltip("ratio:Q", format=".4~g"),
        ],
    )
    return base.mark_line(strokeWidth=1.6).encode(strokeDash=shown.dash), base.mark_point(filled=True, size=60)


BySetting = dict[tuple[str, str], dict[int, ExperimentFindings]]
"""By series and setting, by size."""


def _by_setting(experiments: Sequence[ExperimentFindings], series_of: Mapping[str, Series]) -> BySetting:
    wired = [
        candidate.observed[Observation.WIRE] for candidate in experiments if Observation.WIRE in candidate.observed
    ]
    shown = [candidate for candidate in wired if candidate.estimate(TRIAL, OVERHEAD) is not None]
    if not shown:
        return {}
    varying = [
        name
        for name in varying_factors([candidate.experiment for candidate in shown])
        if name != "size" and not is_of_candidate(name)
    ]
    by_setting: BySetting = {}
    for measured in shown:
        factors = measured.experiment.factors
        setting = ", ".join(f"{name} {factors.get(name, ABSENT)}" for name in varying) or measured.experiment.topology
        name = (series_of[measured.experiment.id].label, setting)
        by_setting.setdefault(name, {})[measured.experiment.streams[0].size_bytes] = measured
    return dict(sorted(by_setting.items()))
