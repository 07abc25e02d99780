"""Which CPUs each application of an experiment may run on, given those that this machine has to give.

Pure; pinning is the worker's runtime's work. A host that names its CPUs keeps its applications on them; the others
share what is left. Machines that are reached by SSH share out their own.
"""

from collections.abc import Sequence

from middlemark.plan.experiment import Application, Experiment
from middlemark.suite import CpuRule, Cpus, HostKind, LoadedHosts


def share_cpus(experiment: Experiment, available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The CPUs of each application; an empty tuple lets the system decide."""
    owned = {host.name: host.cpus for host in experiment.hosts if host.cpus}
    elsewhere = {host.name for host in experiment.hosts if host.kind is HostKind.SSH} - owned.keys()
    taken = {cpu for cpus in owned.values() for cpu in cpus}
    left = [cpu for cpu in available if cpu not in taken] or available
    groups = {host: _on(host, experiment) for host in owned}
    rule = experiment.conditions.cpus
    shares = {name: cpus for host, group in groups.items() for name, cpus in _share(group, rule, owned[host]).items()}
    shares |= dict.fromkeys((each.name for each in experiment.applications if each.host in elsewhere), ())
    free = [each for each in experiment.applications if each.name not in shares]
    shares |= _share(free, rule, left, whole=())
    return {application.name: shares[application.name] for application in experiment.applications}


def loaded_hosts(experiment: Experiment) -> tuple[str, ...]:
    """The hosts on which the condition `cpu_load` has work done beside the applications."""
    asked = experiment.conditions.cpu_load
    if asked is None:
        return ()
    if asked.hosts is LoadedHosts.ALL:
        return tuple(host.name for host in experiment.hosts)
    publish = asked.hosts is LoadedHosts.PUBLISHERS
    return tuple(dict.fromkeys(each.host for each in experiment.applications if each.publishes is publish))


def _on(host: str, experiment: Experiment) -> list[Application]:
    return [application for application in experiment.applications if application.host == host]


def _share(
    applications: Sequence[Application], cpus: Cpus, available: Sequence[int], whole: tuple[int, ...] | None = None
) -> dict[str, tuple[int, ...]]:
    """The CPUs of applications that share some; `whole` is what the rule `any` leaves them, by default all of those."""
    if cpus.rule is CpuRule.SPREAD:
        return _spread(applications, available)
    if cpus.rule is CpuRule.EXPLICIT:
        return {each.name: cpus.publishers if each.publishes else cpus.subscribers for each in applications}
    one_for_all = (available[-1],) if cpus.rule is CpuRule.SAME_CORE else tuple(available) if whole is None else whole
    return {each.name: one_for_all for each in applications}


def _spread(applications: Sequence[Application], available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Equal shares that don't overlap; where there are more applications than CPUs, they take turns."""
    count = len(applications)
    if count > len(available):
        return {each.name: (available[index % len(available)],) for index, each in enumerate(applications)}
    share = len(available) // count if count else 0
    return {each.name: tuple(available[index * share :][:share]) for index, each in enumerate(applications)}
