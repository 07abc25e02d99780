"""A recording, MCAP or rosbag2, made a demand of the recorded application: the file that its author then edits.

Topics, instants, sizes and QoS are read, no content of a message; whatever a file holds, it is read within bounds or
refused. What a recording can't know, which process is whose and by when a message has to be there, the file says;
`cli.recommend` writes it.
"""

from __future__ import annotations

import csv
import io
import re
import resource
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from mcap.reader import make_reader

from middlemark.errors import MiddlemarkError, StoreError, SuiteError, UsageError
from middlemark.results.files import read_bytes, size_bytes
from middlemark.suite import DURATION, SIZE, Durability, Reliability
from middlemark.suite.demand.streams import COLUMNS
from middlemark.suite.workload.workload import MOST_STREAMS
from middlemark.suite.yaml.document import read_document
from middlemark.suite.yaml.quantity import LARGEST_MESSAGE_BYTES

LONGEST_WINDOW_NS = 20_000_000_000
"""Of a longer recording its first part is played."""
MOST_MESSAGES, MOST_TOPICS = 4_000_000, 10_000
MOST_METADATA_BYTES = 1 << 20
MOST_MEMORY_BYTES = 2 << 30
"""Beyond what the program has taken before: for the largest chunk of a file and all instants."""
MOST_VALUE_BYTES = 1 << 28
LONGEST_QUOTED = 120
_SHORTEST_WINDOW_NS = 1_000_000_000
_STEP_NS = 100_000_000
W = TypeVar("W", bound=StrEnum)
_READ_HERE = "MCAP (.mcap), rosbag2 with SQLite (.db3), or a rosbag2 folder with its metadata.yaml"
# By the numbers of rmw_qos_*_policy_e and by the words that rosbag2 has written since its ninth metadata version.
_RELIABILITIES = {1: Reliability.RELIABLE, 2: Reliability.BEST_EFFORT}
_DURABILITIES = {1: Durability.TRANSIENT_LOCAL, 2: Durability.VOLATILE}


@dataclass(frozen=True)
class RecordedTopic:
    """The messages of one topic, in the order of their instants."""

    topic: str
    messages: tuple[tuple[int, int], ...]
    """When each was recorded, in ns from the recording's start, and its size in bytes."""
    reliability: Reliability | None
    """As its publishers offered it, where the recording says so."""
    durability: Durability | None


_Message = tuple[str, int, int]
_Offered = dict[str, str]


def read_recording(path: Path) -> tuple[RecordedTopic, ...]:
    """All topics of a recording that have a message, by name."""
    if not path.exists():
        raise UsageError(f"the recording `{path}` does not exist", remedy=_READ_HERE)
    offered: _Offered = {}
    messages_of: dict[str, list[tuple[int, int]]] = {}
    n = 0
    for file in _files(path):
        with _decoding(file):
            for topic, at_ns, size_bytes in _READERS[file.suffix](file, offered):
                n += 1
                if n > MOST_MESSAGES or len(messages_of) > MOST_TOPICS:
                    raise UsageError(
                        f"`{path}` has more than {MOST_MESSAGES} messages or {MOST_TOPICS} topics",
                        remedy="record a shorter time",
                    )
                messages_of.setdefault(str(topic), []).append((_number(at_ns), _number(size_bytes)))
    if not messages_of:
        raise UsageError(f"`{path}` has no message", remedy="a recording with messages")
    begin_ns = min(at_ns for messages in messages_of.values() for at_ns, _ in messages)
    return tuple(
        RecordedTopic(
            topic=topic,
            messages=tuple(sorted((at_ns - begin_ns, size_bytes) for at_ns, size_bytes in messages_of[topic])),
            reliability=_word(offered.get(topic, ""), "reliability", _RELIABILITIES),
            durability=_word(offered.get(topic, ""), "durability", _DURABILITIES),
        )
        for topic in sorted(messages_of)
    )


def _files(path: Path) -> list[Path]:
    """The files of a recording, in their order."""
    if path.is_dir():
        return _of_folder(path)
    if path.suffix not in _READERS:
        raise UsageError(f"`{path}` is not a supported recording", remedy=_READ_HERE)
    return [path]


