"""Programs as processes that have loaded everything when they begin: each is forked off a server, which loads it once.

For tests of what processes do to one another, of which loading would take most of the time. What a single command says
is `command_line`'s.
"""

import importlib
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import dask.config

FRONT = "middlemark.cli.main"
"""`middlemark` itself."""
SCHEDULER = "distributed.cli.dask_scheduler"
_SERVER = get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        FRONT,
        SCHEDULER,
        "middlemark.campaign.fleet.front",
        "middlemark.campaign.fleet.testbed",
        "middlemark.campaign.campaign",
    ]
)


def start(
    program: str, words: Sequence[object], log: Path, environment: Mapping[str, str] | None = None
) -> BaseProcess:
    """Starts `main` of a module with these words on its command line; what it says goes into the log.

    Without an environment it has that of this process. It ends at the latest with this process.
    """
    log.touch()
    there = (str(log), dict(os.environ if environment is None else environment), str(Path.cwd()))
    process = _SERVER.Process(target=_become, args=(program, [str(word) for word in words], *there), daemon=True)
    process.start()
    return process


def _become(program: str, words: Sequence[str], log: str, environment: Mapping[str, str], folder: str) -> None:
    written = os.open(log, os.O_WRONLY | os.O_APPEND)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(written, stream.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # What was read of the server's environment is read again of this one's.
    tempfile.tempdir = None
    dask.config.refresh()
    sys.argv = [program, *words]
    sys.exit(importlib.import_module(program).main())
