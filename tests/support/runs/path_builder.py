"""Trials for the judgement of their path: what their workers state, and what was seen."""

from dataclasses import dataclass, replace

from behaviour import Behaviour
from middlemark.analysis.experiment.proof import contradiction
from middlemark.results.counts import (
    InterfaceTraffic,
    MappedSegment,
    MessagePath,
    PathProof,
    SocketProtocol,
    SocketUse,
)
from middlemark.results.record import TrialRecord
from middlemark.results.streaming import Frame
from shared_runs import SharedRuns

SUITE = """
suite: ways
trials: 1
middlewares: udp
workloads: {workload: imu, size: 64 kB, windows: {window: 1 s}}
topologies: C1-3
"""
"""200 messages of 64 kB for three subscribers."""


@dataclass(frozen=True)
class StoredTrial:
    """A trial's record, and the samples that it stored."""

    record: TrialRecord
    received: Frame

    def of_experiment(self, **fields: object) -> "StoredTrial":
        """The same of an experiment that differs."""
        experiment = self.record.trial.experiment.model_copy(update=fields)
        planned = self.record.trial.model_copy(update={"experiment": experiment})
        return replace(self, record=self.record.model_copy(update={"trial": planned}))

    def under(self, **conditions: object) -> "StoredTrial":
        """The same under other conditions."""
        experiment = self.record.trial.experiment
        return self.of_experiment(conditions=experiment.conditions.model_copy(update=conditions))

    def problem(self, paths: tuple[MessagePath, ...], proofs: dict[str, PathProof]) -> str:
        """What contradicts these paths, without the words that every sentence begins with."""
        stated = {name: each.model_copy(update={"paths": paths}) for name, each in self.record.effective.items()}
        record = self.record.model_copy(update={"effective": stated, "path": proofs})
        return contradiction(record, self.received).removeprefix("the workers state that messages take ")


def stored_trial(runs: SharedRuns, suite: str = SUITE, slow_publisher: float = 1.0) -> StoredTrial:
    """The one trial of a suite."""
    [trial] = runs.run(suite, {"udp": Behaviour(slow_publisher=slow_publisher)}).stored_trials()
    return StoredTrial(trial.read_record(), trial.read_received())


def interface(sent_bytes: int) -> InterfaceTraffic:
    """Traffic of the loopback."""
    return InterfaceTraffic(interface="lo", received_bytes=0, received_packets=0, sent_bytes=sent_bytes, sent_packets=1)


def segment(identity: str, messages: int | None) -> MappedSegment:
    """A segment in which so many messages lay."""
    return MappedSegment(name=f"segment_{identity}", identity=identity, size_bytes=4096, messages=messages)


def socket(protocol: SocketProtocol) -> SocketUse:
    """A socket without a peer."""
    return SocketUse(protocol=protocol, sockets=1)


@dataclass(frozen=True)
class Seen:
    """What was seen of each application; the publisher's first, then that of every subscriber."""

    left_bytes: int = 0
    publisher: tuple[MappedSegment, ...] = ()
    subscribers: tuple[MappedSegment, ...] = ()
    sockets: tuple[SocketUse, ...] = (socket(SocketProtocol.TCP), socket(SocketProtocol.LOCAL))

    def of(self, trial: StoredTrial) -> dict[str, PathProof]:
        """The proof of each of its applications."""
        proofs = {}
        for name in trial.record.path:
            segments = self.publisher if name.startswith("publisher") else self.subscribers
            traffic = (interface(self.left_bytes),)
            proofs[name] = PathProof(interfaces=traffic, segments=segments, sockets=self.sockets)
        return proofs
