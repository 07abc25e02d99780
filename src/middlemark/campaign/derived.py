"""A recording to the demand of the application that was recorded: the file that its author then edits.

What a recording can't know is said in the file: which process is whose, and by when a message has to be there. Pure: it
renders two texts, and `cli.recommend` writes them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from middlemark.campaign.recording import RecordedTopic
from middlemark.errors import UsageError
from middlemark.suite import DURATION, SIZE
from middlemark.suite.demand import MOST_STREAMS
from middlemark.suite.quantity import LARGEST_MESSAGE_BYTES
from middlemark.suite.recorded import COLUMNS

LONGEST_WINDOW_NS = 20_000_000_000
"""Of a longer recording its first part is played."""
_SHORTEST_WINDOW_NS = 1_000_000_000
_STEP_NS = 100_000_000


@dataclass(frozen=True)
class Derived:
    """The two files that a recording becomes."""

    demand: str
    messages: str
    """The CSV file that the demand names."""


def derived(name: str, source: str, messages_file: str, topics: Sequence[RecordedTopic]) -> Derived:
    """The demand of what was recorded."""
    last_ns = max(topic.messages[-1][0] for topic in topics)
    window_ns = min(max(last_ns // _STEP_NS * _STEP_NS, _SHORTEST_WINDOW_NS), LONGEST_WINDOW_NS)
    refused = {topic.topic: reason for topic in topics if (reason := _why_left_out(topic, window_ns))}
    taken = [topic for topic in topics if topic.topic not in refused]
    left_out = [f"#   {topic}: {reason}" for topic, reason in refused.items()]
    if not taken:
        raise UsageError(f"`{source}` has no topic that could be played", remedy="\n".join(left_out))
    if len(taken) > MOST_STREAMS:
        raise UsageError(f"`{source}` has {len(taken)} topics", remedy=f"record at most {MOST_STREAMS}")
    lines = [
        f"# Made of {source}: the instants and sizes of the messages are the recording's. It doesn't know which",
        "# process each topic belongs to, nor by when a message has to be there: say so here, and run",
        "# `middlemark recommend` on this file again.",
        f"application: {_name(name)}",
        f"window: {DURATION.text(window_ns)}  # of {last_ns / 1e9:.3g} s recorded",
        "processes: [recorded, listener]  # one publishes all, one receives all; {process: …, host: …} places one",
        "streams:",
        *(line for topic in taken for line in _stream(topic, messages_file)),
        *(["# Left out:", *left_out] if left_out else []),
    ]
    return Derived("\n".join(lines) + "\n", _messages(taken))


def _stream(topic: RecordedTopic, messages_file: str) -> list[str]:
    sizes = [size_bytes for _, size_bytes in topic.messages]
    small, large = SIZE.text(min(sizes)), SIZE.text(max(sizes))
    span_s = (topic.messages[-1][0] - topic.messages[0][0]) / 1e9
    rate = f", {(len(sizes) - 1) / span_s:.3g} Hz on average" if span_s > 0 else ""
    asked = {"reliability": topic.reliability, "durability": topic.durability}
    qos = ", ".join(f"{name}: {value}" for name, value in asked.items() if value is not None)
    unknown = "" if qos else "  # not recorded"
    said = f"{len(sizes)} messages of {small if small == large else f'{small} to {large}'}{rate}"
    return [
        f"  - topic: {topic.topic}",
        f"    recorded: {messages_file}  # {said}",
        f"    qos: {{{qos or 'reliability: best_effort'}}}{unknown}",
        "    publishers: recorded",
        "    subscribers: listener",
        "    # deadline: 50 ms  # without one only rate and loss are judged",
    ]


def _why_left_out(topic: RecordedTopic, window_ns: int) -> str:
    first_ns = topic.messages[0][0]
    largest = max(size_bytes for _, size_bytes in topic.messages)
    if first_ns >= window_ns:
        return f"its first message comes {first_ns / 1e9:.3g} s after the begin, behind the window"
    if largest > LARGEST_MESSAGE_BYTES:
        return f"a message of {SIZE.text(largest)} is larger than {SIZE.text(LARGEST_MESSAGE_BYTES)}"
    if not re.fullmatch(r"[A-Za-z0-9/_.~-]{1,80}", topic.topic):
        return "its name has characters that a topic here can't have"
    return ""


def _name(stem: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_0123456789")[:24] or "application"


def _messages(topics: Sequence[RecordedTopic]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for topic in topics:
        writer.writerows((topic.topic, at_ns, size_bytes) for at_ns, size_bytes in topic.messages)
    return out.getvalue()
