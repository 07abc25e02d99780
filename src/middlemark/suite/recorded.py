"""Messages as they were recorded: when each came and how large it was, read from a CSV file that a demand names.

Its columns are `topic`, `at_ns` (from the recording's begin) and `size_bytes`; a line is a message, and contents are
not needed. It knows no recording's own format: `campaign.recording` turns those into this file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from middlemark.errors import SuiteError
from middlemark.suite.beside import Beside
from middlemark.suite.model import Named, closest_first, refusal
from middlemark.suite.quantity import LARGEST_MESSAGE_BYTES, SMALLEST_MESSAGE_BYTES

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("topic", "at_ns", "size_bytes")
_MOST_MESSAGES = 5_000_000


class RecordedMessages(Named):
    """The messages of one topic of a recording."""

    name_key: ClassVar[str] = "file"

    file: str
    """A CSV file, found from the demand's folder."""
    topic: str | None = None
    """Its topic there; without it, the stream's."""
    offsets_ns: tuple[int, ...] = ()
    """When each message comes, from the recording's begin; what was read of the file."""
    sizes_bytes: tuple[int, ...] = ()
    """How large each is, padded to the smallest that can be sent."""
    period_ns: int = 0
    """How long the whole recording lasts, all topics together; after it, it begins again."""

    def read(self, beside: Beside, stream_topic: str) -> RecordedMessages:
        """These messages with what the file says of them."""
        topic = self.topic or stream_topic
        table = _table(self.file, beside)
        own = table.filter(table["topic"] == topic).sort("at_ns")
        if own.is_empty():
            known = table["topic"].unique().sort().to_list()
            raise refusal(f"`{self.file}` has no message of `{topic}`", allowed=closest_first(topic, known))
        sizes = own["size_bytes"].clip(SMALLEST_MESSAGE_BYTES)
        return self.model_copy(
            update={
                "offsets_ns": tuple(own["at_ns"].to_list()),
                "sizes_bytes": tuple(sizes.to_list()),
                "period_ns": period_ns(table["at_ns"].max(), Counter(table["topic"])),
            }
        )


def period_ns(last_ns: object, messages: Counter[str]) -> int:
    """How long a recording lasts: to its last message, and after it for its densest topic's mean interval."""
    last = int(str(last_ns))
    return last + max(last // max(max(messages.values()) - 1, 1), 1)


def _table(file: str, beside: Beside) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 - only a demand with a recording pays for loading it

    path = beside.path(file)
    try:
        table = pl.read_csv(beside.read(file), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0]
        raise SuiteError(f"this is no CSV: {said}", file=path, allowed=",".join(COLUMNS)) from error
    if tuple(table.columns) != COLUMNS:
        raise SuiteError("these are other columns", file=path, line=1, allowed=",".join(COLUMNS))
    if not 0 < table.height <= _MOST_MESSAGES:
        raise SuiteError(f"{table.height} messages", file=path, allowed=f"1 to {_MOST_MESSAGES}")
    figures = table.with_columns(pl.col("at_ns", "size_bytes").cast(pl.Int64, strict=False))
    for line, problem in _wrong(figures.rows()):
        raise SuiteError(problem, file=path, line=line, offending=",".join(map(str, table.rows()[line - 2])))
    return figures


def _wrong(rows: Sequence[tuple[str, int | None, int | None]]) -> Iterator[tuple[int, str]]:
    """Lines, from 1 with the heading, that can't be read."""
    for line, (_, at_ns, size_bytes) in enumerate(rows, start=2):
        if at_ns is None or at_ns < 0:
            yield line, "`at_ns` is no whole number from 0"
        if size_bytes is None or not 0 <= size_bytes <= LARGEST_MESSAGE_BYTES:
            yield line, f"`size_bytes` is no whole number from 0 to {LARGEST_MESSAGE_BYTES}"
