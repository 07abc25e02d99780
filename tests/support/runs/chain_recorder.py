"""What the nodes of a short chain did, one call at a time, as a trial stores it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from middlemark.analysis.metrics.chain_trace import ChainPart, ChainRoute, Fate, FollowedChain, Rows

END_NS = 1_000_000


CAMERA, DETECT, PLAN, ACTUATE, LIDAR = range(5)


IMAGE, OBJECTS, COMMAND, POINTS = range(4)


WHOLE_WAY = ChainRoute(nodes=(CAMERA, DETECT, PLAN), streams=(IMAGE, OBJECTS), subscribers=(0, 0))


class Recorder:
    """Writes down what nodes did, as a trial stores it."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self.executions: list[tuple[int, int, int, int]] = []
        self.inputs: list[tuple[int, int, int, int, int]] = []
        self.outputs: list[tuple[int, int, int, int, int | None]] = []
        self.received: list[tuple[int, int, int, int]] = []

    def ran(self, node: int, execution: int, started_ns: int, computed_ns: int) -> None:
        self.executions.append((node, execution, started_ns, computed_ns))

    def sent(
        self, node: int, execution: int, stream: int, sequence: int | None = None, fill_ns: int | None = None
    ) -> None:
        self.outputs.append((node, execution, stream, execution if sequence is None else sequence, fill_ns))

    def arrived(self, stream: int, sequence: int, received_ns: int) -> None:
        self.received.append((stream, 0, sequence, received_ns))

    def took(self, node: int, execution: int, stream: int, sequence: int, received_ns: int) -> None:
        self.inputs.append((node, execution, stream, sequence, received_ns))
        self.arrived(stream, sequence, received_ns)

    def rows(self) -> Rows:
        def frame(names: str, rows: Sequence[tuple[int | None, ...]]) -> pl.LazyFrame:
            return pl.DataFrame(rows, schema=dict.fromkeys(names.split(), pl.Int64), orient="row").lazy()

        return Rows(
            executions=frame("node execution started_ns computed_ns", self.executions),
            inputs=frame("node execution stream sequence received_ns", self.inputs),
            outputs=frame("node execution stream sequence fill_ns", self.outputs),
            received=frame("stream subscriber sequence received_ns", self.received).with_columns(answer=0),
            end_ns=END_NS,
        )


def one_way(record: Recorder, number: int, begun_ns: int) -> None:
    """Camera 10, under way 5, waits 3, detects 20, under way 7, waits 40 for the timer, plans 15."""
    b = begun_ns
    record.ran(CAMERA, number, b, b + 10)
    record.sent(CAMERA, number, IMAGE)
    record.took(DETECT, number, IMAGE, number, b + 15)
    record.ran(DETECT, number, b + 18, b + 38)
    record.sent(DETECT, number, OBJECTS)
    record.took(PLAN, number, OBJECTS, number, b + 45)
    record.ran(PLAN, number, b + 85, b + 100)


def fates(found: FollowedChain) -> dict[Fate, int]:
    return {fate: count for fate, count in found.fates.items() if count}


def sums(found: FollowedChain) -> dict[ChainPart, list[int]]:
    return {
        part: found.ended.select(pl.sum_horizontal(found.columns(part))).to_series().to_list() for part in ChainPart
    }
