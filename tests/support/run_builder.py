"""Builds run folders whose answer is known: planned by the real plan, with samples drawn from a stated model.

A test says how each middleware behaves (`Behaviour`); everything else is as a campaign would have stored it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from chain_builder import counts as chain_counts
from chain_builder import play
from middlemark.analysis.kernel.events import Kind
from middlemark.plan import (
    Caution,
    Outcome,
    Stream,
    Trial,
    Valid,
    WarningKind,
    expand,
    experiments_of,
    observed,
    order_trials,
)
from middlemark.results.counts import (
    Counts,
    FirstMessage,
    InterfaceTraffic,
    PathProof,
    PublisherCounts,
    SubscriberCounts,
)
from middlemark.results.manifest import Dissector, Library, Manifest, Middleware
from middlemark.results.record import (
    CapturedLink,
    CaptureRecord,
    ClockAgreement,
    Effective,
    KernelRecording,
    LinkTraffic,
    Phase,
    Resources,
    TrialRecord,
    Window,
)
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import (
    KERNEL_EVENTS_SCHEMA,
    MACHINE_SCHEMA,
    PROCESSES_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.suite import Delivery, Observation, parse_demand, parse_suite

MS = 1_000_000
VALID = Valid()
T0_NS = 5_000_000_000
BEGIN_NS = 6_000_000_000


@dataclass(frozen=True)
class Behaviour:
    """How a middleware behaves in every trial."""

    latency_ns: float = 50_000.0
    """The median; messages scatter around it log-normally."""
    per_byte_ns: float = 0.0
    spread: float = 0.2
    """Standard deviation of the logarithm, message to message."""
    drift: float = 0.03
    """The same, trial to trial."""
    loss: float = 0.0
    first_message_ns: int = 40 * MS
    cpu_share: float = 0.1
    memory_bytes: int = 20 << 20
    publish_call_ns: float = 8_000.0
    fill_ns: int | None = None
    """What writing each message and answer takes; of runs from before that was recorded None."""
    service: str | None = None
    outcome: Outcome = VALID
    slow_publisher: float = 1.0
    """How many times its period a publisher takes for a message; above 1 it is overloaded."""
    title: str | None = None
    library: str = "lib"
    transport: str = "tcp"
    delivery: Delivery | None = Delivery.LIBRARY_THREAD
    """None: as in runs from before it was told."""
    observed_times: float = 1.0
    """How many times its latency an observed trial has."""
    course: Callable[[np.ndarray], np.ndarray] = np.ones_like
    """How many times its latency a message has, by the share of the window's messages before it."""


def build_run(path: Path, suite_text: str, behaviours: Mapping[str, Behaviour], *, seed: int = 1) -> RunFolder:
    """A whole run of a suite, each middleware as `behaviours` says."""
    suite = parse_suite(suite_text, file="test.yaml")
    experiments = expand(suite, available=sorted(behaviours))
    trials = order_trials(experiments, blocks=suite.trials, seed=suite.seed, observe=suite.observe or ())
    folder = RunFolder(path)
    manifest = _manifest(suite_text, suite.suite, trials, behaviours)
    began = f"2026-01-31T12:{(seed - 1) % 60:02d}:00+00:00"
    folder.write_manifest(manifest.model_copy(update={"claims": suite.claims, "started_at": began}))
    for trial in trials:
        write_trial(folder, trial, behaviours[trial.experiment.middleware], np.random.default_rng([seed, trial.number]))
    return folder


def build_demand_run(path: Path, demand_text: str, behaviours: Mapping[str, Behaviour]) -> RunFolder:
    """A whole run of an application's demand; streams that a behaviour names by `middleware/stream` have that one."""
    demand = parse_demand(demand_text, file="test.yaml")
    experiments = experiments_of(demand, {name: ("default",) for name in behaviours if "/" not in name})
    trials = order_trials(experiments, blocks=demand.trials, seed=demand.seed, observe=observed(demand))
    folder = RunFolder(path)
    folder.write_manifest(_manifest(demand_text, demand.application, trials, behaviours))
    for trial in trials:
        write_trial(
            folder, trial, behaviours[trial.experiment.middleware], np.random.default_rng([1, trial.number]), behaviours
        )
    return folder


