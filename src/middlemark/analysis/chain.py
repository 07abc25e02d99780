"""Follows what began at a chain's first node to its last one, and splits its time exactly among the nodes of its way.

Computation is from an execution's start to its end, communication from there until the next node's application has the
message (so that handing over other outputs first is communication too), idle from there until that node takes it: it
waits for a timer, for other inputs, or is busy. What does not end, or can't be told, is kept with its fate and counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import polars as pl


class ChainPart(StrEnum):
    """What a chain's time is spent on."""

    COMMUNICATION = "communication"
    IDLE = "idle"
    COMPUTATION = "computation"


class Fate(StrEnum):
    """What became of what began at the first node."""

    ENDED = "ended"
    """It came to the last node's end, and is in the figures."""
    LOST = "lost"
    """A message of it never arrived."""
    PASSED_OVER = "passed_over"
    """A message of it arrived, but the node took a later one in its place."""
    NOT_SENT = "not_sent"
    """A node that had it sent no message: the middleware refused it."""
    UNDER_WAY = "under_way"
    """A message of it waited at a node when the window ended."""
    BEGUN_TOO_LATE = "begun_too_late"
    """It might not have ended within the window, so that counting those that did would flatter."""
    NOT_IN_ORDER = "not_in_order"
    """Some part would be negative."""


TOLD = (Fate.ENDED, Fate.LOST, Fate.PASSED_OVER, Fate.NOT_SENT)
"""The fates that say something of the chain; the others are set aside."""


@dataclass(frozen=True)
class Route:
    """A chain by the numbers that the rows have."""

    nodes: tuple[int, ...]
    streams: tuple[int, ...]
    """From each node to the next."""
    subscribers: tuple[int, ...]
    """The index of the next node among each stream's subscribers."""
    deadline_ns: int | None = None


@dataclass(frozen=True)
class Rows:
    """What was recorded of all nodes within the window."""

    executions: pl.DataFrame
    inputs: pl.DataFrame
    outputs: pl.DataFrame
    received: pl.DataFrame
    end_ns: int


@dataclass(frozen=True)
class Followed:
    """A row for each execution of the first node, in the order of their starts."""

    instances: pl.DataFrame
    """`begun_ns`, `whole_ns`, `fate`, `at` (the position of the node that it came to), and the parts by position."""
    length: int
    """How many nodes the way has."""

    @property
    def ended(self) -> pl.DataFrame:
        """Those that the figures are of."""
        return self.instances.filter(pl.col("fate") == Fate.ENDED)

    @property
    def fates(self) -> Mapping[Fate, int]:
        """How many had each fate; they add up to all that began."""
        counted = dict(self.instances.group_by("fate").len().iter_rows())
        return {fate: counted.get(fate.value, 0) for fate in Fate}

    def columns(self, part: ChainPart) -> list[str]:
        """The columns of a part, in the order of the way."""
        return [part_column(part, position) for position in positions(part, self.length)]


def part_column(part: ChainPart, position: int) -> str:
    """`idle_2_ns`: of the third node; communication is that into it."""
    return f"{part}_{position}_ns"


def positions(part: ChainPart, length: int) -> range:
    """The nodes of a way that have such a part: the first takes no message."""
    return range(0 if part is ChainPart.COMPUTATION else 1, length)


def followed(route: Route, rows: Rows) -> Followed:
    """Every execution of the first node, followed message by message."""
    length = len(route.nodes)
    way = (
        rows.executions.filter(pl.col("node") == route.nodes[0])
        .sort("started_ns")
        .select("execution", started_0="started_ns", computed_0="computed_ns")
    )
    for position in range(1, length):
        way = _onward(way, route, rows, position)
    split = way.with_columns(*_parts(length), begun_ns="started_0", whole_ns=_ended_ns(length) - pl.col("started_0"))
    told = split.with_columns(fate=_fate(split, route, rows.end_ns), at=_reached(length))
    parts = [part_column(part, position) for part in ChainPart for position in positions(part, length)]
    return Followed(told.select("begun_ns", "whole_ns", "fate", "at", *parts), length)


