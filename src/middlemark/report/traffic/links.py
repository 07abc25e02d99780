"""The links of a setting: what was asked of each, what made it so, and what the probe measured before and after.

It says and judges nothing of its own: a link that is not what was asked for says so in the probe's own words. What lies
between machines, `routes` tells.

The routes of a setting: what is declared of each, and what the probe measured before and after the trials.

A route is not made but found; links that are made have their table in `links`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.experiment.conditions import ProbedLink, Spread, probed_links
from middlemark.plan.network import STANDARD_MTU_BYTES, Direction, Link, joined
from middlemark.report.elements.formatting import ABSENT, MEGABITS_ON_WIRE_PER_S, MILLISECONDS, PERCENT, Unit
from middlemark.report.elements.tables import Table
from middlemark.suite import HostKind
from middlemark.suite.topology.impairment import SHARES
from middlemark.suite.yaml.quantity import BIT_RATE, DURATION, SHARE, SIZE

MEASURED: tuple[tuple[str, str, Unit], ...] = (
    ("round trip, ms", "round_trip_median_ns", MILLISECONDS),
    ("round trip spread, ms", "round_trip_spread_ns", MILLISECONDS),
    ("outgoing loss, %", "outgoing_loss_share", PERCENT),
    ("incoming loss, %", "incoming_loss_share", PERCENT),
    ("outgoing duplicated, %", "outgoing_duplicated_share", PERCENT),
    ("incoming duplicated, %", "incoming_duplicated_share", PERCENT),
    ("outgoing overtaking, %", "outgoing_overtaking_share", PERCENT),
    ("incoming overtaking, %", "incoming_overtaking_share", PERCENT),
    ("outgoing rate, Mbit/s", "outgoing_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
    ("incoming rate, Mbit/s", "incoming_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
    ("outgoing relay late, ms", "outgoing_relay_late_p99_ns", MILLISECONDS),
    ("incoming relay late, ms", "incoming_relay_late_p99_ns", MILLISECONDS),
)
"""Of the recorded figures those that tell whether a link is what was asked for."""
ONLY_WHERE_ASKED = {"spread_ns": "jitter_ns", "duplicated_share": "duplication", "overtaking_share": "reordering"}
"""By the end of a figure's name, what has to be asked of a link for its column to stand there."""
CAPTION = (
    "Outgoing is from the host to the network, incoming the other way. The probe measures before and after each "
    "trial; medians of all middlewares' trials, with the least and the most. Spread: from the least round trip to "
    "that which 90 % are not above. Overtaking: frames that came before one sent earlier. Relay late: how long after "
    "its instant it let a frame go, for 99 % of the trial's frames. Links that are plain and without a problem are "
    "left out."
)


def link_table(comparison: Comparison) -> Table | None:
    """Every link that something is asked of or is wrong with; None where there is none."""
    records = [record for each in comparison.experiments for record in each.records]
    probed = probed_links(records)
    made_here = {host.name for host in comparison.experiments[0].experiment.hosts if host.kind is HostKind.NETNS}
    links = [
        link
        for link in comparison.experiments[0].experiment.links
        if link.host in made_here
        if not link.is_plain or any(each.problems for each in _of(probed, link))
    ]
    if not links:
        return None
    known = {name for link in links for each in _of(probed, link) for name, found in each.figures if found}
    columns = [column for column in MEASURED if column[1] in known and _is_told(column[1], links)]
    rows: list[tuple[str, ...]] = []
    for link in links:
        own = _of(probed, link)
        asked = link_words(link)
        if not own:
            rows.append((_name(link), asked, ABSENT, "not measured", *(ABSENT for _ in columns), ABSENT))
        for each in own:
            figures = dict(each.figures)
            cells = (spread_words(figures.get(name), unit) for _, name, unit in columns)
            rows.append(
                (_name(link), asked, " / ".join(each.backends), each.when, *cells, "; ".join(each.problems) or "none")
            )
    headings = ("link", "asked", "made by", "measured", *(heading for heading, _, _ in columns), "problem")
    return Table("Links", headings, tuple(rows), CAPTION)


def link_lines(comparison: Comparison) -> tuple[str, ...]:
    """The table for a narrow place: one line where all links are as asked, else one a link and measurement."""
    table = link_table(comparison)
    if table is None:
        return ()
    if _are_as_asked(table):
        made = " / ".join(dict.fromkeys(row[2] for row in table.rows))
        asked = "; ".join(f"{name}: {words}" for name, words in {row[0]: row[1] for row in table.rows}.items())
        return (f"links as asked, before and after each trial: {asked} (by {made})",)
    lines = []
    for name, asked, made_by, when, *cells in table.rows:
        figures = zip(table.headings[4:], cells, strict=True)
        told = [_told(heading, figure) for heading, figure in figures if figure not in {ABSENT, "none"}]
        made = "" if made_by == ABSENT else f", made by {made_by}"
        lines.append(f"{name}, asked {asked}{made}; {when}{': ' if told else ''}{', '.join(told)}")
    return tuple(lines)


