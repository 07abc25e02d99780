"""The folder of what outlives a process: this user's alone, as what lies there is done by whoever sweeps.

What is in it, `ledger` and `hosts.rootfs` know.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from middlemark.errors import EnvironmentNotReady


def state_folder() -> Path:
    """The per-user folder for what outlives a process: ledgers and slots."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base, "middlemark")


def make_private(folder: Path) -> None:
    """A folder that is this user's, and that nobody else reads or writes: what a ledger there says is done."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise EnvironmentNotReady(
            f"{folder} is not a folder of the user who runs this", remedy="set XDG_STATE_HOME to a folder of your own"
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
