"""Stores: what `fsspec` reaches by a URL, and folders that machines share. Files go in and come out by their location.

Nothing is known here of what they hold: `campaign` puts packed runs there, and a fleet's blocks on their way.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from middlemark.errors import EnvironmentNotReady

_PIECE_BYTES: Final = 4 << 20


def is_url(text: str) -> bool:
    """Whether it names something by a URL rather than by a path."""
    return "://" in text


def location_in(store: str, name: str) -> str:
    """Of a file in a store."""
    return f"{store.rstrip('/')}/{name}"


def put(path: Path, location: str) -> None:
    """Copy a file into a store; raises `EnvironmentNotReady` where that can't be reached or written."""
    with _reaching(location) as (store, name), store.open(name, "wb") as remote, path.open("rb") as local:
        shutil.copyfileobj(local, remote, _PIECE_BYTES)


def fetch(location: str, into: Path, most_bytes: int) -> Path:
    """Copy a file out of a store; raises `EnvironmentNotReady` where it can't be read, or has more bytes."""
    left_bytes = most_bytes
    with _reaching(location) as (store, name), store.open(name, "rb") as remote, into.open("wb") as local:
        while piece := remote.read(_PIECE_BYTES):
            left_bytes -= len(piece)
            if left_bytes < 0:
                raise EnvironmentNotReady(
                    f"{location} is larger than {most_bytes} bytes, the most that the expected file can have",
                    remedy="check the location: it must be a file that Middlemark has put there",
                )
            local.write(piece)
    return into


def remove(location: str) -> None:
    """Remove a file, if it is there and can be removed: its name says whose it is."""
    with suppress(EnvironmentNotReady), _reaching(location) as (store, name):
        store.rm_file(name)


def remove_all(store: str, beginning: str) -> None:
    """The same of all files of a store whose names begin so."""
    with suppress(EnvironmentNotReady), _reaching(store) as (system, folder):
        system.invalidate_cache()
        for path in system.ls(folder, detail=False):
            if path.rpartition("/")[2].startswith(beginning):
                remove(location_in(store, path.rpartition("/")[2]))


@contextmanager
def _reaching(location: str) -> Iterator[tuple[Any, str]]:
    """The store of a location, and the name in it."""
    try:
        from fsspec.core import url_to_fs  # noqa: PLC0415 - only who names a store needs it
    except ImportError as error:
        raise EnvironmentNotReady(
            f"{location} needs `fsspec`, which is not installed", remedy="pip install 'middlemark[store]'"
        ) from error
    try:
        yield url_to_fs(location)
    except EnvironmentNotReady:
        raise
    except ImportError as error:
        raise EnvironmentNotReady(f"{location} can't be reached: {error}", remedy="install what it names") from error
    except Exception as error:  # each store has errors of its own
        reason = str(error) or type(error).__name__
        raise EnvironmentNotReady(
            f"{location} can't be read or written: {reason}", remedy="check where it is, and who may use the store"
        ) from error
