"""The one way in which an archive from another machine is unpacked: expected files, within bounds, and nothing else.

No name in it leaves the folder, and no link, device or mode comes through. Who sends it, `remote` and the
fleet of a campaign know.
"""

from __future__ import annotations

import io
import os
import re
import select
import tarfile
import time
from pathlib import Path
from typing import Final

MOST_BYTES: Final = 64 << 30
"""Of all files of one application: a hundred times what its sample memory has by default."""
MOST_HEADER_BYTES: Final = 16 << 20
"""Of all that is not the content of a file."""
SAMPLES: Final = re.compile(r"[\w.-]{1,200}\.(npy|hlog)", re.ASCII)
"""The files that a worker leaves."""


class Refused(Exception):
    """The archive can't be one of samples; the text says why."""


class _Arriving(io.RawIOBase):
    """The output of a process, until a deadline and only so much of it."""

    def __init__(self, descriptor: int, deadline: float) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._deadline = deadline
        self.left_bytes = MOST_HEADER_BYTES

    def read(self, size: int = -1) -> bytes:
        ready, _, _ = select.select([self._descriptor], [], [], max(self._deadline - time.monotonic(), 0))
        if not ready:
            raise Refused("it does not come to its end in time")
        part = os.read(self._descriptor, size if size >= 0 else 1 << 16)
        self.left_bytes -= len(part)
        if self.left_bytes < 0:
            raise Refused(f"it has more than {MOST_HEADER_BYTES >> 20} MiB beside its files")
        return part


def unpack(descriptor: int, into: Path, within_s: float, expected: re.Pattern[str] = SAMPLES) -> None:
    """Unpacks what comes through a descriptor; what is not named as it is expected is passed over."""
    arriving = _Arriving(descriptor, time.monotonic() + within_s)
    left_bytes = MOST_BYTES
    try:
        with tarfile.open(fileobj=arriving, mode="r|") as archive:
            for member in archive:
                left_bytes -= member.size
                if left_bytes < 0 or member.size < 0:
                    raise Refused(f"its files have more than {MOST_BYTES >> 30} GiB")
                arriving.left_bytes += member.size
                name = member.name.removeprefix("./")
                if expected.fullmatch(name) is not None:
                    _extract(archive, member, name, into)
    except (tarfile.TarError, ValueError, EOFError) as cause:
        raise Refused(f"it can't be read: {cause}") from cause


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, into: Path) -> None:
    if not member.isreg() or member.issparse():
        raise Refused(f"{name!r} in it is no regular file")
    if (into / name).exists():
        raise Refused(f"{name!r} is in it twice")
    (into / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    archive.extract(member.replace(name=name, mode=0o600, deep=False), into, filter="data", set_attrs=False)
