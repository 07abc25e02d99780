"""A topology and a pipeline drawn with characters, for the terminal.

The topology is as `topology_drawing` has laid it out, the pipeline in the order of the plan; it runs and decides
nothing.
"""

from collections.abc import Iterator

from rich.text import Text

from middlemark.plan import Experiment, Node
from middlemark.plan.patterns import ConstantTime, ExponentialTime, UniformTime
from middlemark.plan.streams import OnMessage, Source, Timer, UnthrottledSource
from middlemark.report.elements.topology_drawing import Box, Drawing, laid_out
from middlemark.suite import DURATION, RATE, SIZE, Topology

_LINE = "dim"
_NETWORK = "magenta"
_STYLES = {"about": "dim", "application": "cyan", "service": "yellow"}


class _Canvas:
    """Characters by row and column, each with its style."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, row: int, column: int, text: str, style: str = "") -> None:
        for index, character in enumerate(text):
            self.cells[row, column + index] = (character, style)

    def line(self, row: int, column: int, character: str, style: str) -> None:
        """One piece of a line; where it meets another they cross."""
        crossed = self.cells.get((row, column), (" ", ""))[0]
        self.cells[row, column] = ("┼" if crossed in "─│" else character, style)

    def text(self) -> Text:
        rows: list[Text] = []
        for row in range(max(row for row, _ in self.cells) + 1):
            columns = [column for line, column in self.cells if line == row]
            cells = (self.cells.get((row, column), (" ", "")) for column in range(max(columns, default=-1) + 1))
            rows.append(Text.assemble(*cells))
        return Text("\n").join(rows)


def drawn(topology: Topology) -> Text:
    """The topology with its name and summary."""
    title = Text.assemble((topology.name, "bold"), ("  " if topology.summary else "", ""), topology.summary)
    return Text("\n").join([title, _picture(laid_out(topology))])


def _picture(drawing: Drawing) -> Text:
    canvas = _Canvas()
    width = 4 + max(len(text) for box in drawing.boxes for text, _ in [(box.name, ""), *_content(box)])
    longest = max((len(port.text) for box in drawing.boxes for port in box.ports), default=0)
    lanes = [width + longest + (6 if longest else 4)]
    for lane in range(drawing.lanes):
        lanes.append(lanes[-1] + 4 + max(map(len, drawing.names_in(lane))))
    for line in drawing.lines:
        for row in range(line.first, line.last + 1):
            canvas.line(row, lanes[line.lane], "│", _NETWORK)
        canvas.put(line.first, lanes[line.lane] + 2, line.network, _NETWORK)
    for box in drawing.boxes:
        _draw_box(canvas, box, width)
        for port in box.ports:
            end = lanes[drawing.lane_of(port.network)]
            for column in range(width, end):
                canvas.line(port.row, column, "─", _LINE)
            if port.text:
                canvas.put(port.row, width + 2, f" {port.text} ")
            canvas.put(port.row, width - 1, "├", _LINE)
            canvas.put(port.row, end, "●", _NETWORK)
    return canvas.text()


def _draw_box(canvas: _Canvas, box: Box, width: int) -> None:
    bottom = box.row + box.rows + 1
    canvas.put(box.row, 0, f"┌{'─' * (width - 2)}┐", _LINE)
    canvas.put(box.row, 2, f" {box.name} ", "bold")
    for row in range(box.row + 1, bottom):
        canvas.put(row, 0, "│", _LINE)
        canvas.put(row, width - 1, "│", _LINE)
    canvas.put(bottom, 0, f"└{'─' * (width - 2)}┘", _LINE)
    for index, (text, style) in enumerate(_content(box), start=box.row + 1):
        canvas.put(index, 2, text, style)


def _content(box: Box) -> Iterator[tuple[str, str]]:
    yield box.about, _STYLES["about"]
    yield from ((text, _STYLES["application"]) for text in box.applications)
    yield from ((text, _STYLES["service"]) for text in box.services)


def pipeline_text(experiment: Experiment) -> str:
    """One line a node and one a chain."""
    host_of = {application.name: application.host for application in experiment.applications}
    rows = [
        (
            node.name,
            f"{node.application} on {host_of[node.application]}",
            _runs(node),
            _computes(node),
            _sends(node, experiment),
        )
        for node in experiment.nodes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    chains = [
        f"chain {chain.name}: {' → '.join(chain.nodes)}"
        + (f" within {DURATION.text(chain.deadline_ns)}" if chain.deadline_ns is not None else "")
        for chain in experiment.chains
    ]
    return "\n".join(line.rstrip() for line in [*lines, *chains])


def _runs(node: Node) -> str:
    taken = ", ".join(entry.stream for entry in node.inputs)
    match node.trigger:
        case Source(rate_hz=rate_hz):
            return f"source at {RATE.text(rate_hz)}"
        case UnthrottledSource():
            return "source, unthrottled"
        case Timer(rate_hz=rate_hz):
            return f"timer at {RATE.text(rate_hz)}, takes {taken}"
        case OnMessage(when=when):
            return f"on {taken}" if len(node.inputs) == 1 else f"on {when} of {taken}"


def _computes(node: Node) -> str:
    match node.compute:
        case ConstantTime(time_ns=0):
            return "computes nothing"
        case ConstantTime(time_ns=time_ns):
            return f"computes {DURATION.text(time_ns)}"
        case UniformTime(minimum_ns=minimum_ns, maximum_ns=maximum_ns):
            return f"computes {DURATION.text(minimum_ns)} to {DURATION.text(maximum_ns)}"
        case ExponentialTime(mean_ns=mean_ns):
            return f"computes {DURATION.text(mean_ns)}, exponential"
        case spread:
            times = f"{DURATION.text(spread.mean_ns)} ± {DURATION.text(spread.deviation_ns)}"
            return f"computes {times}, {spread.kind}"


def _sends(node: Node, experiment: Experiment) -> str:
    size_of = {stream.name: SIZE.text(stream.size_bytes) for stream in experiment.streams}
    return f"sends {', '.join(f'{stream} ({size_of[stream]})' for stream in node.outputs)}" if node.outputs else ""
