"""What workers refuse of planned trials, asked before any is run: their specs, of hosts that have only addresses.

A worker judges a spec before it initialises its middleware, so that its answer costs a process and no network. Nobody
is asked here what this machine can't do.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from middlemark.campaign.order import TrialWorkers, Worker
from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.spec import process_specs
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.plan import Experiment, NotApplicable, Trial
from middlemark.testbed.hosts.host import ALONE, Attachment, Host, LocalHost
from middlemark.testbed.processes.slot import FIRST_PORT, MOST_PORTS, Slot
from middlemark.testbed.testbed import Testbed
from middlemark.worker.contract import ApplicationRefused

WITHIN_S = 20.0
"""Memory is reserved before a spec counts as accepted."""
_SLOT = Slot(domain=1, first_port=FIRST_PORT, ports=MOST_PORTS, name="mmplanned", token=0)
_NETWORK = "198.18.{}.{}"
"""Addresses that are nobody's: RFC 2544 keeps them for benchmarks."""
_HOSTS_OF_A_NETWORK = 250


def refusals(trials: Iterable[Trial], workers: Mapping[str, Worker]) -> dict[str, NotApplicable]:
    """By experiment: why its worker refuses it. One that is accepted, or of which nothing is learned, is not there."""
    answers: dict[tuple[Path, str], NotApplicable | None] = {}
    refused = {}
    first = {trial.experiment.id: trial for trial in reversed(tuple(trials))}
    with tempfile.TemporaryDirectory(prefix="middlemark-") as folder:
        for experiment_id, trial in first.items():
            question = _question(trial, workers, Path(folder))
            if question not in answers:
                answers[question] = _answer(*question)
            if reason := answers[question]:
                refused[experiment_id] = reason
    return refused


def _question(trial: Trial, workers: Mapping[str, Worker], folder: Path) -> tuple[Path, str]:
    """The worker's file and the spec of the trial's first application, which has all streams in it."""
    experiment = trial.experiment
    first, *second = (workers[name] for name in experiment.middlewares)
    hosts = _hosts(experiment)
    environment = TrialEnvironment(
        TrialWorkers(first, *(second or [first])),
        _SLOT,
        hosts,
        folder,
        tuple(sorted(os.sched_getaffinity(0))),
        Testbed(hosts),
    )
    specs = process_specs(trial.model_copy(update={"seed": 0}), environment)
    name, spec = next(iter(specs.applications.items()))
    return specs.worker_of[name], spec.model_dump_json(exclude_none=True)


def _hosts(experiment: Experiment) -> dict[str, Host]:
    attachments: dict[str, list[Attachment]] = {host.name: [] for host in experiment.hosts}
    numbers = count()
    for network in experiment.networks:
        for host in network.hosts:
            address = _NETWORK.format(*divmod(next(numbers), _HOSTS_OF_A_NETWORK))
            attachments[host].append(Attachment(network.name, address, ALONE.interface))
    return {name: LocalHost(name, attachments=tuple(of_host) or (ALONE,)) for name, of_host in attachments.items()}


def _answer(worker: Path, spec: str) -> NotApplicable | None:
    try:
        output = answer_of([worker, "application"], within_s=WITHIN_S, data=spec.encode() + b"\n").output
    except NoAnswer:
        return None
    try:
        event = ApplicationRefused.model_validate_json(output.partition(b"\n")[0])
    except ValidationError:  # it is another event: the spec is accepted
        return None
    return NotApplicable(capability=event.capability, reason=event.reason)
