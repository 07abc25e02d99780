"""Follows what began at a chain's first node to its last one, and splits its time exactly among the nodes of its path.

Computation is from an execution's start to its end, communication from there, filling taken off, until the next node's
application has the message, idle from there until that node takes it (it waits for a timer, for other inputs, or is
busy). What does not end, or can't be followed, is kept with its fate and counted; `chains` reads all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from middlemark.results.streaming import CHUNK_ROWS

USUAL_SHARE, TIMES_USUAL = 0.9, 2
"""The horizon is twice the time within which nine of ten paths ended: no straggler makes it long, and of what takes
even longer next to nothing begins in the short time in which that matters."""


class ChainPart(StrEnum):
    """What a chain's time is spent on."""

    COMMUNICATION = "communication"
    IDLE = "idle"
    COMPUTATION = "computation"


class Fate(StrEnum):
    """The fates of the executions of the first node."""

    ENDED = "ended"
    """It came to the last node's end, and is in the metrics."""
    LOST = "lost"
    """A message of it never arrived."""
    PASSED_OVER = "passed_over"
    """A message of it arrived, but the node took a later one in its place."""
    NOT_SENT = "not_sent"
    """A node that had it sent no message: the middleware refused it."""
    UNFINISHED = "unfinished"
    """A message of it waited at a node when the window ended, although it had begun a whole horizon before."""
    BEGUN_TOO_LATE = "begun_too_late"
    """It began less than the horizon before the window's end: counting those of them that ended would flatter."""
    NOT_IN_ORDER = "not_in_order"
    """Some part would be negative."""


NEVER_ENDED = (Fate.LOST, Fate.NOT_SENT, Fate.UNFINISHED)
"""The fates of paths that count as infinitely slow, like a message after Tmax or never received (RFC 7680)."""
COUNTED_FATES = (Fate.ENDED, Fate.PASSED_OVER, *NEVER_ENDED)
"""The fates that say something of the chain; the others are set aside."""

_FATES = pl.Enum([fate.value for fate in Fate])
_ENDED = pl.col("fate") == Fate.ENDED.value


@dataclass(frozen=True)
class ChainRoute:
    """A chain by the numbers that the rows have."""

    nodes: tuple[int, ...]
    streams: tuple[int, ...]
    """From each node to the next."""
    subscribers: tuple[int, ...]
    """The index of the next node among each stream's subscribers."""
    deadline_ns: int | None = None
    tmax_ns: int | None = None
    """What has not ended after this never does, unless its deadline is later; None where nothing bounds it."""


@dataclass(frozen=True)
class Rows:
    """What was recorded of all nodes within the window, read as far as it is looked at."""

    executions: pl.LazyFrame
    inputs: pl.LazyFrame
    outputs: pl.LazyFrame
    received: pl.LazyFrame
    end_ns: int


@dataclass(frozen=True)
class FollowedChain:
    """A row for each execution of the first node, in the order of their starts."""

    instances: pl.DataFrame
    """`begun_ns`, `whole_ns`, `fate`, `at` (the position of the node that it came to), `in_time` (whether it kept the
    deadline; null where that can't be said), and the parts by position."""
    length: int
    """How many nodes the path has."""

    @property
    def ended(self) -> pl.DataFrame:
        """Those that the metrics are of."""
        return self.instances.filter(_ENDED)

    def of_ended(self, wanted: pl.Expr) -> pl.Series:
        """A value of each of them, with no copy of all that is known of them."""
        return self.instances.lazy().filter(_ENDED).select(wanted).collect().to_series()

    def ended_in_order(self, begin: int, n: int) -> pl.DataFrame:
        """So many of them from a place on, where the shortest has the first."""
        places = self.instances.select(pl.arg_where(_ENDED)).to_series()
        order = self.instances["whole_ns"].gather(places).arg_sort()
        return self.instances[places.gather(order.slice(begin, n))]

    @property
    def fates(self) -> Mapping[Fate, int]:
        """How many had each fate; they add up to all that began."""
        counted = dict(self.instances.group_by("fate").len().iter_rows())
        return {fate: counted.get(fate.value, 0) for fate in Fate}

    @property
    def never_ended(self) -> int:
        """How many paths count as infinitely slow."""
        return sum(self.fates[fate] for fate in NEVER_ENDED)

    @property
    def missed(self) -> tuple[int, int]:
        """How many missed the deadline, and of how many that can be said."""
        in_time = self.instances["in_time"].drop_nulls()
        return len(in_time) - int(in_time.sum()), len(in_time)

    def columns(self, part: ChainPart) -> list[str]:
        """The columns of a part, in the order of the path."""
        return [part_column(part, position) for position in positions(part, self.length)]


