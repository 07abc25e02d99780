"""The topologies of a run in a table: hosts with what they may use and what lives on them, networks, and their links.

It draws nothing, and says what was asked for; what links were really like is `links`'.
"""

from __future__ import annotations

from middlemark.analysis.run import RunFindings
from middlemark.plan import Experiment
from middlemark.plan.network import Host
from middlemark.report.display import ABSENT, plural, size
from middlemark.report.links import link_words
from middlemark.report.tables import Table


def topology_table(findings: RunFindings) -> Table:
    """One row for each topology with the same hosts and links."""
    found: dict[tuple[str, str, str], None] = {}
    for each in findings.experiments:
        experiment = each.experiment
        found[experiment.topology, _hosts(experiment), _networks(experiment)] = None
    return Table("Topologies", ("topology", "hosts", "networks and links"), tuple(sorted(found)))


def _hosts(experiment: Experiment) -> str:
    told = []
    for host in experiment.hosts:
        applications = [application.name for application in experiment.applications if application.host == host.name]
        lives = [*applications, *(["the service"] if host.name in experiment.services else [])]
        about = ", ".join([host.kind.value, *_limits(host)])
        told.append(f"{host.name} ({about}): {', '.join(lives) or 'nothing'}")
    return "; ".join(told)


def _limits(host: Host) -> list[str]:
    limits = [f"{plural(len(host.cpus), 'CPU')} {'+'.join(map(str, host.cpus))}"] if host.cpus else []
    limits += [] if host.cpu_quota is None else [f"{100 * host.cpu_quota:g} % of a CPU"]
    limits += [] if host.memory_bytes is None else [size(host.memory_bytes)]
    return [*limits, *([] if host.ssh is None else [f"ssh {host.ssh}"])]


def _networks(experiment: Experiment) -> str:
    """Each network; links that are all alike are told once."""
    told = []
    for network in experiment.networks:
        words = {link.host: link_words(link) for link in experiment.links if link.network == network.name}
        alike = len(set(words.values())) == 1
        links = f"links {next(iter(words.values()))}" if alike else ", ".join(f"{h} {w}" for h, w in words.items())
        told.append(f"{network.name} of {', '.join(network.hosts)}: {links}")
    return "; ".join(told) or ABSENT
