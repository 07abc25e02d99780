"""Which CPUs each application of an experiment may run on, given those that its host has.

Pure; pinning is the worker's runtime's work.
"""

from collections.abc import Sequence

from middlemark.plan.experiment import Application, Experiment
from middlemark.suite import CpuRule, LoadedHosts


def share_cpus(experiment: Experiment, available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The CPUs of each application; an empty tuple lets the system decide."""
    rule = experiment.conditions.cpus.rule
    if rule is CpuRule.SPREAD:
        return _spread(experiment.applications, available)
    return {application.name: _by_rule(application, experiment, available) for application in experiment.applications}


def loaded_hosts(experiment: Experiment) -> tuple[str, ...]:
    """The hosts on which the condition `cpu_load` has work done beside the applications."""
    asked = experiment.conditions.cpu_load
    if asked is None:
        return ()
    if asked.hosts is LoadedHosts.ALL:
        return tuple(host.name for host in experiment.hosts)
    publish = asked.hosts is LoadedHosts.PUBLISHERS
    return tuple(dict.fromkeys(each.host for each in experiment.applications if each.publishes is publish))


def _by_rule(application: Application, experiment: Experiment, available: Sequence[int]) -> tuple[int, ...]:
    cpus = experiment.conditions.cpus
    if cpus.rule is CpuRule.EXPLICIT:
        return cpus.publishers if application.publishes else cpus.subscribers
    return (available[-1],) if cpus.rule is CpuRule.SAME_CORE else ()


def _spread(applications: Sequence[Application], available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Equal shares that don't overlap; where there are more applications than CPUs, they take turns."""
    count = len(applications)
    if count > len(available):
        return {a.name: (available[index % len(available)],) for index, a in enumerate(applications)}
    share = len(available) // count
    return {a.name: tuple(available[index * share : (index + 1) * share]) for index, a in enumerate(applications)}
