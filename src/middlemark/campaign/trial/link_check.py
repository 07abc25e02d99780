"""What a trial's links and routes are like before it and after it, as records, and whether they are what was asked.

The probes measure and `verdict` judges; here both become figures under their names. What a wrong link makes of the
trial is `account`'s to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from middlemark.campaign.trial.environment import TrialEnvironment
from middlemark.errors import EnvironmentNotReady, InternalError
from middlemark.plan import Event
from middlemark.results.record import LinkMeasured
from middlemark.suite import Action
from middlemark.testbed.network.shaping import Report
from middlemark.testbed.probe.probe import Found, Measured, asked_now, probe, probe_route
from middlemark.testbed.probe.verify import link_verdict, route_verdict
from middlemark.testbed.testbed import Route, Testbed

PROBES = 3
"""At most for a link, before a trial and after it."""
NOT_SHAPED = "nothing: it is as it is"
When = Literal["before", "after"]
Figures = dict[str, float | int | None]


async def measured(setting: TrialEnvironment, when: When) -> tuple[LinkMeasured, ...]:
    """Every link and every route of the trial's test-bed, one after the other; none where all is on this machine."""
    testbed = setting.testbed
    of_routes = await asyncio.to_thread(lambda: tuple(_route(route, testbed, when) for route in testbed.routes))
    found = await asyncio.to_thread(_found, testbed)
    reports = testbed.relay_reports() if when == "after" else {}
    backends = testbed.links
    of_links = tuple(
        LinkMeasured(
            host=name.partition("/")[0],
            network=name.partition("/")[2],
            when=when,
            backend=backends[name],
            figures={"probes": each.probes} | _figures(each.measured) | _of_relay(reports.get(name)),
            problem=each.problem,
        )
        for name, each in found.items()
    )
    return of_links + of_routes


@dataclass(frozen=True)
class _Probed:
    """What the last of so many probes found, and what is wrong with it."""

    measured: Measured
    problem: str | None
    probes: int


def _found(testbed: Testbed) -> dict[str, _Probed]:
    """Probes each link, and again one that was not as asked: a busy instant of the machine disturbs probes, too."""
    found: dict[str, _Probed] = {}
    wrong = None
    for number in range(1, PROBES + 1):
        found |= {
            name: _Probed(each, link_verdict(asked_now(testbed, name), each), number)
            for name, each in probe(testbed, wrong).items()
        }
        wrong = [name for name, each in found.items() if each.problem]
        if not wrong:
            break
    return found


def _route(route: Route, testbed: Testbed, when: When) -> LinkMeasured:
    """Probes it, and again where it is not as declared; not where nothing comes through, nor where no probe runs."""
    if testbed.ledger is None:
        raise InternalError("a test-bed with routes has a ledger")
    figures: Figures = {}
    problem: str | None = None
    for number in range(1, PROBES + 1):
        try:
            measured = probe_route(route, testbed.ledger)
        except EnvironmentNotReady as lacking:
            figures, problem = {"probes": number}, "; ".join(lacking.missing.splitlines())
            break
        figures = {"probes": number} | _figures(measured)
        problem = route_verdict(route.declared, measured)
        if problem is None or not measured.reachable:
            break
    return LinkMeasured(
        host=route.host.name,
        network=route.network,
        to=route.to.name,
        when=when,
        backend=NOT_SHAPED,
        figures=figures,
        problem=problem,
    )


def mend(setting: TrialEnvironment, timeline: Sequence[Event]) -> None:
    """Has links be again what a timeline may have cut, and ends their traces, so that what they are can be measured."""
    setting.testbed.finish_traces()
    for event in timeline:
        match event.action:
            case Action.LINK_DOWN:
                setting.testbed.link_up(event.target)
            case Action.PARTITION:
                setting.testbed.heal(event.target)
            case _:
                pass


def _figures(found: Measured) -> Figures:
    trip = found.round_trip
    figures: Figures = {
        "round_trip_median_ns": None if trip is None else trip.p50_ns,
        "round_trip_p90_ns": None if trip is None else trip.p90_ns,
        "round_trip_max_ns": None if trip is None else trip.max_ns,
        "round_trip_spread_ns": None if trip is None else trip.spread_ns,
        "pings": 0 if trip is None else trip.sent,
    }
    return figures | _direction("outgoing", found.outgoing) | _direction("incoming", found.incoming)


def _direction(name: str, found: Found) -> Figures:
    figures: Figures = {}
    if found.loss is not None and found.loss.sent:
        figures[f"{name}_loss_share"] = found.loss.lost / found.loss.sent
        figures[f"{name}_frames"] = found.loss.sent
        figures[f"{name}_duplicates"] = found.loss.duplicates
        figures[f"{name}_duplicated_share"] = found.loss.duplicates / found.loss.sent
        figures[f"{name}_reordered"] = found.loss.reordered
        figures[f"{name}_overtaking_share"] = found.loss.overtaking / max(found.loss.sent - found.loss.lost, 1)
    if found.rate_bits_per_s is not None:
        figures[f"{name}_rate_bits_per_s"] = found.rate_bits_per_s
        figures[f"{name}_offered_bits_per_s"] = found.offered_bits_per_s
    return figures


def _of_relay(report: Report | None) -> Figures:
    """How late the relay was over the trial, beyond the delay that was asked."""
    if report is None:
        return {}
    figures: Figures = {}
    for name, account in (("outgoing", report.outgoing), ("incoming", report.incoming)):
        figures[f"{name}_relay_late_p50_ns"] = account.lateness.p50_ns
        figures[f"{name}_relay_late_p99_ns"] = account.lateness.p99_ns
    return figures
