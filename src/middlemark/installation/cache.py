"""The user's cache, for what can be made again: where it is, and how a folder of it is made.

It makes nothing in another user's folder, which `sudo -E` keeps for root. What is kept there, and whether it is still
true, say those who keep it; `results.files` reads and writes it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from middlemark.installation.ownership import nearest_existing, other_owner


def cache_folder() -> Path:
    """Where Middlemark's part of it is, or would be."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "middlemark")


def make_cache_folder(folder: Path) -> None:
    """Make a folder of the cache, this user's alone; an OSError where that can't be, or would be in another user's."""
    nearest = nearest_existing(folder)
    if other_owner(nearest) is not None:
        raise PermissionError(errno.EPERM, "it belongs to another user", str(nearest))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
