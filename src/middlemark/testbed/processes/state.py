"""The folder of what outlives a process: this user's alone, as what lies there is done by whoever sweeps.

What is in it, `ledger` and `hosts.rootfs` know.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.results.files import user_name


def state_folder() -> Path:
    """The per-user folder for what outlives a process: ledgers and slots."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base, "middlemark")


def make_private(folder: Path) -> None:
    """A folder that is this user's, and that nobody else reads or writes: what a ledger there says is done."""
    _check_owner(next(path for path in (folder, *folder.parents) if os.path.lexists(path)))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise _not_own(folder, status.st_uid)
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def _check_owner(folder: Path) -> None:
    """Refuses to make a folder in one of another user, who could not use it any more; what is root's is all users'."""
    owner = folder.lstat().st_uid
    if owner not in {os.geteuid(), 0}:
        raise _not_own(folder, owner)


def _not_own(folder: Path, owner: int) -> EnvironmentNotReady:
    user = user_name(os.geteuid())
    return EnvironmentNotReady(
        f"{folder} is not a folder of the user who runs this ({user}), but of {user_name(owner)}",
        remedy="`sudo -E` keeps that user's folders; run it with root's own: sudo -H env -u XDG_STATE_HOME middlemark …"
        if os.geteuid() == 0
        else f"set XDG_STATE_HOME to a folder of your own, or have this one given back: sudo chown -R {user} {folder}",
    )
