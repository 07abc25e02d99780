"""The links and routes of a setting: what was requested of each, what made it so, and what the probe measured.

A link is made and a route is found, so that a route has no backend and no problem. Nothing is judged here: a link that
is not what was requested says so in the probe's own words. Links over time are drawn by `link_charts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.conditions import ProbedLink, Spread, probed_links
from middlemark.plan.topology.network import STANDARD_MTU_BYTES, Link, joined
from middlemark.report.elements.formatting import MEGABITS_ON_WIRE_PER_S, MILLISECONDS, PERCENT, Unit
from middlemark.report.elements.tables import (
    NOTHING,
    Cell,
    MetricColumn,
    Row,
    Table,
    metric_columns,
    named,
    sentences,
    table,
)
from middlemark.suite import Direction, HostKind
from middlemark.suite.topology.impairment import EFFECTS, TOLD_BY_NAME, Effect, Probed
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION, SIZE


@dataclass(frozen=True)
class LinkColumn(MetricColumn):
    """A column of what the probe measured."""

    only_with: tuple[str, ...] = ()
    """Fields of a direction of which one has to be requested for the column to stand there."""


def _probed_by(probed: Probed) -> tuple[str, ...]:
    return tuple(effect.field for effect in EFFECTS if effect.probed is probed)


def _both(name: str, metric: str, unit: Unit, only_with: tuple[str, ...] = ()) -> tuple[LinkColumn, ...]:
    """A column for each direction."""
    return tuple(LinkColumn(f"{way} {name}", f"{way}_{metric}", unit, only_with) for way in ("outgoing", "incoming"))


MEASURED = (
    LinkColumn("round trip", "round_trip_median_ns", MILLISECONDS),
    LinkColumn("round trip spread", "round_trip_spread_ns", MILLISECONDS, only_with=("jitter_ns",)),
    *_both("loss", "loss_share", PERCENT),
    *_both("duplicated", "duplicated_share", PERCENT, only_with=_probed_by(Probed.DUPLICATES)),
    *_both("overtaking", "overtaking_share", PERCENT, only_with=_probed_by(Probed.OVERTAKING)),
    *_both("rate", "rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
    *_both("relay late", "relay_late_p99_ns", MILLISECONDS),
)
"""Of the recorded metrics those that show whether a link is what was requested."""
CAPTION = (
    "Outgoing: from the host to the network; incoming: from the network to the host. The probe measures before and "
    "after each trial; medians of all middlewares' trials, with minimum and maximum. Spread: from the shortest round "
    "trip to the 90th percentile. Overtaking: frames that arrived before one sent earlier. Relay late: by how much "
    "the relay released frames too late, 99th percentile of a trial. Plain links without a problem are left out."
)


@dataclass(frozen=True)
class Measurement:
    """One link or route as the probe measured it before or after the trials; a link that was not measured has none."""

    name: str
    requested: str
    probed: ProbedLink | None
    link: Link | None = None
    """None of a route."""

    def metrics(self, columns: Sequence[MetricColumn]) -> tuple[Cell, ...]:
        """A cell for each column."""
        spreads = dict(self.probed.figures) if self.probed else {}
        return tuple(spread_cell(spreads.get(column.metric), column.unit) for column in columns)

    def words(self, columns: Sequence[MetricColumn]) -> str:
        """What was measured in one line: `round trip 4.7 (4.5–5.0) ms, …`."""
        cells = zip(columns, self.metrics(columns), strict=True)
        return ", ".join(
            f"{column.name} {cell.line} {column.unit.name}" for column, cell in cells if not cell.is_missing
        )

    @property
    def backends(self) -> str:
        """What made the link so; empty where it was not measured."""
        return " / ".join(self.probed.backends) if self.probed else ""

    @property
    def problems(self) -> str:
        """What the probe found wrong; empty where nothing."""
        return "; ".join(self.probed.problems) if self.probed else ""


def link_table(comparison: Comparison) -> Table | None:
    """Every link that something is requested of or is wrong with; None where there is none."""
    measured = _measured_links(comparison)
    if not measured:
        return None
    columns = _columns(measured)
    rows: list[Row] = [
        (
            measurement.name,
            measurement.requested,
            measurement.backends or NOTHING,
            measurement.probed.when if measurement.probed else "not measured",
            *measurement.metrics(columns),
            measurement.problems or ("none" if measurement.probed else NOTHING),
        )
        for measurement in measured
    ]
    names = (*named("link"), sentences("requested"), *named("made by", "measured"))
    return table("Links", (*names, *metric_columns(columns), sentences("problem")), rows, CAPTION)


def link_lines(comparison: Comparison) -> tuple[str, ...]:
    """For a narrow place: one line where all links are as requested, else one a link and measurement."""
    measured = _measured_links(comparison)
    if not measured:
        return ()
    if all(measurement.probed and not measurement.problems for measurement in measured):
        made = " / ".join(dict.fromkeys(measurement.backends for measurement in measured))
        requested = "; ".join(f"{name}: {words}" for name, words in {m.name: m.requested for m in measured}.items())
        return (f"links as requested, before and after each trial: {requested} (made by {made})",)
    columns = _columns(measured)
    return tuple(_link_line(measurement, columns) for measurement in measured)


def _link_line(measurement: Measurement, columns: Sequence[MetricColumn]) -> str:
    when = measurement.probed.when if measurement.probed else "not measured"
    made = f", made by {measurement.backends}" if measurement.backends else ""
    problem = f"problem {measurement.problems}" if measurement.problems else ""
    words = ", ".join(word for word in (measurement.words(columns), problem) if word)
    return f"{measurement.name}, requested {measurement.requested}{made}; {when}{': ' if words else ''}{words}"


def _measured_links(comparison: Comparison) -> list[Measurement]:
    """Of links that this machine made; those that are plain and without a problem are left out."""
    probed = probed_links([record for candidate in comparison.experiments for record in candidate.records])
    experiment = comparison.experiments[0].experiment
    made_here = {host.name for host in experiment.hosts if host.kind is HostKind.NETNS}
    measurements = []
    for link in experiment.links:
        of_link = _of(probed, link)
        if link.host in made_here and (not link.is_plain or any(probed_link.problems for probed_link in of_link)):
            name = f"{link.host} – {link.network}"
            measurements += [
                Measurement(name, link_words(link), probed_link, link)
                for probed_link in (*of_link, *([] if of_link else [None]))
            ]
    return measurements


def _columns(measured: Sequence[Measurement]) -> list[MetricColumn]:
    """Of the recorded metrics those that any of the links has, and that say something of what was requested of it."""
    recorded = {
        name for measurement in measured if measurement.probed for name, spread in measurement.probed.figures if spread
    }
    directions = [
        direction for measurement in measured if measurement.link for direction in _directions(measurement.link)
    ]
    return [
        column
        for column in MEASURED
        if column.metric in recorded
        and (
            not column.only_with
            or any(getattr(direction, field) for direction in directions for field in column.only_with)
        )
    ]


def _directions(link: Link) -> list[Direction]:
    """Both directions at all its instants."""
    return [
        link.outgoing,
        link.incoming,
        *(direction for point in link.trace for direction in (point.outgoing, point.incoming)),
    ]


def link_words(link: Link) -> str:
    """What is requested of a link: `1 Gbit/s, delay 10 ms ± 2 ms`."""
    if link.mobility is not None:
        return str(link.mobility)
    if link.trace:
        return _trace_words(link)
    outgoing, incoming = direction_words(link.outgoing), direction_words(link.incoming)
    directions = [f"outgoing: {outgoing or 'plain'}", f"incoming: {incoming or 'plain'}"]
    words = [outgoing] if outgoing == incoming else directions
    mtu = [] if link.mtu_bytes == STANDARD_MTU_BYTES else [f"MTU {SIZE.text(link.mtu_bytes)}"]
    return "; ".join(word for word in [*words, *mtu] if word) or "plain"


def direction_words(requested: Direction) -> str:
    """What is requested of one direction; empty where nothing is."""
    words = [] if requested.rate_bits_per_s is None else [BIT_RATE.text(requested.rate_bits_per_s)]
    words += [] if requested.queue_frames is None else [f"queue of {requested.queue_frames} frames"]
    if requested.delay_ns or requested.jitter_ns:
        jitter = f" ± {DURATION.text(requested.jitter_ns)}" if requested.jitter_ns else ""
        words.append(f"delay {DURATION.text(requested.delay_ns)}{jitter}")
    others = [(effect, getattr(requested, effect.field)) for effect in TOLD_BY_NAME]
    return ", ".join([*words, *(f"{effect.name} {effect.text(value)}" for effect, value in others if value)])


def _trace_words(link: Link) -> str:
    directions = [direction for point in link.trace for direction in (point.outgoing, point.incoming)]
    words = [_range(effect, [getattr(direction, effect.field) for direction in directions]) for effect in EFFECTS]
    return f"a trace of {len(link.trace)} points: {', '.join(word for word in words if word) or 'plain'}"


def _range(effect: Effect, values: Sequence[float | None]) -> str:
    requested = [value for value in values if value is not None]
    if not any(requested):
        return ""
    low, high = min(requested), max(requested)
    span = effect.text(low) if low == high else f"{effect.text(low)} to {effect.text(high)}"
    return f"{effect.name} {span}"


def _of(probed: Sequence[ProbedLink], link: Link) -> list[ProbedLink]:
    return [
        probed_link
        for probed_link in probed
        if (probed_link.host, probed_link.network, probed_link.to) == (link.host, link.network, None)
    ]


def spread_cell(spread: Spread | None, unit: Unit) -> Cell:
    """The median, with the least and the most where they differ from it."""
    return NOTHING if spread is None else Cell(spread.median, unit, spread.least, spread.most)


ROUTE_MEASURED = (
    MetricColumn("round trip", "round_trip_median_ns", MILLISECONDS),
    MetricColumn("90 % within", "round_trip_p90_ns", MILLISECONDS),
    MetricColumn("longest", "round_trip_max_ns", MILLISECONDS),
    *_both("loss", "loss_share", PERCENT),
    *_both("rate", "rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
)
ROUTE_CAPTION = (
    "Between two hosts of which at least one is another machine, over the links of both; outgoing is from the first "
    "to the second. Such links are not shaped: the probe measures them before and after each trial, and compares with "
    "what is declared. Medians of all middlewares' trials, with minimum and maximum. The rate can't be higher than "
    "what the sender can send: where the network is faster than the machines, it is the rate of the machines."
)


def route_table(comparison: Comparison) -> Table | None:
    """Every route that was measured; None where there is none."""
    routes = _measured_routes(comparison)
    if not routes:
        return None
    rows: list[Row] = [
        (route.name, route.requested, route.probed.when, *route.metrics(ROUTE_MEASURED))
        for route in routes
        if route.probed
    ]
    columns = (*named("route"), sentences("declared"), *named("measured"), *metric_columns(ROUTE_MEASURED))
    return table("Routes", columns, rows, ROUTE_CAPTION)


def route_lines(comparison: Comparison) -> tuple[str, ...]:
    """The table for a narrow place: a line for each route and measurement."""
    return tuple(
        f"route {route.name}, declared {route.requested}; {route.probed.when}: {route.words(ROUTE_MEASURED)}"
        for route in _measured_routes(comparison)
        if route.probed
    )


def _measured_routes(comparison: Comparison) -> list[Measurement]:
    probed = probed_links([record for candidate in comparison.experiments for record in candidate.records])
    links = comparison.experiments[0].experiment.links
    return [Measurement(link.name, _declared(link, links), link) for link in probed if link.to]


def _declared(route: ProbedLink, links: Sequence[Link]) -> str:
    link_of = {link.host: link for link in links if link.network == route.network}
    words = (
        link_words(joined(link_of[route.host], link_of[route.to]))
        if route.to in link_of and route.host in link_of
        else "plain"
    )
    return "nothing" if words == "plain" else words
