"""What the front itself knows that a trial can't have: a pair, a level of security, a pause, a target of its faults.

It asks no worker and prepares nothing: `refusals` asks the workers before a run, `trial.run` prepares the trial.
"""

from __future__ import annotations

from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.faults import check_pauses
from middlemark.campaign.trial.security import check_security
from middlemark.campaign.trial.spec import Specs
from middlemark.plan import Experiment, NotApplicable, Trial
from middlemark.suite import DeploymentKind, Security
from middlemark.worker.available import TrialWorkers


def check_possible(trial: Trial, workers: TrialWorkers) -> None:
    """Over where the trial requests what these workers, or the front, can't do."""
    _check_pair(trial.experiment)
    for worker in workers.distinct:
        check_security(trial, worker.description)
    check_pauses(trial.experiment, workers)


def check_targets(specs: Specs) -> None:
    """Over where a fault would be done to a process that the trial lacks."""
    if absent := specs.absent_targets():
        raise TrialOver(NotApplicable(capability="faults", reason=f"this trial has no {absent}"))


def _check_pair(experiment: Experiment) -> None:
    """Over where two middlewares can't be this trial's applications together."""
    if experiment.pair is None:
        return
    conditions, reason = experiment.conditions, experiment.pair.why_not(experiment.applications)
    if conditions.security is not Security.NONE:
        reason = "the credentials of a trial are made by one worker for its own applications"
    elif conditions.deployment.deployment is not DeploymentKind.BARE_METAL:
        reason = "a container holds one worker with the libraries that it needs"
    if reason:
        raise TrialOver(NotApplicable(capability="pair", reason=reason))
