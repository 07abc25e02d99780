"""This installation: its version, its checkout, and the folders in which its native programs are looked for.

It looks for no program itself: `worker.executables` finds workers and `testbed.processes.child` the observers;
`answers` asks one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

VERSION = version("middlemark")
CHECKOUT = Path(__file__).resolve().parents[3]
WHEEL_PROGRAMS = Path(__file__).resolve().parents[1] / "native"
"""The native programs of an installed wheel; a checkout has no such folder."""
FOLDERS_VARIABLE = "MIDDLEMARK_WORKERS"
"""The environment variable with further folders of native programs."""
OWN_UMASK = 0o077
"""What any program is started with, so that no other user opens the files, segments and sockets that it makes."""


def program_folders() -> Iterator[Path]:
    """Where workers and observers are looked for, in this order."""
    yield from (Path(folder) for folder in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if folder)
    yield build_folder()
    yield from (Path(folder) for folder in os.get_exec_path())


def build_folder() -> Path:
    """Where this installation has its own: in its wheel, else where the checkout's build leaves them."""
    if WHEEL_PROGRAMS.is_dir():
        return WHEEL_PROGRAMS
    return Path(os.environ.get("CARGO_TARGET_DIR") or CHECKOUT / "target") / "release"