def write_trial(
    folder: RunFolder,
    trial: Trial,
    how: Behaviour,
    rng: np.random.Generator,
    by_stream: Mapping[str, Behaviour] | None = None,
) -> TrialRecord:
    """One trial; the record is returned as written."""
    if how.outcome.kind != "valid":
        record = TrialRecord(trial=trial, outcome=how.outcome)
        folder.trial(trial.id).write_record(record)
        return record
    if trial.experiment.nodes:
        return _write_chains(folder, trial, how, rng)
    received, published, counts = [], [], Counts()
    for number, stream in enumerate(trial.experiment.streams):
        drift = float(np.exp(rng.normal(0, how.drift)))
        drift *= how.observed_times if trial.observation else 1
        own = (by_stream or {}).get(f"{trial.experiment.middleware}/{stream.name}", how)
        factored = replace(own, latency_ns=(own.latency_ns + own.per_byte_ns * stream.size_bytes) * drift)
        rows = _stream_rows(trial, number, stream, factored, rng)
        received.append(rows[0])
        published.append(rows[1])
        counts = Counts(publishers=counts.publishers + rows[2], subscribers=counts.subscribers + rows[3])
    folder.trial(trial.id).write_samples(pl.concat(received), pl.concat(published))
    record = _record(trial, how, counts, rng)
    folder.trial(trial.id).write_record(record)
    if trial.observation is Observation.KERNEL_PATH:
        folder.trial(trial.id).write_kernel_events(_kernel_events(pl.concat(received)))
    if trial.observation is Observation.RESOURCES:
        folder.trial(trial.id).write_resources(*_sampled(trial, how))
    return record


def _write_chains(folder: RunFolder, trial: Trial, how: Behaviour, rng: np.random.Generator) -> TrialRecord:
    drifted = replace(how, latency_ns=how.latency_ns * float(np.exp(rng.normal(0, how.drift))))
    played = play(trial.experiment, BEGIN_NS, drifted, rng)
    executions, inputs, outputs, received, published = played.frames()
    own = folder.trial(trial.id)
    own.write_samples(received, published)
    own.write_executions(executions, inputs, outputs)
    record = _record(trial, how, chain_counts(trial.experiment, played), rng)
    record = record.model_copy(update={"nodes": tuple(played.nodes)})
    own.write_record(record)
    return record


def _kernel_events(received: pl.DataFrame) -> pl.DataFrame:
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


def _sampled(trial: Trial, how: Behaviour) -> tuple[pl.DataFrame, pl.DataFrame]:
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


def _wire(trial: Trial, sent: int) -> tuple[LinkTraffic, ...]:
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


def _capture(trial: Trial) -> CaptureRecord:
    """Ten frames of each host, one of them beyond the file's size."""
    links = (
        CapturedLink(host=host, network=network.name, captured=9, cut=2, beyond=1, lost=0)
        for network in trial.experiment.networks
        for host in network.hosts
    )
    return CaptureRecord(snap_bytes=96, most_bytes=1000, file_bytes=990, links=tuple(links))


Rows = tuple[pl.DataFrame, pl.DataFrame, tuple[PublisherCounts, ...], tuple[SubscriberCounts, ...]]


