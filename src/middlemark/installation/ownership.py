"""Whose a folder is: another user may have put anything into it, and what is made there is lost to its maker.

It only says who. What is then refused, and what helps, those say who ask: the cache, readers of runs, and the ledger.
"""

from __future__ import annotations

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
