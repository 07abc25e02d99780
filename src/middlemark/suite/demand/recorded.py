"""The recorded messages of a stream: their instants and sizes, from a CSV file beside the demand.

`campaign.import_recording` makes such files from other formats. It decides nothing of how they are played:
`plan.demand` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from middlemark.errors import SuiteError
from middlemark.suite.yaml.model import Named, SuiteFiles, closest_first, refusal
from middlemark.suite.yaml.quantity import LARGEST_MESSAGE_BYTES, SMALLEST_MESSAGE_BYTES

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("topic", "at_ns", "size_bytes")
"""The columns of a recording: one line per message, `at_ns` from the start of the recording; contents are not
needed."""
_MOST_MESSAGES = 5_000_000


class RecordedMessages(Named):
    """The messages of one topic of a recording."""

    name_key: ClassVar[str] = "file"

    file: str
    """A CSV file, relative to the demand's folder."""
    topic: str | None = None
    """The topic's name in the file; without it, the stream's."""
    offsets_ns: tuple[int, ...] = ()
    """The instant of each message from the start of the recording, as read from the file."""
    sizes_bytes: tuple[int, ...] = ()
    """The size of each message, raised to the smallest that can be sent."""
    period_ns: int = 0
    """The duration of the whole recording, all topics together; then it begins again."""

    def read(self, suite_files: SuiteFiles, stream_topic: str) -> RecordedMessages:
        """These messages with the values from the file."""
        topic = self.topic or stream_topic
        table = _table(self.file, suite_files)
        messages = table.filter(table["topic"] == topic).sort("at_ns")
        if messages.is_empty():
            topics = table["topic"].unique().sort().to_list()
            raise refusal(f"`{self.file}` has no message of `{topic}`", allowed=closest_first(topic, topics))
        sizes = messages["size_bytes"].clip(SMALLEST_MESSAGE_BYTES)
        return self.model_copy(
            update={
                "offsets_ns": tuple(messages["at_ns"].to_list()),
                "sizes_bytes": tuple(sizes.to_list()),
                "period_ns": period_ns(table["at_ns"].max(), Counter(table["topic"])),
            }
        )


def period_ns(last_ns: object, messages: Counter[str]) -> int:
    """The duration of a recording: up to its last message, plus the mean interval of its most frequent topic."""
    last = int(str(last_ns))
    return last + max(last // max(max(messages.values()) - 1, 1), 1)


def _table(file: str, suite_files: SuiteFiles) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only a demand with a recording pays for loading it

    path = suite_files.path(file)
    try:
        table = pl.read_csv(suite_files.read(file), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        message = str(error).splitlines()[0]
        raise SuiteError(f"this is no CSV: {message}", file=path, allowed=",".join(COLUMNS)) from error
    if tuple(table.columns) != COLUMNS:
        raise SuiteError("these columns are not the expected ones", file=path, line=1, allowed=",".join(COLUMNS))
    if not 0 < table.height <= _MOST_MESSAGES:
        raise SuiteError(f"{table.height} messages", file=path, allowed=f"1 to {_MOST_MESSAGES}")
    rows_read = table.with_columns(pl.col("at_ns", "size_bytes").cast(pl.Int64, strict=False))
    for line, problem in _wrong(rows_read.rows()):
        raise SuiteError(problem, file=path, line=line, offending=",".join(map(str, table.rows()[line - 2])))
    return rows_read


def _wrong(rows: Sequence[tuple[str, int | None, int | None]]) -> Iterator[tuple[int, str]]:
    """Lines, from 1 with the heading, that can't be read."""
    for line, (_, at_ns, size_bytes) in enumerate(rows, start=2):
        if at_ns is None or at_ns < 0:
            yield line, "`at_ns` is no whole number from 0"
        if size_bytes is None or not 0 <= size_bytes <= LARGEST_MESSAGE_BYTES:
            yield line, f"`size_bytes` is no whole number from 0 to {LARGEST_MESSAGE_BYTES}"