def _stream_rows(trial: Trial, number: int, stream: Stream, how: Behaviour, rng: np.random.Generator) -> Rows:
    window_ns = trial.experiment.windows.window_ns
    asks = stream.pattern.kind == "ping_pong"
    received, published, publishers, subscribers = [], [], [], []
    for publisher, application in enumerate(stream.publishers):
        intended = _schedule(stream, window_ns, how)
        n = len(intended)
        sent = _sends(intended, how, rng) + (how.fill_ns or 0)
        returned = sent + _scatter(how.publish_call_ns, how, n, rng)
        published.append(_published(application, (number, publisher), (intended, sent, returned), how.fill_ns))
        publishers.append(
            PublisherCounts(
                stream=stream.name,
                publisher=publisher,
                intended=n,
                sent=n,
                refused=0,
                refusal=None,
                last_returned_ns=int(returned[-1]),
            )
        )
        for subscriber, at in enumerate(stream.subscribers):
            kept = rng.random(n) >= how.loss
            latency_ns = how.latency_ns * how.course(np.arange(n) / n)
            arrived = sent + _scatter(latency_ns, how, n, rng)
            for answers in (False, True) if asks else (False,):
                answered = arrived + (how.fill_ns or 0)
                back = answered + _scatter(latency_ns, how, n, rng) if answers else arrived
                base = (sent if answers else intended) + (how.fill_ns or 0)
                received.append(
                    _received(
                        application if answers else at,
                        (number, int(answers), publisher, subscriber),
                        np.flatnonzero(kept),
                        (base[kept], (answered if answers else sent)[kept], back[kept]),
                    )
                )
                subscribers.append(_subscriber_counts((stream.name, answers, publisher, subscriber), int(kept.sum())))
    return pl.concat(received), pl.concat(published), tuple(publishers), tuple(subscribers)


def _schedule(stream: Stream, window_ns: int, how: Behaviour) -> np.ndarray:
    pattern = stream.pattern
    if pattern.kind == "periodic":
        return BEGIN_NS + np.arange(0, window_ns, int(1e9 / pattern.rate_hz))
    if pattern.kind == "burst":
        return BEGIN_NS + np.repeat(np.arange(0, window_ns, int(1e9 / pattern.rate_hz)), pattern.messages)
    step = 2.2 * how.latency_ns if pattern.kind == "ping_pong" else how.publish_call_ns
    return BEGIN_NS + np.arange(0, window_ns, int(step) + 1)


def _sends(intended: np.ndarray, how: Behaviour, rng: np.random.Generator) -> np.ndarray:
    late = np.abs(rng.normal(3_000, 1_000, len(intended))).astype(np.int64)
    stretched = BEGIN_NS + ((intended - BEGIN_NS) * how.slow_publisher).astype(np.int64)
    return stretched + late


def _scatter(median_ns: float | np.ndarray, how: Behaviour, n: int, rng: np.random.Generator) -> np.ndarray:
    return (median_ns * np.exp(rng.normal(0, how.spread, n))).astype(np.int64)


def _published(
    application: str, who: tuple[int, int], instants: tuple[np.ndarray, ...], fill_ns: int | None
) -> pl.DataFrame:
    n = len(instants[0])
    columns: dict[str, object] = {"application": [application] * n, "sequence": np.arange(n)}
    columns |= dict(zip(("stream", "publisher"), (np.full(n, x) for x in who), strict=True))
    columns |= dict(zip(("intended_ns", "sent_ns", "returned_ns"), instants, strict=True))
    columns |= {"fill_ns": [fill_ns] * n, "accepted": np.ones(n, dtype=np.int64)}
    return pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in PUBLISHED_SCHEMA.items())


def _received(
    application: str, flow: tuple[int, int, int, int], sequence: np.ndarray, instants: tuple[np.ndarray, ...]
) -> pl.DataFrame:
    n = len(sequence)
    columns: dict[str, object] = {"application": [application] * n}
    columns |= dict(zip(("stream", "answer", "publisher", "subscriber"), (np.full(n, x) for x in flow), strict=True))
    columns |= {"sequence": sequence}
    columns |= dict(zip(("intended_ns", "sent_ns", "received_ns"), instants, strict=True))
    return pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in RECEIVED_SCHEMA.items())


def _subscriber_counts(flow: tuple[str, bool, int, int], received: int) -> SubscriberCounts:
    stream, answers, publisher, subscriber = flow
    return SubscriberCounts(
        stream=stream,
        answers=answers,
        publisher=publisher,
        subscriber=subscriber,
        received=received,
        late=0,
        duplicates=0,
        reordered=0,
        corrupt=0,
        foreign=0,
        negative=0,
        beyond_samples=0,
    )


