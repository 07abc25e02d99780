"""What can't be measured, known before anything is run: the front judges a trial, and its worker the trial's spec.

A worker judges a spec before it initialises its middleware, so that its answer costs a process and no network. Nothing
is run or stored; `possible` has what the front judges, `analysis.experiment.refused` tells each reason once.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from middlemark.campaign.checks.possible import check_possible, check_targets
from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.spec import process_specs
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.plan import Experiment, NotApplicable, Trial
from middlemark.testbed.hosts.host import ALONE, Attachment, Host, LocalHost
from middlemark.testbed.processes.slot import FIRST_PORT, MOST_PORTS, Slot
from middlemark.testbed.testbed import Testbed
from middlemark.worker.available import TrialWorkers, Worker
from middlemark.worker.contract import ApplicationRefused

WITHIN_S = 20.0
"""Memory is reserved before a spec counts as accepted."""
_SLOT = Slot(domain=1, first_port=FIRST_PORT, ports=MOST_PORTS, name="mmplanned", token=0)
_NETWORK = "198.18.{}.{}"
"""Addresses that are nobody's: RFC 2544 keeps them for benchmarks."""
_HOSTS_OF_A_NETWORK = 250


def refusals(trials: Iterable[Trial], workers: Mapping[str, Worker]) -> dict[str, NotApplicable]:
    """By experiment: why it can't be measured. One that is accepted, or of which nothing is learned, is not there."""
    ask = cache(_answer)  # what is asked alike is asked once
    first = {trial.experiment.id: trial for trial in reversed(tuple(trials))}
    with tempfile.TemporaryDirectory(prefix="middlemark-") as folder:
        reasons = {
            experiment_id: _refusal(trial, TrialWorkers.of_experiment(trial.experiment, workers), Path(folder), ask)
            for experiment_id, trial in first.items()
        }
    return {experiment_id: reason for experiment_id, reason in reasons.items() if reason}


def _refusal(
    trial: Trial, workers: TrialWorkers, folder: Path, ask: Callable[[Path, str], NotApplicable | None]
) -> NotApplicable | None:
    """Why this trial can't be measured, as the front or its worker says."""
    try:
        check_possible(trial, workers)
        worker, spec = _question(trial, workers, folder)
    except TrialOver as over:
        return over.outcome if isinstance(over.outcome, NotApplicable) else None
    return ask(worker, spec)


def _question(trial: Trial, workers: TrialWorkers, folder: Path) -> tuple[Path, str]:
    """The worker's file and the spec of the trial's first application, which has all streams in it."""
    experiment = trial.experiment
    hosts = _hosts(experiment)
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    environment = TrialEnvironment(workers, _SLOT, hosts, folder, cpus, Testbed(hosts))
    specs = process_specs(trial.model_copy(update={"seed": 0}), environment)
    check_targets(specs)
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
