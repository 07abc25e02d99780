"""Which CPUs each application and service of an experiment may use, where they meet, and which hosts are loaded beside.

It pins and loads nothing: the worker's runtime and `testbed.machine` do. `suite.conditions` has the rules, `topology`
the hosts.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle

from middlemark.plan.application import Application
from middlemark.plan.experiment import Experiment
from middlemark.suite import CpuRule, Cpus, HostKind, LoadedHosts


def share_cpus(experiment: Experiment, available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The CPUs of each application; an empty tuple lets the system decide."""
    owned = {host.name: host.cpus for host in experiment.hosts if host.cpus}
    elsewhere = {host.name for host in experiment.hosts if host.kind is HostKind.SSH} - owned.keys()
    reserved = {cpu for cpus in owned.values() for cpu in cpus}
    left = [cpu for cpu in available if cpu not in reserved] or available
    groups = {host: _on(host, experiment) for host in owned}
    rule = experiment.conditions.cpus
    shares = {name: cpus for host, group in groups.items() for name, cpus in _share(group, rule, owned[host]).items()}
    shares |= {application.name: () for host in elsewhere for application in _on(host, experiment)}
    free = [application for application in experiment.applications if application.name not in shares]
    shares |= _share(free, rule, left, whole=())
    return {application.name: shares[application.name] for application in experiment.applications}


def service_cpus(experiment: Experiment, host: str, shares: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The CPUs of a service on a host: those of the host's applications together, unless the suite lists others.

    An empty tuple lets the system decide, as it does where any of these applications may run anywhere.
    """
    host_cpus = experiment.host(host).cpus
    listed = experiment.conditions.cpus.services
    if listed and not host_cpus:
        return listed
    beside = [shares[application.name] for application in _on(host, experiment)]
    if not beside:
        return host_cpus
    return tuple(sorted({cpu for cpus in beside for cpu in cpus})) if all(beside) else ()


def meeting_cpus(experiment: Experiment, available: Sequence[int]) -> tuple[int, int] | None:
    """The first two CPUs of this machine on which applications meet; None where all of them are on one."""
    shares = share_cpus(experiment, available)
    kinds = {host.name: host.kind for host in experiment.hosts}
    here = [application.name for application in experiment.applications if kinds[application.host] is not HostKind.SSH]
    owned = [shares[name] or tuple(available) for name in here]
    in_order = tuple(dict.fromkeys([*(cpus[0] for cpus in owned), *(cpu for cpus in owned for cpu in cpus)]))
    return (in_order[0], in_order[1]) if len(in_order) > 1 else None


def loaded_hosts(experiment: Experiment) -> tuple[str, ...]:
    """The hosts on which the condition `cpu_load` has work done beside the applications."""
    requested = experiment.conditions.cpu_load
    if requested is None:
        return ()
    if requested.hosts is LoadedHosts.ALL:
        return tuple(host.name for host in experiment.hosts)
    publish = requested.hosts is LoadedHosts.PUBLISHERS
    loaded = [application.host for application in experiment.applications if application.publishes is publish]
    return tuple(dict.fromkeys(loaded))


def _on(host: str, experiment: Experiment) -> list[Application]:
    return [application for application in experiment.applications if application.host == host]


def _share(
    applications: Sequence[Application], cpus: Cpus, available: Sequence[int], whole: tuple[int, ...] | None = None
) -> dict[str, tuple[int, ...]]:
    """The CPUs of applications that share some; `whole` is what the rule `any` leaves them, by default all of those."""
    if cpus.rule is CpuRule.SPREAD:
        return _spread(applications, available)
    if cpus.rule is CpuRule.EXPLICIT:
        return {
            application.name: cpus.publishers if application.publishes else cpus.subscribers
            for application in applications
        }
    one_for_all = (available[-1],) if cpus.rule is CpuRule.SAME_CORE else tuple(available) if whole is None else whole
    return {application.name: one_for_all for application in applications}


def _spread(applications: Sequence[Application], available: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Equal shares that don't overlap; where there are more applications than CPUs, they take turns."""
    count = len(applications)
    if count > len(available):
        turns = cycle((cpu,) for cpu in available)
        return {application.name: cpus for application, cpus in zip(applications, turns, strict=False)}
    share = len(available) // count if count else 0
    parts = (tuple(available[index * share :][:share]) for index in range(count))
    return {application.name: cpus for application, cpus in zip(applications, parts, strict=True)}
