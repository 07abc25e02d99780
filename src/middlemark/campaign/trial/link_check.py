"""Measures a trial's links and routes before and after it, and records whether they are as requested.

`testbed.network` measures and compares; this module names the metrics. `validity` decides what a wrong link means for
the trial; that the kernel had no room for the neighbours of its hosts ends it here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.campaign.trial.events import TrialOver
from middlemark.campaign.trial.validity import unlike
from middlemark.errors import EnvironmentUnusable, InternalError
from middlemark.plan import Invalid, InvalidKind, InvalidReason, PlannedFault
from middlemark.results.record import LinkMeasured
from middlemark.testbed.network.neighbours import times_full
from middlemark.testbed.network.probe import DirectionMeasured, Measured, probe, probe_route, requested_now
from middlemark.testbed.network.shaping import RelayReport
from middlemark.testbed.network.verify import link_verdict, route_verdict
from middlemark.testbed.testbed import Route, Testbed

PROBES = 3
"""At most for a link, before a trial and after it."""
NOT_SHAPED = "nothing: it is as it is"
When = Literal["before", "after"]
ProbeMetrics = dict[str, float | int | None]


async def probed_links(environment: TrialEnvironment, when: When) -> tuple[LinkMeasured, ...]:
    """Every link and every route of the trial's test-bed, one after the other; none where all is on this machine."""
    testbed = environment.testbed
    of_routes = await asyncio.to_thread(lambda: tuple(_route(route, testbed, when) for route in testbed.routes))
    probed = await asyncio.to_thread(_probed_links, testbed)
    reports = testbed.relay_reports() if when == "after" else {}
    backends = testbed.links
    of_links = tuple(
        LinkMeasured(
            host=name.partition("/")[0],
            network=name.partition("/")[2],
            when=when,
            backend=backends[name],
            figures={"probes": link.probes} | _metrics(link.measured) | _of_relay(reports.get(name)),
            problem=link.problem,
        )
        for name, link in probed.items()
    )
    return of_links + of_routes


@dataclass(frozen=True)
class _Probed:
    """What the last of so many probes found, and what is wrong with it."""

    measured: Measured
    problem: str | None
    probes: int


def _probed_links(testbed: Testbed) -> dict[str, _Probed]:
    """Probes each link, and again one that was not as requested: a busy instant of the machine disturbs probes, too."""
    probed: dict[str, _Probed] = {}
    wrong = None
    for number in range(1, PROBES + 1):
        probed |= {
            name: _Probed(measured, link_verdict(requested_now(testbed, name), measured), number)
            for name, measured in probe(testbed, wrong).items()
        }
        wrong = [name for name, link in probed.items() if link.problem]
        if not wrong:
            break
    return probed


def _route(route: Route, testbed: Testbed, when: When) -> LinkMeasured:
    """Probes it, and again where it is not as declared; not where no reply arrives, nor where no probe runs."""
    if testbed.ledger is None:
        raise InternalError("a test-bed with routes has a ledger")
    metrics: ProbeMetrics = {}
    problem: str | None = None
    for number in range(1, PROBES + 1):
        try:
            measured = probe_route(route, testbed.ledger)
        except EnvironmentUnusable as lacking:
            metrics, problem = {"probes": number}, "; ".join(lacking.missing.splitlines())
            break
        metrics = {"probes": number} | _metrics(measured)
        problem = route_verdict(route.declared, measured)
        if problem is None or not measured.reachable:
            break
    return LinkMeasured(
        host=route.host.name,
        network=route.network,
        to=route.to.name,
        when=when,
        backend=NOT_SHAPED,
        figures=metrics,
        problem=problem,
    )


def check_alive(links: Sequence[LinkMeasured]) -> None:
    """Where no reply comes over a link, no trial is run over it."""
    dead = unlike(link for link in links if link.is_dead)
    if dead:
        raise TrialOver(Invalid(reasons=dead))


@contextmanager
def invalid_where_neighbours_had_no_room(testbed: Testbed) -> Iterator[None]:
    """A trial whose packets had no neighbour says nothing of its middleware, however it ends."""
    before = times_full()
    try:
        yield
    except TrialOver as over:
        _check_neighbours(testbed, before, over)
        raise
    _check_neighbours(testbed, before)


def _check_neighbours(testbed: Testbed, before: int, over: TrialOver | None = None) -> None:
    times = times_full() - before
    if times and testbed.wiring is not None:
        text = (
            f"the kernel's table of neighbours (ARP), which all hosts of the machine share, had no room {times} times: "
            "raise net.ipv4.neigh.default.gc_thresh2 and gc_thresh3"
        )
        raise TrialOver(Invalid(reasons=(InvalidReason(kind=InvalidKind.LINK, text=text),))) from over


def mend(environment: TrialEnvironment, timeline: Sequence[PlannedFault]) -> None:
    """Repairs links that a timeline may have left cut, and ends their traces, so that links can be measured."""
    environment.testbed.finish_traces()
    for event in timeline:
        if event.action.undone_by:
            environment.testbed.perform(event.action.undone_by, event.target)


def _metrics(measured: Measured) -> ProbeMetrics:
    trip = measured.round_trip
    metrics: ProbeMetrics = {
        "round_trip_median_ns": None if trip is None else trip.p50_ns,
        "round_trip_p90_ns": None if trip is None else trip.p90_ns,
        "round_trip_max_ns": None if trip is None else trip.max_ns,
        "round_trip_spread_ns": None if trip is None else trip.spread_ns,
        "pings": 0 if trip is None else trip.sent,
    }
    return metrics | _direction("outgoing", measured.outgoing) | _direction("incoming", measured.incoming)


def _direction(name: str, measured: DirectionMeasured) -> ProbeMetrics:
    metrics: ProbeMetrics = {}
    if measured.loss is not None and measured.loss.sent:
        metrics[f"{name}_loss_share"] = measured.loss.lost / measured.loss.sent
        metrics[f"{name}_frames"] = measured.loss.sent
        metrics[f"{name}_duplicates"] = measured.loss.duplicates
        metrics[f"{name}_duplicated_share"] = measured.loss.duplicates / measured.loss.sent
        metrics[f"{name}_reordered"] = measured.loss.reordered
        metrics[f"{name}_overtaking_share"] = measured.loss.overtaking / max(measured.loss.sent - measured.loss.lost, 1)
    if measured.rate_bits_per_s is not None:
        metrics[f"{name}_rate_bits_per_s"] = measured.rate_bits_per_s
        metrics[f"{name}_offered_bits_per_s"] = measured.offered_bits_per_s
    return metrics


def _of_relay(report: RelayReport | None) -> ProbeMetrics:
    """How late the relay was over the trial, beyond the delay that was requested."""
    if report is None:
        return {}
    metrics: ProbeMetrics = {}
    for name, lateness in (("outgoing", report.outgoing), ("incoming", report.incoming)):
        metrics[f"{name}_relay_late_p50_ns"] = lateness.p50_ns
        metrics[f"{name}_relay_late_p99_ns"] = lateness.p99_ns
    return metrics