def _record(trial: Trial, how: Behaviour, counts: Counts, rng: np.random.Generator) -> TrialRecord:
    window_ns = trial.experiment.windows.window_ns
    names = [application.name for application in trial.experiment.applications]
    processes = names + ([how.service] if how.service else [])
    return TrialRecord(
        trial=trial,
        outcome=how.outcome,
        effective={name: _effective(how) for name in names},
        counts=counts,
        first_message=tuple(
            FirstMessage(
                stream=each.stream,
                publisher=each.publisher,
                subscriber=each.subscriber,
                after_ns=int(how.first_message_ns * np.exp(rng.normal(0, how.drift))),
            )
            for each in counts.subscribers
            if not each.answers
        ),
        window=Window(t0_ns=T0_NS, begin_ns=BEGIN_NS, end_ns=BEGIN_NS + window_ns),
        resources={name: _resources(window_ns, how) for name in processes},
        path={name: _path(how) for name in names},
        kernel_path=_RECORDING if trial.observation is Observation.KERNEL_PATH else None,
        wire=_wire(trial, counts.publishers[0].sent) if trial.observation is Observation.WIRE else (),
        capture=_capture(trial) if trial.observation is Observation.CAPTURE else None,
        unavailable={"cgroup": "no group of its own"} if trial.observation is Observation.RESOURCES else {},
    )


_RECORDING = KernelRecording(processes={"publisher_0": 100, "subscriber_0": 200}, events=1, lost=0, calls={})


def _effective(how: Behaviour) -> Effective:
    return Effective(
        transport=how.transport,
        delivery=how.delivery,
        receive_mode="callback",
        zero_copy=how.transport == "shared memory",
        settings={"congestion_control": "block", "batching": "off"},
    )


def _resources(window_ns: int, how: Behaviour) -> Resources:
    return Resources(
        wall_ns=window_ns,
        cpu_user_ns=int(window_ns * how.cpu_share * 0.6),
        cpu_system_ns=int(window_ns * how.cpu_share * 0.4),
        peak_resident_bytes=how.memory_bytes,
        resident_bytes=how.memory_bytes,
        voluntary_switches=400,
        involuntary_switches=7,
        minor_faults=12,
        major_faults=0,
        machine_steal_ns=0,
    )


def _path(how: Behaviour) -> PathProof:
    shared = ("segment_of_the_test",) if how.transport == "shared memory" else ()
    traffic = InterfaceTraffic(
        interface="lo", received_bytes=123_456, received_packets=900, sent_bytes=123_456, sent_packets=900
    )
    return PathProof(interfaces=(traffic,), shared_memory=shared)


def _manifest(suite_text: str, suite: str, trials: tuple[Trial, ...], behaviours: Mapping[str, Behaviour]) -> Manifest:
    return Manifest(
        middlemark_version="0.1.0",
        suite=suite,
        suite_text=suite_text,
        seed=1,
        trials=trials,
        started_at="2026-01-31T12:00:00+00:00",
        command=("middlemark", "run", suite),
        machine={
            "cpu": "a CPU of the test",
            "cpus": 2,
            "memory_bytes": 24 << 30,
            "kernel": "Linux 6.1",
            "governor": None,
        },
        middlewares={
            name: Middleware(
                title=how.title or name,
                summary=f"{name} as the test has it",
                library=Library(name=how.library, version="1.2.3", origin="the test"),
                dissectors=(Dissector(name="rtps"), Dissector(name="someip", remark="decode its ports")),
            )
            for name, how in behaviours.items()
            if "/" not in name
        },
        left_out={"connext": "its library is not on this machine"},
        warnings=(
            Caution(
                kind=WarningKind.GOVERNOR,
                text="the CPU governor is `powersave`",
                remedy="cpupower frequency-set -g performance",
            ),
        ),
    )


def with_clocks(
    folder: RunFolder, bound_ns: int, *, host: str = "host_1", trials: Collection[str] | None = None
) -> RunFolder:
    """The run as if a host were another machine, whose clock is known to ± the bound; in these trials, else in all."""
    for stored in folder.stored_trials():
        if trials is None or stored.id in trials:
            clock = ClockAgreement(offset_ns=5, bound_ns=bound_ns, source="exchanges")
            stored.write_record(stored.read_record().model_copy(update={"clocks": {host: clock}}))
    return folder
