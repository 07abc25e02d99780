"""Where the parts of a topology's drawing stand: hosts as boxes below each other, networks as lines beside them.

Rows and lanes are counted, not measured: `topology_text` makes characters of them, `topology_svg` pixels.
Topologies are stars and chains of a few hosts, so this order always does; no row has two links, which keeps them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from middlemark.suite import Application, Host, Topology


@dataclass(frozen=True)
class Port:
    """Where a link leaves its host."""

    network: str
    row: int
    text: str
    """What the link does; empty where nothing is asked of it."""


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
        applications=tuple(_application(each) for each in topology.applications if each.host == host.name),
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
