"""Histogram logs as workers leave them: the messages beyond their sample memory, one entry for each flow.

It decodes and merges nothing; `analysis.histogram` does. `run_folder` finds the files.
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

_KIND, _PLAIN, _COMPRESSED = 0xFFFF_FF0F, 0x1C84_9303, 0x1C84_9314


@dataclass(frozen=True)
class Logged:
    """The histogram of one flow's messages beyond the sample memory."""

    stream: str
    publisher: int
    subscriber: int
    answers: bool
    histogram: HdrHistogram


def read_log(text: str) -> list[Logged]:
    """Every tagged entry of a histogram log; other lines say when it was written."""
    entries = [line for line in text.splitlines() if line.startswith("Tag=")]
    return [_entry(*line.removeprefix("Tag=").split(",", 4)) for line in entries]


def _entry(tag: str, _start: str, _length: str, _most: str, payload: str) -> Logged:
    parts = tag.split(".")
    answers = parts[-1] == "answers"
    stream, first, second = ".".join(parts[: -3 if answers else -2]), *parts[-3 if answers else -2 :][:2]
    return Logged(stream, int(first), int(second), answers, HdrHistogram.decode(_compressed(payload)))


def _compressed(payload: str) -> bytes:
    """The encoding that the library reads; stored runs have logs whose worker left the compression out."""
    raw = base64.b64decode(payload)
    if struct.unpack(">I", raw[:4])[0] & _KIND != _PLAIN:
        return payload.encode()
    packed = zlib.compress(raw)
    return base64.b64encode(struct.pack(">II", _COMPRESSED, len(packed)) + packed)
