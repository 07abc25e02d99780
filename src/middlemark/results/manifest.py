"""What is stored of one run beside its trials: what was requested, with which middlewares, and on what it ran.

It computes nothing and touches no file. `run_folder` reads and writes it, `campaign` fills it in; `record` has what is
stored of a trial.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from middlemark.plan import Caution, Experiment, Trial
from middlemark.results.record import FORMAT_VERSION
from middlemark.suite import Machine, Model
from middlemark.suite.claims.parser import ClaimText
from middlemark.suite.papers import Extent, LoadedPaper, paper_of
from middlemark.suite.yaml.model import (
    Count,
    ExperimentId,
    MiddlewareName,
    Name,
    SshTarget,
    StreamName,
    TestbedName,
    TopologyName,
)


def _day(text: str) -> str:
    date.fromisoformat(text)
    return text


class Library(Model):
    """The library that a worker is linked with, as `describe` says."""

    name: str
    version: str
    origin: str
    released: Annotated[str, AfterValidator(_day)] | None = None
    """Since when this version is there, of an old one; None where nothing tells, and in runs from before."""


class Dissector(Model):
    """A protocol by which Wireshark shows what the middleware puts on the wire, as `describe` says."""

    name: str
    remark: str | None = None


class Middleware(Model):
    """A middleware of the run: its worker's own account, or why it has none."""

    title: str
    summary: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Of the worker's file; None in runs from before it was recorded."""
    library: Library
    programs: tuple[Library, ...] = ()
    """The system's programs that its services run: a broker."""
    dissectors: tuple[Dissector, ...] = ()


MachineFacts = dict[str, str | Annotated[int, Field(ge=-(2**53), le=2**53)] | float | bool | None]
"""What was recorded of a machine: names with their units, values as read."""


class RemoteMachine(Model):
    """A machine that a test-bed reaches by SSH, as it said of itself when the test-bed joined."""

    started: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """Tells it from others: a keyed hash of the id of its start, and of the port of its SSH server."""
    kernel: Annotated[str, Field(max_length=200)]
    architecture: Annotated[str, Field(max_length=200)]
    cpus: Count
    cpu_model: Annotated[str, Field(max_length=200)] = ""


class Testbed(Model):
    """A test-bed of a fleet, as it said when it joined."""

    machine: MachineFacts
    build: dict[str, str]
    """Versions and digests of what measures, by what they are called."""
    hosts: dict[SshTarget, RemoteMachine] = {}
    """The machines that are its hosts, by the names that suites have for them."""


class Width(Model):
    """How far the interval of a metric reaches, and whether that is narrow enough for the suite's `stop`."""

    experiment: ExperimentId
    stream: StreamName | None
    """None where the metric is of the trial."""
    figure: str
    n_trials: Count
    """Trials that have the metric."""
    relative_width: float | None
    """Half of the interval as a share of the median; None where there is no interval."""
    allowed: float
    confidence: float
    settled: bool
    """Whether it was narrow enough at two looks in a row."""
    reason: str = ""
    """Why it stays open, or has no interval."""


def _instant(text: str) -> str:
    began = datetime.fromisoformat(text)
    if began.tzinfo is None or not 1971 <= began.year <= 2999:
        raise ValueError(f"{text} is no instant at which a run began")
    return text


TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
Tag = Annotated[str, Field(pattern=f"^{TAG.pattern}$")]


