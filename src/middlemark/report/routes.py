"""The routes of a setting: what is declared of each, and what the probe measured before and after the trials.

A route is not made but found; links that are made have their table in `links`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middlemark.analysis.circumstances import ProbedLink, Spread, probed_links
from middlemark.analysis.comparison import Comparison
from middlemark.plan.network import Link, joined
from middlemark.report.display import MEGABITS_ON_WIRE_PER_S, MILLISECONDS, PERCENT, Unit
from middlemark.report.links import link_words, spread_words
from middlemark.report.tables import Table

MEASURED: tuple[tuple[str, str, Unit], ...] = (
    ("round trip, ms", "round_trip_median_ns", MILLISECONDS),
    ("90 % within, ms", "round_trip_p90_ns", MILLISECONDS),
    ("longest, ms", "round_trip_max_ns", MILLISECONDS),
    ("outgoing loss, %", "outgoing_loss_share", PERCENT),
    ("incoming loss, %", "incoming_loss_share", PERCENT),
    ("outgoing rate, Mbit/s", "outgoing_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
    ("incoming rate, Mbit/s", "incoming_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
)
CAPTION = (
    "Between two hosts of which one at least is another machine, over the links of both; outgoing is from the first to "
    "the second. Nothing is made of such links: the probe measures them before and after each trial, and what is "
    "declared is judged. Medians of all middlewares' trials, with the least and the most. The rate is of what the "
    "sender could put out: where the network is faster than the machines, it is theirs."
)


def route_table(comparison: Comparison) -> Table | None:
    """Every route that was measured; None where there is none."""
    probed = [
        each for each in probed_links([record for each in comparison.experiments for record in each.records]) if each.to
    ]
    if not probed:
        return None
    links = comparison.experiments[0].experiment.links
    rows = [(each.name, _declared(each, links), each.when, *_cells(dict(each.figures))) for each in probed]
    return Table("Routes", ("route", "declared", "measured", *(name for name, _, _ in MEASURED)), tuple(rows), CAPTION)


def route_lines(comparison: Comparison) -> tuple[str, ...]:
    """The table for a narrow place: a line for each route and measurement."""
    table = route_table(comparison)
    if table is None:
        return ()
    lines = []
    for name, declared, when, *cells in table.rows:
        told = ", ".join(
            f"{heading.partition(', ')[0]} {cell} {heading.partition(', ')[2]}"
            for heading, cell in zip(table.headings[3:], cells, strict=True)
        )
        lines.append(f"route {name}, declared {declared}; {when}: {told}")
    return tuple(lines)


def _declared(route: ProbedLink, links: Sequence[Link]) -> str:
    own = {link.host: link for link in links if link.network == route.network}
    words = link_words(joined(own[route.host], own[route.to])) if route.to in own and route.host in own else "plain"
    return "nothing" if words == "plain" else words


def _cells(figures: Mapping[str, Spread | None]) -> tuple[str, ...]:
    return tuple(spread_words(figures.get(name), unit) for _, name, unit in MEASURED)
