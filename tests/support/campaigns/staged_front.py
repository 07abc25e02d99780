"""A front that runs a campaign and is killed, or gets a signal, a while after its first trial has come to a step.

`SUITE RUN_FOLDER SIGNAL STEP SECONDS` are on its command line; without the last three it runs to its end. `prepared`
starts it.
"""

import os
import sys
import threading
from pathlib import Path

from middlemark.campaign.campaign import run_new
from middlemark.errors import MiddlemarkError
from middlemark.results.progress import Event, StepReached
from staged import placed


class Doomed:
    def observe(self, event: Event) -> None:
        if isinstance(event, StepReached) and event.step == sys.argv[4:5][0]:
            threading.Timer(float(sys.argv[5]), os.kill, (os.getpid(), int(sys.argv[3]))).start()


def main() -> int:
    try:
        run_new(Path(sys.argv[2]), placed(Path(sys.argv[1]).read_text()), Doomed() if sys.argv[3:] else None)
    except MiddlemarkError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0