def part_column(part: ChainPart, position: int) -> str:
    """`idle_2_ns`: of the third node; communication is that into it."""
    return f"{part}_{position}_ns"


def positions(part: ChainPart, length: int) -> range:
    """The nodes of a path that have such a part: the first takes no message."""
    return range(0 if part is ChainPart.COMPUTATION else 1, length)


def follow_chain(route: ChainRoute, rows: Rows) -> FollowedChain:
    """Every execution of the first node, followed message by message; of long trials a piece at a time."""
    length = len(route.nodes)
    begun = (
        rows.executions.filter(pl.col("node") == route.nodes[0])
        .sort("started_ns")
        .select("execution", started_0="started_ns", computed_0="computed_ns")
        .collect()
    )
    newest = [_newest(route, rows, position) for position in range(1, length)]
    paths = pl.concat(
        [_paths(piece, route, rows, newest) for piece in begun.iter_slices(CHUNK_ROWS)]
        or [_paths(begun, route, rows, newest)]
    )
    parts = [part_column(part, position) for part in ChainPart for position in positions(part, length)]
    is_in_order = pl.min_horizontal(parts) >= 0
    instances = paths.lazy().select(
        "begun_ns",
        "whole_ns",
        _fate(rows.end_ns - _horizon_ns(paths, route), is_in_order).alias("fate"),
        "at",
        _in_time(route, rows.end_ns, is_in_order).alias("in_time"),
        *parts,
    )
    return FollowedChain(instances.collect(), length)


def _paths(begun: pl.DataFrame, route: ChainRoute, rows: Rows, newest: Sequence[object]) -> pl.DataFrame:
    """What began with these executions: its parts, where it came to, and why it stopped there if it did."""
    length = len(route.nodes)
    path = begun
    for position, last in enumerate(newest, 1):
        path = _onward(path, route, rows, position, last)
    stops = [pl.col(f"stopped_{n}") for n in range(1, length)] or [pl.lit(None)]
    parts = _parts(length)
    return path.select(
        *parts,
        begun_ns="started_0",
        whole_ns=pl.sum_horizontal(parts, ignore_nulls=False),
        stopped=pl.coalesce(stops).cast(_FATES),
        at=_reached(length),
    )


def _messages_taken(route: ChainRoute, rows: Rows, position: int) -> pl.LazyFrame:
    stream = pl.col("stream") == route.streams[position - 1]
    return rows.inputs.filter((pl.col("node") == route.nodes[position]) & stream)


def _newest(route: ChainRoute, rows: Rows, position: int) -> object:
    """The last message of the chain that the node at a position took; None where it took none."""
    return _messages_taken(route, rows, position).select(pl.col("sequence").max()).collect().item()


