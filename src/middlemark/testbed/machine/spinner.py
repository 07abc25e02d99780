"""Keeps one CPU awake: a process of the idle class that yields to everything else and never sleeps.

It is a script, run by `cpus` in a process of its own with nothing but the standard library; it ends when its standard
input does, which is when whoever started it is gone. `python spinner.py CPU [FILE]`: FILE lists the control group's
members, which it joins.
"""

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Spins on the CPU named by the first argument."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setaffinity(0, {int(sys.argv[1])})
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.setswitchinterval(0.05)
    with suppress(OSError):  # a kernel without autogroups, or one that lets them be
        Path("/proc/self/autogroup").write_text("19")
    for members in sys.argv[2:]:  # the last step: on a busy CPU the next one may take seconds
        Path(members).write_text(str(os.getpid()))
    while True:
        pass


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
