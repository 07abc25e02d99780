"""A topology laid out in rows and lanes, and drawn as an SVG that follows the reader's light or dark.

Topologies are stars and chains of a few hosts, so the order of the hosts always does; no row has two links. The shapes
stand in `templates/topology.svg.j2`, `topology_text` makes characters of the same layout, and links that change over
time are `traffic.links`'.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from middlemark.plan import Experiment
from middlemark.plan.topology.network import STANDARD_MTU_BYTES, Link
from middlemark.suite import Application, Direction, Host, Network, Topology
from middlemark.suite import Link as TopologyLink
from middlemark.suite.topology.impairment import EFFECTS, Impairment


@dataclass(frozen=True)
class Port:
    """Where a link leaves its host."""

    network: str
    row: int
    text: str
    """What the link does; empty where nothing is requested of it."""


@dataclass(frozen=True)
class Box:
    """A host."""

    name: str
    row: int
    """Of its upper edge."""
    about: str
    """What it is made of, and its limits."""
    applications: tuple[str, ...]
    services: tuple[str, ...]
    ports: tuple[Port, ...]

    @property
    def rows(self) -> int:
        """Between its edges."""
        return max(1 + len(self.applications) + len(self.services), len(self.ports))


@dataclass(frozen=True)
class Line:
    """A network: from its first port down to its last."""

    network: str
    lane: int
    """Its place from the left; lines that share one don't meet."""
    first: int
    last: int


@dataclass(frozen=True)
class Drawing:
    """A topology, laid out."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]

    @property
    def rows(self) -> int:
        """Of the whole drawing."""
        return self.boxes[-1].row + self.boxes[-1].rows + 2

    def lane_of(self, network: str) -> int:
        """The lane of a network."""
        return next(line.lane for line in self.lines if line.network == network)

    def names_in(self, lane: int) -> list[str]:
        """The networks that share a lane."""
        return [line.network for line in self.lines if line.lane == lane]

    @property
    def lanes(self) -> int:
        """How many there are."""
        return max((line.lane for line in self.lines), default=-1) + 1


def laid_out(topology: Topology) -> Drawing:
    """The drawing of a topology."""
    loose = [_box(host, topology) for host in topology.hosts]
    tops = accumulate((box.rows + 2 for box in loose[:-1]), initial=0)
    boxes = tuple(_moved(box, top) for box, top in zip(loose, tops, strict=True))
    return Drawing(boxes, _lines([port for box in boxes for port in box.ports]))


def _box(host: Host, topology: Topology) -> Box:
    links = topology.links_under()
    texts = {
        network: "" if link.is_plain else str(link) for (name, network), link in links.items() if name == host.name
    }
    return Box(
        name=host.name,
        row=0,
        about=", ".join(filter(None, [str(host.kind), str(host)])),
        applications=tuple(
            _application(application) for application in topology.applications if application.host == host.name
        ),
        services=("service",) * topology.services.count(host.name),
        ports=tuple(Port(network, index, text) for index, (network, text) in enumerate(texts.items())),
    )


def _application(application: Application) -> str:
    """Its name, and its roles where the name doesn't say them."""
    roles = [role.value for role in application.roles]
    evident = len(roles) == 1 and application.name.startswith(roles[0])
    return application.name if evident else f"{application.name}: {', '.join(roles)}"


def _moved(box: Box, top: int) -> Box:
    """The box at its place, its ports in its lowest rows."""
    begin = top + 1 + box.rows - len(box.ports)
    ports = tuple(Port(port.network, begin + port.row, port.text) for port in box.ports)
    return Box(box.name, top, box.about, box.applications, box.services, ports)


def _lines(ports: Sequence[Port]) -> tuple[Line, ...]:
    """Each network in the first lane where it meets no other."""
    ends: list[int] = []
    lines = []
    for network in dict.fromkeys(port.network for port in ports):
        rows = [port.row for port in ports if port.network == network]
        lane = next((lane for lane, end in enumerate(ends) if end < rows[0]), len(ends))
        ends[lane:] = [rows[-1], *ends[lane + 1 :]]
        lines.append(Line(network, lane, rows[0], rows[-1]))
    return tuple(lines)


_ROW = 24
_MARGIN = 24
_TITLE = 34
# No font can be measured here; these are wide enough for the fonts that the style sheet names.
_CHARACTER = 7.6
_SMALL_CHARACTER = 6.8
_LEAST_WIRE = 60


@dataclass(frozen=True)
class Scale:
    """Pixels of rows, boxes and lanes."""

    box_width: float
    lanes: tuple[float, ...]
    width: float
    height: float
    margin: int = _MARGIN
    row: int = _ROW

    def y(self, row: float) -> float:
        """The middle of a row."""
        return _MARGIN + _TITLE + (row + 0.5) * _ROW


def svg(topology: Topology) -> str:
    """The drawing's text."""
    drawing = laid_out(topology)
    return _template().render(topology=topology, drawing=drawing, scale=_scale(drawing, topology))


@cache
def _template() -> Template:
    """Compiled once; markup is escaped, as names and summaries are what a user wrote."""
    environment = Environment(
        loader=PackageLoader("middlemark.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("topology.svg.j2")


def _scale(drawing: Drawing, topology: Topology) -> Scale:
    words = [word for box in drawing.boxes for word in (box.name, box.about, *box.applications, *box.services)]
    box_width = max(map(len, words)) * _CHARACTER + 28
    longest = max((len(port.text) for box in drawing.boxes for port in box.ports), default=0)
    lanes = [_MARGIN + box_width + max(_LEAST_WIRE, longest * _SMALL_CHARACTER + 28)]
    for lane in range(drawing.lanes):
        lanes.append(lanes[-1] + max(map(len, drawing.names_in(lane))) * _CHARACTER + 24)
    right = lanes[-1] if drawing.lines else _MARGIN + box_width
    title = _MARGIN + len(f"{topology.name}   {topology.summary}") * _CHARACTER
    height = 2 * _MARGIN + _TITLE + drawing.rows * _ROW
    return Scale(round(box_width), tuple(map(round, lanes)), round(max(right, title) + _MARGIN), height)


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
                cpu_quota=host.cpu_quota,
                memory=host.memory_bytes,
                ssh=host.ssh,
            )
            for host in experiment.hosts
        ),
        networks=tuple(Network(name=network.name, hosts=network.hosts) for network in experiment.networks),
        links=tuple(_link(link) for link in experiment.links),
        applications=tuple(
            Application(
                name=application.name,
                host=application.host,
                roles=tuple(endpoint.role for endpoint in application.endpoints),
            )
            for application in experiment.applications
        ),
        services=experiment.services,
    )


def _link(link: Link) -> TopologyLink:
    settings: dict[str, Any] = {"host": link.host, "network": link.network, "mobility": link.mobility}
    if link.mtu_bytes != STANDARD_MTU_BYTES:
        settings["mtu"] = link.mtu_bytes
    if not link.trace and link.mobility is None:
        alike = link.outgoing == link.incoming
        directions = {"outgoing": link.outgoing, "incoming": link.incoming}
        settings |= (
            _figures(link.outgoing)
            if alike
            else {name: _impairment(direction) for name, direction in directions.items()}
        )
    return TopologyLink.model_construct(**settings)


def _impairment(direction: Direction) -> Impairment | None:
    return None if direction.is_plain else Impairment.model_construct(**_figures(direction))


def _figures(direction: Direction) -> Mapping[str, Any]:
    """What is requested, as a suite names it."""
    return {effect.name: value for effect in EFFECTS if (value := getattr(direction, effect.field))}