class RunHead(Model):
    """What tells a run from others, of a size that does not grow with its trials."""

    format_version: Literal[1] = FORMAT_VERSION
    middlemark_version: str
    suite: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
    """The suite's name."""
    started_at: Annotated[str, AfterValidator(_instant)]
    """ISO 8601, UTC."""
    machine: MachineFacts = {}
    """Of the machine on which the run was begun."""
    middlewares: dict[MiddlewareName, Middleware] = {}
    """By name."""
    base: dict[MiddlewareName, Middleware] = {}
    """By name: the base's, where the campaign has two sides."""
    tags: tuple[Tag, ...] = ()
    """By which its user finds it among others."""

    @property
    def machine_in_short(self) -> str:
        """Processor, CPUs and kernel of the machine."""
        facts = self.machine
        return f"{facts.get('cpu_model')}, {facts.get('cpus')} CPUs, Linux {facts.get('kernel')}"

    @property
    def machine_identity(self) -> str:
        """What tells the machine from others: `AMD EPYC 9354 (machine 5d41402a…)`; without its id, its parts."""
        facts = self.machine
        model = str(facts.get("cpu_model", "unknown"))
        if facts.get("machine_id", "unknown") != "unknown":
            return f"{model} (machine {facts['machine_id']})"
        cpus, memory_bytes, virtualisation = (facts.get(name) for name in ("cpus", "memory_bytes", "virtualisation"))
        parts = (
            f"{cpus} CPUs" if cpus else "",
            f"{float(memory_bytes) / 2**30:.0f} GiB" if memory_bytes else "",
            str(virtualisation) if virtualisation not in {None, "none"} else "",
        )
        return ", ".join(part for part in (model, *parts) if part)


class RunOutline(Model):
    """A run as lists and searches need it."""

    head: RunHead
    n_trials: Count
    """That are planned."""
    workloads: tuple[Name, ...]
    """Of the planned trials, by name."""


class _PlannedExperiment(BaseModel):
    workload: Name


class _PlannedTrial(BaseModel):
    experiment: _PlannedExperiment


class Planned(BaseModel):
    """What of a manifest says what is planned; the rest of it is passed over."""

    trials: tuple[_PlannedTrial, ...]

    @property
    def workloads(self) -> tuple[str, ...]:
        """By name, each once."""
        return tuple(sorted({trial.experiment.workload for trial in self.trials}))


class Manifest(RunHead):
    """What a run was requested and what it ran on: `manifest.json`."""

    suite_text: str
    """The suite as given, word for word."""
    suite_files: dict[str, str] = {}
    """The files that the suite names, word for word, by the name that it has for them."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    trials: tuple[Trial, ...]
    """The suite as expanded: every planned trial, in the order in which they run; with `stop`, those decided so far."""
    testbeds: dict[TestbedName, Testbed] = {}
    """Of a run over a fleet: those that measured, by name."""
    widths: tuple[Width, ...] = ()
    """Of a suite with `stop`: how wide the intervals were after the last block that was looked at."""
    command: tuple[str, ...] = ()
    claims: tuple[ClaimText, ...] = ()
    """The suite's."""
    against: tuple[str, ...] = ()
    """The folders of the base's workers, where the campaign has two sides."""
    left_out: dict[str, str] = {}
    """Middlewares without a worker here, each with the reason."""
    warnings: tuple[Caution, ...] = ()
    """What is not as it should be on the machine."""

    @model_validator(mode="after")
    def _has_each_trial_once(self) -> Self:
        if len({trial.id for trial in self.trials}) < len(self.trials):
            raise ValueError("it has a trial twice")
        if any(len(same) > 1 for same in _by_id(self.trials).values()):
            raise ValueError("it has two experiments of one id")
        return self


def _by_id(trials: Iterable[Trial]) -> dict[str, list[Experiment]]:
    """The different experiments that have one id."""
    experiments: dict[str, list[Experiment]] = {}
    for trial in trials:
        same = experiments.setdefault(trial.experiment.id, [])
        if trial.experiment not in same:
            same.append(trial.experiment)
    return experiments


class Reproduction(Model):
    """What is reproduced: `reproduction.json`."""

    format_version: Literal[1] = 1
    extent: Extent
    texts: dict[str, str]
    """The paper's files, word for word, by name: it is resumed and judged by these."""
    started_at: Annotated[str, AfterValidator(_instant)]
    """ISO 8601, UTC."""
    not_installed: dict[MiddlewareName, str] = {}
    """Middlewares of the paper without a worker here, each with the reason."""
    not_run: dict[Name, str] = {}
    """Suites of which nothing can run here, each with the reason."""
    left_out: dict[Name, dict[TopologyName, str]] = {}
    """By suite: topologies that these machines can't be, each with the reason."""
    machines: tuple[Machine, ...] = ()
    """What its hosts were, where an inventory was given."""

    @property
    def paper(self) -> LoadedPaper:
        """The paper as it was."""
        return paper_of(self.texts)
