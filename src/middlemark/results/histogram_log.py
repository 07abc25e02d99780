"""Histogram logs as workers leave them: the messages that overflowed their sample memory, one entry for each flow.

Each is decompressed only as far as a histogram of its kind reaches. It merges nothing, the analysis does;
`trial_folder` finds the files.
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hdrh.codec import HdrCookieException, HdrHistogramSettingsException, HdrLengthException
from hdrh.histogram import HdrHistogram

from middlemark.errors import StoreError
from middlemark.results.files import RESTORE, read_bytes

_KIND, _PLAIN, _COMPRESSED = 0xFFFF_FF0F, 0x1C84_9303, 0x1C84_9314
_PAYLOAD = struct.Struct(">iiiiqqd")
"""The header of an encoded histogram: cookie, length, offset, digits, lowest, highest, ratio."""
MOST_HISTOGRAM_LOG_BYTES: Final = 1 << 26
MOST_HISTOGRAM_BYTES: Final = 1 << 22
"""Of one flow, decompressed: ten times what three digits from 1 ns to an hour take."""
MOST_FLOWS: Final = 1 << 14
"""Of one log."""
MOST_DIGITS: Final = 3
MOST_NS: Final = 3_600_000_000_000
"""What workers record: up to an hour."""


@dataclass(frozen=True)
class FlowHistogram:
    """The histogram of one flow's messages beyond the sample memory."""

    stream: str
    publisher: int
    subscriber: int
    answers: bool
    """Whether it is of a ping-pong's answers."""
    histogram: HdrHistogram
    round_trips: bool = False
    """Whether it is of answers' round trips rather than one-way: earlier workers logged these."""


def read_log(path: Path) -> list[FlowHistogram]:
    """Every tagged entry of a histogram log; other lines say when it was written."""
    try:
        lines = read_bytes(path, MOST_HISTOGRAM_LOG_BYTES).decode().splitlines()
        return [_entry(*_fields(line)) for line in _few([line for line in lines if line.startswith("Tag=")])]
    except (
        ValueError,
        TypeError,
        LookupError,
        OverflowError,
        HdrCookieException,
        HdrLengthException,
        HdrHistogramSettingsException,
        struct.error,
        zlib.error,
    ) as cause:
        message = f": {cause}" if str(cause) else ""
        raise StoreError(path, f"it can't be read{message}", RESTORE) from cause


def _few(entries: list[str]) -> list[str]:
    if len(entries) > MOST_FLOWS:
        raise ValueError(f"it has {len(entries)} flows, and at most {MOST_FLOWS} are read")
    return entries


def _fields(line: str) -> tuple[str, str]:
    """An entry's tag and its payload; between them stand its start, its length and its largest value."""
    tag, *_, payload = line.removeprefix("Tag=").split(",", 4)
    return tag, payload


def _entry(tag: str, payload: str) -> FlowHistogram:
    parts = tag.split(".")
    answers = parts[-1] in {"answers", "round_trips"}
    stream, first, second = ".".join(parts[: -3 if answers else -2]), *parts[-3 if answers else -2 :][:2]
    histogram = HdrHistogram.decode(_compressed(payload))
    return FlowHistogram(stream, int(first), int(second), answers, histogram, parts[-1] == "round_trips")


def _compressed(payload: str) -> bytes:
    """The encoding that the library reads; stored runs have logs whose worker left the compression out."""
    raw = base64.b64decode(payload, validate=True)
    is_plain = struct.unpack(">I", raw[:4])[0] & _KIND == _PLAIN
    plain = raw if is_plain else _decompressed(raw[8:])
    _, _, _, digits, lowest, highest, _ = _PAYLOAD.unpack_from(plain)
    if not (1 <= digits <= MOST_DIGITS and 1 <= lowest < highest <= MOST_NS):
        raise ValueError(f"a histogram of {digits} digits from {lowest} to {highest} is none of latencies")
    packed = zlib.compress(plain)
    return base64.b64encode(struct.pack(">II", _COMPRESSED, len(packed)) + packed)


def _decompressed(packed: bytes) -> bytes:
    """As much as a histogram may take, and no more is made of it."""
    reader = zlib.decompressobj()
    plain = reader.decompress(packed, MOST_HISTOGRAM_BYTES)
    if reader.unconsumed_tail or not reader.eof:
        raise ValueError(f"a histogram takes at most {MOST_HISTOGRAM_BYTES} bytes, and whole ones are read")
    return plain
