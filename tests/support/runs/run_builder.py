"""Builds run folders whose answer is known: planned by the real plan, with samples drawn from a stated model.

A test says how each middleware behaves (`Behaviour`); everything else is as a campaign would have stored it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from behaviour import BEGIN_NS, MS, T0_NS, Behaviour
from chain_builder import counts as chain_counts
from chain_builder import play
from middlemark.plan import (
    Caution,
    Trial,
    WarningKind,
    expand,
    experiments_of,
    order_trials,
    watched,
)
from middlemark.results.counts import (
    Counts,
    FirstMatch,
    FirstMessage,
    InterfaceTraffic,
    PathProof,
    Resources,
)
from middlemark.results.manifest import Dissector, Library, Manifest, Middleware
from middlemark.results.record import (
    ClockAgreement,
    Effective,
    TrialRecord,
    Window,
)
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation, parse_demand, parse_suite
from observation_builder import RECORDING, capture, kernel_events, sampled, wire
from stream_builder import stream_rows


def build_run(path: Path, suite_text: str, behaviours: Mapping[str, Behaviour], *, seed: int = 1) -> RunFolder:
    """A whole run of a suite, each middleware as `behaviours` says."""
    suite = parse_suite(suite_text, file="test.yaml")
    experiments = expand(suite, available=sorted(behaviours))
    trials = order_trials(experiments, blocks=suite.trials, seed=suite.seed, observe=watched(suite))
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
    trials = order_trials(experiments, blocks=demand.trials, seed=demand.seed, observe=watched(demand))
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
        rows = stream_rows(trial, number, stream, factored, rng)
        received.append(rows[0])
        published.append(rows[1])
        counts = Counts(publishers=counts.publishers + rows[2], subscribers=counts.subscribers + rows[3])
    folder.trial(trial.id).write_samples(pl.concat(received), pl.concat(published))
    record = _record(trial, how, counts, rng)
    folder.trial(trial.id).write_record(record)
    if trial.observation is Observation.KERNEL_PATH:
        folder.trial(trial.id).write_kernel_events(kernel_events(pl.concat(received)))
    if trial.observation is Observation.RESOURCES:
        folder.trial(trial.id).write_resources(*sampled(trial, how))
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


def _record(trial: Trial, how: Behaviour, counts: Counts, rng: np.random.Generator) -> TrialRecord:
    window_ns = trial.experiment.windows.window_ns
    names = [application.name for application in trial.experiment.applications]
    processes = names + ([how.service] if how.service else [])
    return TrialRecord(
        trial=trial,
        outcome=how.outcome,
        effective={name: _effective(how) for name in names},
        counts=counts,
        initialised_after_ns=dict.fromkeys(names, how.first_message_ns // 2),
        matched=tuple(
            FirstMatch(stream=each.stream, publisher=each.publisher, after_ns=how.first_message_ns * 3 // 4)
            for each in counts.publishers
        ),
        first_message=tuple(
            FirstMessage(
                stream=each.stream,
                publisher=each.publisher,
                subscriber=each.subscriber,
                after_ns=(after_ns := int(how.first_message_ns * np.exp(rng.normal(0, how.drift)))),
                full_after_ns=after_ns + MS,
            )
            for each in counts.subscribers
            if not each.answers
        ),
        window=Window(t0_ns=T0_NS, begin_ns=BEGIN_NS, end_ns=BEGIN_NS + window_ns),
        resources={name: _resources(window_ns, how) for name in processes},
        path={name: _path(how) for name in names},
        kernel_path=RECORDING if trial.observation is Observation.KERNEL_PATH else None,
        wire=wire(trial, counts.publishers[0].sent) if trial.observation is Observation.WIRE else (),
        capture=capture(trial) if trial.observation is Observation.CAPTURE else None,
        unavailable={"cgroup": "no group of its own"} if trial.observation is Observation.RESOURCES else {},
    )


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
                library=Library(name=how.library, version="1.2.3", origin="the test", released=how.released),
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
