"""The names of figures as people write them, `p99(latency)`, `loss`, `cpu`, and what each is a number of.

Which metric of a trial a name stands for is `analysis.figure`'s to say; here it is known only that there is one.
"""

from __future__ import annotations

from enum import StrEnum

from middlemark.suite.model import closest_first, refusal


class Dimension(StrEnum):
    """What a figure is a number of."""

    TIME = "time"
    SHARE = "share"
    BYTES = "bytes"
    BYTES_PER_S = "bytes_per_s"
    PERCENT_OF_CORE = "percent_of_core"


DISTRIBUTION_NAMES = (
    *("latency", "latency_from_intended", "round_trip", "jitter", "publish_call", "pacing_error"),
    *("end_to_end", "communication", "idle", "computation"),
)
LEVEL_NAMES = ("median", "min", "max", "p90", "p99", "p999", "p9999")
"""What may stand before the bracket; `p50` is read as `median`."""
PLAIN_NAMES = {
    "first_message": Dimension.TIME,
    "start_up": Dimension.TIME,
    "deadline_missed": Dimension.SHARE,
    "loss": Dimension.SHARE,
    "unanswered": Dimension.SHARE,
    "undelivered": Dimension.SHARE,
    "goodput": Dimension.BYTES_PER_S,
    "capacity": Dimension.BYTES_PER_S,
    "cpu": Dimension.PERCENT_OF_CORE,
    "memory": Dimension.BYTES,
}


def figure_name(level: str | None, what: str) -> str:
    """The one spelling of a name; refuses what there is not with what there is."""
    if level is None and what in PLAIN_NAMES:
        return what
    if level is None or what not in DISTRIBUTION_NAMES:
        known = [f"p99({name})" for name in DISTRIBUTION_NAMES] + list(PLAIN_NAMES)
        written = what if level is None else f"{level}({what})"
        raise refusal(f"`{written}` is no figure", allowed=closest_first(written, known))
    level = "median" if level == "p50" else level
    if level not in LEVEL_NAMES:
        problem = f"`{level}({what})`: there is no `{level}`"
        raise refusal(problem, allowed=f"before the bracket: {', '.join(LEVEL_NAMES)}")
    return f"{level}({what})"


def dimension(name: str) -> Dimension:
    """What a figure is a number of."""
    return PLAIN_NAMES.get(name, Dimension.TIME)
