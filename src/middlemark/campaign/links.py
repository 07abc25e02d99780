"""What a trial's links are like before it and after it, as records, and whether they are what was asked.

The probe measures and `verdict` judges; here both become figures under their names. What a wrong link makes of the
trial is `account`'s to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from middlemark.analysis.record import LinkMeasured
from middlemark.campaign.place import Setting
from middlemark.plan import Event
from middlemark.suite import Action
from middlemark.testbed.link.relay import Report
from middlemark.testbed.probe import Found, Measured, asked_now, probe
from middlemark.testbed.verdict import verdict

When = Literal["before", "after"]
Figures = dict[str, float | int | None]


async def measured(setting: Setting, when: When) -> tuple[LinkMeasured, ...]:
    """Every link of the trial's test-bed, one after the other; none where its hosts are this machine's."""
    testbed = setting.testbed
    found = await asyncio.to_thread(probe, testbed)
    reports = testbed.relay_reports() if when == "after" else {}
    backends = testbed.links
    return tuple(
        LinkMeasured(
            host=name.partition("/")[0],
            network=name.partition("/")[2],
            when=when,
            backend=backends[name],
            figures=_figures(each) | _of_relay(reports.get(name)),
            problem=verdict(asked_now(testbed, name), each),
        )
        for name, each in found.items()
    )


def mend(setting: Setting, timeline: Sequence[Event]) -> None:
    """Takes up the links that a timeline has left down, so that what they are can be measured."""
    down = {}
    for event in timeline:
        if event.action in (Action.LINK_DOWN, Action.LINK_UP):
            down[event.target] = event.action is Action.LINK_DOWN
    for target, is_down in down.items():
        if is_down:
            setting.testbed.link_up(target)


def _figures(found: Measured) -> Figures:
    trip = found.round_trip
    figures: Figures = {
        "round_trip_median_ns": None if trip is None else trip.p50_ns,
        "round_trip_p90_ns": None if trip is None else trip.p90_ns,
        "round_trip_max_ns": None if trip is None else trip.max_ns,
        "pings": 0 if trip is None else trip.sent,
    }
    return figures | _direction("outgoing", found.outgoing) | _direction("incoming", found.incoming)


def _direction(name: str, found: Found) -> Figures:
    figures: Figures = {}
    if found.loss is not None and found.loss.sent:
        figures[f"{name}_loss_share"] = found.loss.lost / found.loss.sent
        figures[f"{name}_frames"] = found.loss.sent
        figures[f"{name}_duplicates"] = found.loss.duplicates
        figures[f"{name}_reordered"] = found.loss.reordered
    if found.rate_bits_per_s is not None:
        figures[f"{name}_rate_bits_per_s"] = found.rate_bits_per_s
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