def _is_told(figure: str, links: Sequence[Link]) -> bool:
    wanted = next((asked for end, asked in ONLY_WHERE_ASKED.items() if figure.endswith(end)), None)
    return wanted is None or any(getattr(way, wanted) for link in links for way in _ways(link))


def _ways(link: Link) -> list[Direction]:
    """Both directions at all its instants."""
    return [link.outgoing, link.incoming, *(way for point in link.trace for way in (point.outgoing, point.incoming))]


def _are_as_asked(table: Table) -> bool:
    """Whether every link was measured and the probe found nothing wrong with any."""
    return all(row[2] != ABSENT and row[-1] == "none" for row in table.rows)


def _told(heading: str, figure: str) -> str:
    words, _, unit = heading.partition(", ")
    return f"{words} {figure} {unit}".strip()


def link_words(link: Link) -> str:
    """What is asked of a link: `1 Gbit/s, delay 10 ms ± 2 ms`."""
    if link.mobility is not None:
        return str(link.mobility)
    if link.trace:
        return _trace_words(link)
    outgoing, incoming = direction_words(link.outgoing), direction_words(link.incoming)
    each = [f"outgoing: {outgoing or 'plain'}", f"incoming: {incoming or 'plain'}"]
    both = [outgoing] if outgoing == incoming else each
    mtu = [] if link.mtu_bytes == STANDARD_MTU_BYTES else [f"MTU {SIZE.text(link.mtu_bytes)}"]
    return "; ".join(word for word in [*both, *mtu] if word) or "plain"


def direction_words(asked: Direction) -> str:
    """What is asked of one direction; empty where nothing is."""
    words = [] if asked.rate_bits_per_s is None else [BIT_RATE.text(asked.rate_bits_per_s)]
    words += [] if asked.queue_frames is None else [f"queue of {asked.queue_frames} frames"]
    if asked.delay_ns or asked.jitter_ns:
        jitter = f" ± {DURATION.text(asked.jitter_ns)}" if asked.jitter_ns else ""
        words.append(f"delay {DURATION.text(asked.delay_ns)}{jitter}")
    shares = {effect.name: getattr(asked, effect.field) for effect in SHARES}
    return ", ".join([*words, *(f"{name} {SHARE.text(share)}" for name, share in shares.items() if share)])


def _trace_words(link: Link) -> str:
    directions = [way for point in link.trace for way in (point.outgoing, point.incoming)]
    words = [
        _range("delay", [way.delay_ns for way in directions], DURATION.text),
        _range("loss", [way.loss for way in directions], SHARE.text),
        _range("", [way.rate_bits_per_s for way in directions if way.rate_bits_per_s is not None], BIT_RATE.text),
    ]
    return f"a trace of {len(link.trace)} points: {', '.join(word for word in words if word) or 'plain'}"


def _range(name: str, values: Sequence[float], write: Callable[[float], str]) -> str:
    if not any(values):
        return ""
    low, high = min(values), max(values)
    span = write(low) if low == high else f"{write(low)} to {write(high)}"
    return f"{name} {span}".strip()


def _of(probed: Sequence[ProbedLink], link: Link) -> list[ProbedLink]:
    return [each for each in probed if (each.host, each.network, each.to) == (link.host, link.network, None)]


def _name(link: Link) -> str:
    return f"{link.host} – {link.network}"


def spread_words(found: Spread | None, unit: Unit) -> str:
    """The median, with the least and the most where they differ from it."""
    if found is None:
        return ABSENT
    median, low, high = (unit.write(value) for value in (found.median, found.least, found.most))
    return median if low == high else f"{median} ({low}{ABSENT}{high})"


ROUTE_MEASURED: tuple[tuple[str, str, Unit], ...] = (
    ("round trip, ms", "round_trip_median_ns", MILLISECONDS),
    ("90 % within, ms", "round_trip_p90_ns", MILLISECONDS),
    ("longest, ms", "round_trip_max_ns", MILLISECONDS),
    ("outgoing loss, %", "outgoing_loss_share", PERCENT),
    ("incoming loss, %", "incoming_loss_share", PERCENT),
    ("outgoing rate, Mbit/s", "outgoing_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
    ("incoming rate, Mbit/s", "incoming_rate_bits_per_s", MEGABITS_ON_WIRE_PER_S),
)
ROUTE_CAPTION = (
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
    return Table(
        "Routes",
        ("route", "declared", "measured", *(name for name, _, _ in ROUTE_MEASURED)),
        tuple(rows),
        ROUTE_CAPTION,
    )


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
    return tuple(spread_words(figures.get(name), unit) for _, name, unit in ROUTE_MEASURED)