def _onward(way: pl.DataFrame, route: Route, rows: Rows, position: int) -> pl.DataFrame:
    """The message to the node at a position and its execution; `stopped` with the position says why it has none."""
    stream = pl.col("stream") == route.streams[position - 1]
    sent = rows.outputs.filter((pl.col("node") == route.nodes[position - 1]) & stream)
    taken = rows.inputs.filter((pl.col("node") == route.nodes[position]) & stream).sort("execution")
    subscribed = pl.col("subscriber") == route.subscribers[position - 1]
    arrived = rows.received.filter(stream & subscribed & (pl.col("answer") == 0))
    ran = rows.executions.filter(pl.col("node") == route.nodes[position])
    started, computed, received = (f"{name}_{position}" for name in ("started", "computed", "received"))
    joined = (
        _beside(way, "execution", sent.select("execution", "sequence"))
        .drop("execution")
        .pipe(_beside, "sequence", taken.select("sequence", "execution", pl.col("received_ns").alias(received)))
        .pipe(_beside, "sequence", arrived.select("sequence", arrived=True))
        .pipe(
            _beside,
            "execution",
            ran.select("execution", pl.col("started_ns").alias(started), pl.col("computed_ns").alias(computed)),
        )
    )
    stopped = _stopped(pl.col(started), taken["sequence"].max()).alias(f"stopped_{position}")
    return joined.with_columns(stopped).drop("sequence", "arrived")


def _beside(way: pl.DataFrame, key: str, found: pl.DataFrame) -> pl.DataFrame:
    """What was found joined to the way, at most one row to each; nulls where there is none."""
    only = found.unique(key, keep="first", maintain_order=True)
    return way.join(only, on=key, how="left", maintain_order="left")


def _stopped(started: pl.Expr, newest: object) -> pl.Expr:
    return (
        pl.when(started.is_not_null())
        .then(None)
        .when(pl.col("sequence").is_null())
        .then(pl.lit(Fate.NOT_SENT.value))
        .when(pl.col("arrived").is_null())
        .then(pl.lit(Fate.LOST.value))
        .when(pl.col("sequence") < pl.lit(newest))
        .then(pl.lit(Fate.PASSED_OVER.value))
        .otherwise(pl.lit(Fate.UNDER_WAY.value))
    )


def _parts(length: int) -> list[pl.Expr]:
    spans = {
        ChainPart.COMPUTATION: ("started_{0}", "computed_{0}"),
        ChainPart.COMMUNICATION: ("computed_{1}", "received_{0}"),
        ChainPart.IDLE: ("received_{0}", "started_{0}"),
    }
    return [
        (pl.col(end.format(n, n - 1)) - pl.col(begin.format(n, n - 1))).alias(part_column(part, n))
        for part, (begin, end) in spans.items()
        for n in positions(part, length)
    ]


def _ended_ns(length: int) -> pl.Expr:
    return pl.col(f"computed_{length - 1}")


def _reached(length: int) -> pl.Expr:
    """The position of the last node that an execution of this chain was seen at."""
    return sum((pl.col(f"started_{n}").is_not_null().cast(pl.Int64) for n in range(1, length)), pl.lit(0))


def _fate(split: pl.DataFrame, route: Route, end_ns: int) -> pl.Expr:
    """The reason of the first stop; whoever began so late that a long way would have been cut is set aside."""
    length = len(route.nodes)
    parts = [pl.col(part_column(part, n)) for part in ChainPart for n in positions(part, length)]
    longest = split["whole_ns"].max()
    horizon_ns = max(route.deadline_ns or 0, longest if isinstance(longest, int) else 0)
    stops = [pl.col(f"stopped_{n}") for n in range(1, length)]
    return (
        pl.when(pl.col("begun_ns") + horizon_ns > end_ns)
        .then(pl.lit(Fate.BEGUN_TOO_LATE.value))
        .when(pl.min_horizontal(parts) < 0)
        .then(pl.lit(Fate.NOT_IN_ORDER.value))
        .otherwise(pl.coalesce(*stops, pl.lit(Fate.ENDED.value)))
    )
