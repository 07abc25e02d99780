"""Keeps one CPU awake: a process of the idle class that yields to everything else and never sleeps.

It is a script, run by `awake` in a process of its own with nothing but the standard library; it ends when its standard
input does, which is when whoever started it is gone. `python spinner.py CPU`.
"""

import os
import sys
import threading


def main() -> None:
    """Spins on the CPU named by the only argument."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setaffinity(0, {int(sys.argv[1])})
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.setswitchinterval(0.05)
    while True:
        pass


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
