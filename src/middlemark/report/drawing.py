"""The drawing of an experiment's topology, ready to stand in a page: made from what is stored of the experiment alone.

`topology_svg` draws; here the plan's plain figures become a topology again. Links that change over time stand there
without figures, which `links` has in words.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from middlemark.plan import Experiment
from middlemark.plan.network import STANDARD_MTU_BYTES, Direction, Link
from middlemark.report.topology_svg import svg
from middlemark.suite.impairment import Impairment
from middlemark.suite.topology import Application, Host, Network, Topology
from middlemark.suite.topology import Link as TopologyLink


def drawing(experiment: Experiment) -> str | None:
    """An address with the drawing in it; None where there is no network to draw."""
    if not experiment.networks:
        return None
    return "data:image/svg+xml;base64," + base64.b64encode(svg(topology_of(experiment)).encode()).decode()


def topology_of(experiment: Experiment) -> Topology:
    """The topology of an experiment."""
    return Topology(
        name=experiment.topology,
        hosts=tuple(
            Host.model_construct(
                name=host.name,
                kind=host.kind,
                cpus=host.cpus,
                cpu_quota=None if host.cpu_quota is None else 100 * host.cpu_quota,
                memory=host.memory_bytes,
                ssh=host.ssh,
            )
            for host in experiment.hosts
        ),
        networks=tuple(Network(name=network.name, hosts=network.hosts) for network in experiment.networks),
        links=tuple(_link(link) for link in experiment.links),
        applications=tuple(
            Application(name=each.name, host=each.host, roles=tuple(endpoint.role for endpoint in each.endpoints))
            for each in experiment.applications
        ),
        services=experiment.services,
    )


def _link(link: Link) -> TopologyLink:
    settings: dict[str, Any] = {"host": link.host, "network": link.network, "mobility": link.mobility}
    if link.mtu_bytes != STANDARD_MTU_BYTES:
        settings["mtu"] = link.mtu_bytes
    if not link.trace and link.mobility is None:
        alike = link.outgoing == link.incoming
        ways = {"outgoing": link.outgoing, "incoming": link.incoming}
        settings |= _figures(link.outgoing) if alike else {name: _way(way) for name, way in ways.items()}
    return TopologyLink.model_construct(**settings)


def _way(direction: Direction) -> Impairment | None:
    return None if direction.is_plain else Impairment.model_construct(**_figures(direction))


def _figures(direction: Direction) -> Mapping[str, Any]:
    """What is asked for, in the suite's units: shares in percent."""
    shares = {name: getattr(direction, name) for name in ("loss", "duplication", "reordering", "corruption")}
    found = {
        "rate": direction.rate_bits_per_s,
        "queue": direction.queue_frames,
        "delay": direction.delay_ns or None,
        "jitter": direction.jitter_ns or None,
        **{name: float(f"{100 * share:.6g}") if share else None for name, share in shares.items()},
    }
    return {name: value for name, value in found.items() if value is not None}