def _of_folder(folder: Path) -> list[Path]:
    metadata = folder / "metadata.yaml"
    try:
        text = read_bytes(metadata.resolve(), MOST_METADATA_BYTES).decode()
        description = read_document(text, file=str(metadata)).data["rosbag2_bagfile_information"]
        names, compressed = (
            list(description["relative_file_paths"]),
            str(description.get("compression_mode", "")).upper(),
        )
    except (StoreError, SuiteError, UnicodeDecodeError, LookupError, TypeError, AttributeError) as error:
        raise UsageError(f"`{metadata}` doesn't say which files the recording has", remedy=_READ_HERE) from error
    if compressed == "MESSAGE":
        raise UsageError(
            f"`{metadata}` says that each message is compressed, which hides its size",
            remedy="`ros2 bag convert` writes it uncompressed",
        )
    files = [folder / Path(str(name)).name for name in names]  # early versions of rosbag2 wrote the folder's name too
    for file in files:
        if not file.is_file() or file.suffix not in _READERS:
            raise UsageError(f"`{metadata}` names `{file.name}`, which can't be read here", remedy=_READ_HERE)
    return files


@contextmanager
def _decoding(file: Path) -> Iterator[None]:
    """Whatever a decoder makes of a file is told as one error, and it takes no more memory than a recording may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = taken + MOST_MEMORY_BYTES
    try:
        size_bytes(file.resolve())  # nothing but a regular file ends
        resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))
        yield
    except MiddlemarkError as error:
        raise UsageError(error.text, remedy=error.remedy or _READ_HERE) from error
    except Exception as error:  # a file that was made to be misread raises what no decoder documents
        why = str(error).splitlines()[:1] or [type(error).__name__]
        raise UsageError(f"`{file}` can't be read: {why[0]}", remedy=_READ_HERE) from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _number(value: object) -> int:
    """An instant or a size, as the formats have them."""
    if not (isinstance(value, int) and 0 <= value < 1 << 63):
        raise ValueError(f"{value!r} is no instant and no size")
    return value


def _mcap(file: Path, offered: _Offered) -> Iterator[_Message]:
    """The instants are those of the recorder; a publisher's own clock may be another."""
    with file.open("rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages(log_time_order=False):
            offered.setdefault(channel.topic, channel.metadata.get("offered_qos_profiles", ""))
            yield channel.topic, message.log_time, len(message.data)


def _sqlite(file: Path, offered: _Offered) -> Iterator[_Message]:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE_BYTES)
        database.execute("PRAGMA trusted_schema = OFF")
        _refuse_what_computes(database)
        columns = {row[1] for row in database.execute("PRAGMA table_info(topics)")}
        qos = "offered_qos_profiles" if "offered_qos_profiles" in columns else "''"
        topics = dict[int, str]()
        for number, topic, offers in database.execute(f"SELECT id, name, {qos} FROM topics"):  # noqa: S608 - constants
            topics[number] = topic
            offered[topic] = offers
        for number, at_ns, size in database.execute("SELECT topic_id, timestamp, length(data) FROM messages"):
            if number in topics:
                yield topics[number], at_ns, size


def _refuse_what_computes(database: sqlite3.Connection) -> None:
    """A recording has plain tables: a view, or a column with an expression, may compute without an end."""
    for name in ("messages", "topics"):
        kinds = list(database.execute("SELECT type, sql FROM sqlite_schema WHERE name = ?", (name,)))
        hidden = [row for row in database.execute(f"PRAGMA table_xinfo({name})") if row[6]]
        if [kind for kind, _ in kinds] != ["table"] or "virtual" in kinds[0][1].lower().split()[:2] or hidden:
            raise ValueError(f"its `{name}` is no plain table")


_READERS = {".mcap": _mcap, ".db3": _sqlite}


def _word(profiles: str, policy: str, by_number: Mapping[int, W]) -> W | None:
    """What all publishers of a topic offered; None where they differ, or the recording doesn't say."""
    try:
        listed = read_document(profiles, file="offered_qos_profiles").data
    except SuiteError:
        return None
    by_name: dict[str, W] = {str(number): value for number, value in by_number.items()}
    by_name |= {str(value): value for value in by_number.values()}
    offers = {
        by_name.get(str(item.get(policy)))
        for item in (listed if isinstance(listed, list) else [])
        if isinstance(item, dict)
    }
    return offers.pop() if len(offers) == 1 else None


