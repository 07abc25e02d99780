"""What workers refuse, each reason once: refusals that differ in a message's size or a stream's name alone are one.

A worker names both in its reason, so that each cell of a sweep has another text. Workers are asked before a run by
`campaign.reproduction`; after one the outcomes have what they said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from middlemark.plan import Experiment
from middlemark.suite.yaml.quantity import SIZE, plural

_SIZE, _STREAM = "<size>", "<stream>"
_KIBIBYTE = 1024


@dataclass(frozen=True)
class Refused:
    """One reason with all experiments that have it."""

    middleware: str
    reason: str
    """With all sizes and streams that it is about: `2 KiB to 64 KiB on 'camera': …`."""
    n_experiments: int

    def __str__(self) -> str:
        return f"{self.middleware}, {plural(self.n_experiments, 'experiment')}: {self.reason}"


def refused_once(refusals: Iterable[tuple[Experiment, str]]) -> tuple[Refused, ...]:
    """Each reason once, of experiments with the reason of each."""
    cells: dict[tuple[str, str], list[tuple[int | None, str | None]]] = {}
    for experiment, reason in refusals:
        words, size_bytes, stream = _in_general(experiment, reason)
        cells.setdefault((experiment.middleware, words), []).append((size_bytes, stream))
    return tuple(
        Refused(middleware, _with(words, having), len(having)) for (middleware, words), having in cells.items()
    )


def _in_general(experiment: Experiment, reason: str) -> tuple[str, int | None, str | None]:
    """A reason without what is this experiment's own, and that: the size and the name of the stream that it names."""
    for stream in sorted(experiment.streams, key=lambda stream: f"'{stream.name}'" not in reason):
        sized, n_sizes = re.subn(rf"\b{stream.size_bytes} bytes", _SIZE, reason)
        words = sized.replace(f"'{stream.name}'", _STREAM)
        if words != reason:
            return words, stream.size_bytes if n_sizes else None, stream.name if _STREAM in words else None
    return reason, None, None


def _with(words: str, cells: Sequence[tuple[int | None, str | None]]) -> str:
    sizes = sorted({size_bytes for size_bytes, _ in cells if size_bytes is not None})
    streams = [f"'{name}'" for name in dict.fromkeys(name for _, name in cells if name is not None)]
    return words.replace(_SIZE, _sizes(sizes)).replace(_STREAM, _listed(streams))


def _sizes(sizes_bytes: Sequence[int]) -> str:
    """`64 kB`, `8 KiB and 64 KiB`, `2 KiB to 512 KiB`."""
    written = [_size(size_bytes) for size_bytes in sizes_bytes]
    return f"{written[0]} to {written[-1]}" if len(written) > 2 else _listed(written)


def _size(size_bytes: int) -> str:
    is_binary = size_bytes % _KIBIBYTE == 0 and size_bytes % 1000 != 0
    return f"{size_bytes // _KIBIBYTE} KiB" if is_binary else SIZE.text(size_bytes)


def _listed(words: Sequence[str]) -> str:
    return " and ".join([*([", ".join(words[:-1])] if words[1:] else []), *words[-1:]])