def _onward(path: pl.DataFrame, route: ChainRoute, rows: Rows, position: int, newest: object) -> pl.DataFrame:
    """The message to the node at a position and its execution; `stopped` with the position says why it has none."""
    stream = pl.col("stream") == route.streams[position - 1]
    sent = rows.outputs.filter((pl.col("node") == route.nodes[position - 1]) & stream)
    taken = _messages_taken(route, rows, position).sort("execution")
    subscribed = pl.col("subscriber") == route.subscribers[position - 1]
    arrived = rows.received.filter(stream & subscribed & (pl.col("answer") == 0))
    ran = rows.executions.filter(pl.col("node") == route.nodes[position])
    started, computed, received = (f"{name}_{position}" for name in ("started", "computed", "received"))
    fill = pl.col("fill_ns").fill_null(0).alias(f"fill_{position}")
    joined = (
        _joined(path, "execution", sent.select("execution", "sequence", fill))
        .drop("execution")
        .pipe(_joined, "sequence", taken.select("sequence", "execution", pl.col("received_ns").alias(received)))
        .pipe(_joined, "sequence", arrived.select("sequence", arrived=True))
        .pipe(
            _joined,
            "execution",
            ran.select("execution", pl.col("started_ns").alias(started), pl.col("computed_ns").alias(computed)),
        )
    )
    stopped = _stopped(pl.col(started), newest).alias(f"stopped_{position}")
    return joined.with_columns(stopped).drop("sequence", "arrived")


def _joined(path: pl.DataFrame, key: str, matches: pl.LazyFrame) -> pl.DataFrame:
    """What was found joined to the path, at most one row to each; nulls where there is none.

    Numbers grow with time, so that between a piece's first and last there is little that is not the piece's.
    """
    nearby = matches.filter(pl.col(key).is_between(pl.lit(path[key].min()), pl.lit(path[key].max()))).collect()
    only = nearby.unique(key, keep="first", maintain_order=True)
    return path.join(only, on=key, how="left", maintain_order="left")


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
        .otherwise(pl.lit(Fate.UNFINISHED.value))
    )


def _parts(length: int) -> list[pl.Expr]:
    spans = {
        ChainPart.COMPUTATION: "computed_{0} - started_{0}",
        ChainPart.COMMUNICATION: "received_{0} - computed_{1} - fill_{0}",
        ChainPart.IDLE: "started_{0} - received_{0}",
    }
    return [
        pl.sql_expr(span.format(n, n - 1)).alias(part_column(part, n))
        for part, span in spans.items()
        for n in positions(part, length)
    ]


def _reached(length: int) -> pl.Expr:
    """The position of the last node that an execution of this chain was seen at."""
    return sum((pl.col(f"started_{n}").is_not_null().cast(pl.UInt8) for n in range(1, length)), pl.lit(0, pl.UInt8))


def _horizon_ns(paths: pl.DataFrame, route: ChainRoute) -> int:
    """How long before the window's end a path must have begun so that its fate is known."""
    usual_ns = paths["whole_ns"].quantile(USUAL_SHARE, "higher")
    bounds_ns = [] if usual_ns is None else [TIMES_USUAL * int(usual_ns)]
    bounds_ns += [] if route.tmax_ns is None else [route.tmax_ns]
    return max(route.deadline_ns or 0, min(bounds_ns, default=0))


def _fate(last_ns: int, is_in_order: pl.Expr) -> pl.Expr:
    """The reason of the first stop; what began after the last instant that leaves time enough is set aside."""
    return (
        pl.when(pl.col("begun_ns") > last_ns)
        .then(pl.lit(Fate.BEGUN_TOO_LATE.value, _FATES))
        .when(~is_in_order)
        .then(pl.lit(Fate.NOT_IN_ORDER.value, _FATES))
        .otherwise(pl.col("stopped").fill_null(pl.lit(Fate.ENDED.value, _FATES)))
    )


def _in_time(route: ChainRoute, end_ns: int, is_in_order: pl.Expr) -> pl.Expr:
    """Whether what began a deadline before the window's end, or earlier, kept it; what never ended has not.

    Paths that a node passed over on purpose are not checked.
    """
    if route.deadline_ns is None:
        return pl.lit(None, pl.Boolean)
    is_asked = (pl.col("begun_ns") <= end_ns - route.deadline_ns) & is_in_order.fill_null(value=True)
    passed_over = pl.col("stopped") == Fate.PASSED_OVER.value
    is_in_time = (pl.col("whole_ns") <= route.deadline_ns).fill_null(value=False)
    return pl.when(is_asked & ~passed_over.fill_null(value=False)).then(is_in_time)
