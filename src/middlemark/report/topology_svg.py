"""A topology drawn as an SVG that needs nothing beside itself and follows the reader's light or dark.

It makes pixels of what `topology_layout` has laid out; the shapes stand in `templates/topology.svg.j2`.
"""

from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from middlemark.report.topology_layout import Drawing, laid_out
from middlemark.suite import Topology

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
