"""The user's folders: to whom a folder belongs, and the cache for what can be made again.

Another user may have put anything into a folder of theirs, and what is made there is lost to its maker; nothing is
cached in one, which `sudo -E` keeps for root. What is refused for it and what is cached, those say who ask: readers of
runs, the ledger, and those who keep something in the cache.
"""

from __future__ import annotations

import errno
import os
import pwd
from pathlib import Path


def other_owner(folder: Path) -> str | None:
    """The user whose it is, or the link that leads to it; None where both are this user's or root's, who may do all."""
    others = {folder.lstat().st_uid, folder.stat().st_uid} - {os.geteuid(), 0}
    return user_name(min(others)) if others else None


def nearest_existing(folder: Path) -> Path:
    """The folder itself, or the one in which it would be made with those that it is in."""
    return next(path for path in (folder, *folder.parents) if os.path.lexists(path))


def user_name(number: int) -> str:
    """A user's name; the number of one who has none."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def cache_folder() -> Path:
    """Where Middlemark's part of it is, or would be."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "middlemark")


def make_cache_folder(folder: Path) -> None:
    """Make a folder of the cache, this user's alone; an OSError where that can't be, or would be in another user's."""
    nearest = nearest_existing(folder)
    if other_owner(nearest) is not None:
        raise PermissionError(errno.EPERM, "it belongs to another user", str(nearest))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
