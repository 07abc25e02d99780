"""The program that draws the charts: Vega, Vega-Lite and their embedding, as one script; nothing is fetched for it.

The package that carries them takes seconds to put them together, always to the same text: it is kept in the user's own
cache, under the package's version and with its digest. Where nothing can be kept there it is put together each time.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

from middlemark.errors import StoreError
from middlemark.results.files import read_bytes, write_text

MOST_BYTES = 1 << 24


@cache
def program() -> str:
    """The script."""
    cached = _cache_file()
    known = _kept(cached)
    if known is not None:
        return known
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg] # its stub forgets the default
    with suppress(StoreError):  # a report needs no cache
        write_text(cached, f"{_digest(bundle)}\n{bundle}")
    return bundle


def _kept(cached: Path) -> str | None:
    """As it was kept, by this user and whole."""
    try:
        if cached.lstat().st_uid != os.geteuid():
            return None
        digest, _, bundle = read_bytes(cached, MOST_BYTES).decode().partition("\n")
    except (StoreError, OSError, UnicodeDecodeError):
        return None
    return bundle if digest == _digest(bundle) else None


def _digest(bundle: str) -> str:
    return hashlib.sha256(bundle.encode()).hexdigest()


def _cache_file() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "middlemark", f"vega-{version('vl-convert-python')}.js")
