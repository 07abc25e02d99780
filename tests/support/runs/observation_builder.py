"""What observed trials have beside their samples: kernel events, resources, traffic on the wire, captured frames."""

from __future__ import annotations

import numpy as np
import polars as pl

from behaviour import BEGIN_NS, MS, Behaviour
from middlemark.analysis.kernel.events import Kind
from middlemark.plan import Trial
from middlemark.results.record import CapturedLink, CaptureRecord, KernelRecording, LinkTraffic, Phase
from middlemark.results.tables import KERNEL_EVENTS_SCHEMA, MACHINE_SCHEMA, PROCESSES_SCHEMA

RECORDING = KernelRecording(processes={"publisher_0": 100, "subscriber_0": 200}, events=1, lost=0, calls={})


def kernel_events(received: pl.DataFrame) -> pl.DataFrame:
    """Each message takes a tenth of its time for each part, from publisher 0 (100) to subscriber 0 (200), as UDP."""
    sender, receiver = {"process": 100, "thread": 101}, {"process": 200, "thread": 201}
    packet, socket = {"subject": 5, "other": 1}, {"subject": 7, "other": 1, "ports": 9 << 16}
    tenths: tuple[tuple[int, Kind, dict[str, int]], ...] = (
        (-1, Kind.CALLED, receiver),
        (1, Kind.CALLED, sender),
        (2, Kind.QUEUED, {**sender, **packet, "ports": 9, "length": 64}),
        (3, Kind.TRANSMITTED, {**sender, **packet}),
        (4, Kind.ARRIVED, {**sender, **packet}),
        (5, Kind.WOKEN, {**receiver, "subject": 101, "other": 100}),
        (6, Kind.SWITCHED, receiver),
        (7, Kind.RETURNED, sender),
        (8, Kind.TAKEN, {**receiver, **socket, "value": 64, "mark": 17}),
        (9, Kind.RETURNED, receiver),
    )
    frames = [
        received.select(
            (pl.col("sent_ns") + (pl.col("received_ns") - pl.col("sent_ns")) * tenth // 10).alias("at_ns"),
            kind=pl.lit(int(kind)),
            **{name: pl.lit(fields.get(name, 0)) for name in KERNEL_EVENTS_SCHEMA if name not in {"at_ns", "kind"}},
        )
        for tenth, kind, fields in tenths
    ]
    events = pl.concat(frames).select(pl.col(name).cast(kind) for name, kind in KERNEL_EVENTS_SCHEMA.items())
    return events.sort("at_ns", maintain_order=True)


def sampled(trial: Trial, how: Behaviour) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Ten samples a second, from a second before the window to its end."""
    at_ns = np.arange(BEGIN_NS - 10 * 100 * MS, BEGIN_NS + trial.experiment.windows.window_ns + 1, 100 * MS)
    spent_ns = ((at_ns - at_ns[0]) * how.cpu_share).astype(np.int64)
    plain = {name: np.zeros(len(at_ns), dtype=np.int64) for name in PROCESSES_SCHEMA if name != "process"}
    own = {"at_ns": at_ns, "cpu_ns": spent_ns, "cpu_user_ns": spent_ns, "resident_bytes": at_ns * 0 + how.memory_bytes}
    frames = [
        pl.DataFrame({"process": [application.name] * len(at_ns), **plain, **own}, schema=PROCESSES_SCHEMA)
        for application in trial.experiment.applications
    ]
    machine = {name: at_ns if name == "at_ns" else spent_ns for name in MACHINE_SCHEMA if name != "host"}
    machine["host"] = [None] * len(at_ns)
    return pl.concat(frames), pl.DataFrame(machine, schema=MACHINE_SCHEMA)


def wire(trial: Trial, sent: int) -> tuple[LinkTraffic, ...]:
    """Every message with 100 bytes of headers leaves the first host of each network, in the window."""
    size_bytes = trial.experiment.streams[0].size_bytes + 100
    phases: tuple[Phase, ...] = ("discovery", "warm_up", "window", "drain")
    return tuple(
        LinkTraffic(
            host=network.hosts[0],
            network=network.name,
            phase=phase,
            duration_ns=1,
            sent_bytes=sent * size_bytes if phase == "window" else 500,
            sent_packets=sent if phase == "window" else 5,
            received_bytes=0,
            received_packets=0,
        )
        for network in trial.experiment.networks
        for phase in phases
    )


def capture(trial: Trial) -> CaptureRecord:
    """Ten frames of each host, one of them beyond the file's size."""
    links = (
        CapturedLink(host=host, network=network.name, captured=9, cut=2, beyond=1, lost=0)
        for network in trial.experiment.networks
        for host in network.hosts
    )
    return CaptureRecord(snap_bytes=96, most_bytes=1000, file_bytes=990, links=tuple(links), readable_headers=7)