@dataclass(frozen=True)
class RecordedDemand:
    """The two files that a recording becomes."""

    demand: str
    messages: str
    """The CSV file that the demand names."""


def recorded_demand(name: str, source: str, messages_file: str, topics: Sequence[RecordedTopic]) -> RecordedDemand:
    """The demand of what was recorded."""
    last_ns = max(topic.messages[-1][0] for topic in topics)
    window_ns = min(max(last_ns // _STEP_NS * _STEP_NS, _SHORTEST_WINDOW_NS), LONGEST_WINDOW_NS)
    refused = {topic.topic: reason for topic in topics if (reason := _why_left_out(topic, window_ns))}
    playable = [topic for topic in topics if topic.topic not in refused]
    left_out = [f"#   {_quoted(topic)}: {reason}" for topic, reason in refused.items()]
    if not playable:
        raise UsageError(f"`{source}` has no topic that can be played", remedy="\n".join(left_out))
    if len(playable) > MOST_STREAMS:
        raise UsageError(f"`{source}` has {len(playable)} topics", remedy=f"record at most {MOST_STREAMS}")
    lines = [
        f"# Made of {_quoted(source)}: the instants and sizes of the messages are the recording's. It doesn't know",
        "# which process each topic belongs to, nor by when a message has to be there: say so here, and run",
        "# `middlemark recommend` on this file again.",
        f"application: {_name(name)}",
        f"window: {DURATION.text(window_ns)}  # of {last_ns / 1e9:.3g} s recorded",
        "# For a first answer soon. Without these lines: all profiles, six trials, and as many that are observed.",
        "profiles: default",
        "trials: 3",
        "observe: []",
        "processes: [recorded, listener]  # one publishes all, one receives all; {process: …, host: …} places one",
        "streams:",
        *(line for topic in playable for line in _stream(topic, messages_file)),
        *(["# Left out:", *left_out] if left_out else []),
    ]
    return RecordedDemand("\n".join(lines) + "\n", _messages(playable))


def _quoted(text: str) -> str:
    """As it may stand in a comment: on one line, and as short as one."""
    return text if text.isprintable() and len(text) <= LONGEST_QUOTED else ascii(text[:LONGEST_QUOTED])


def _stream(topic: RecordedTopic, messages_file: str) -> list[str]:
    sizes = [size_bytes for _, size_bytes in topic.messages]
    small, large = SIZE.text(min(sizes)), SIZE.text(max(sizes))
    span_s = (topic.messages[-1][0] - topic.messages[0][0]) / 1e9
    rate = f", {(len(sizes) - 1) / span_s:.3g} Hz on average" if span_s > 0 else ""
    requested = {"reliability": topic.reliability, "durability": topic.durability}
    qos = ", ".join(f"{name}: {value}" for name, value in requested.items() if value is not None)
    unknown = "" if qos else "  # not recorded"
    comment = f"{len(sizes)} messages of {small if small == large else f'{small} to {large}'}{rate}"
    return [
        f"  - topic: {topic.topic}",
        f"    recorded: {messages_file}  # {comment}",
        f"    qos: {{{qos or 'reliability: best_effort'}}}{unknown}",
        "    publishers: recorded",
        "    subscribers: listener",
        "    # deadline: 50 ms  # without one only rate and loss are judged",
    ]


def _why_left_out(topic: RecordedTopic, window_ns: int) -> str:
    first_ns = topic.messages[0][0]
    largest = max(size_bytes for _, size_bytes in topic.messages)
    if first_ns >= window_ns:
        return f"its first message comes {first_ns / 1e9:.3g} s after the start, after the window"
    if largest > LARGEST_MESSAGE_BYTES:
        return f"a message of {SIZE.text(largest)} is larger than {SIZE.text(LARGEST_MESSAGE_BYTES)}"
    if not re.fullmatch(r"[A-Za-z0-9/_.~-]{1,80}", topic.topic):
        return "its name has characters that are not allowed in a topic"
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
