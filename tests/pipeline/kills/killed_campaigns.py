"""Forks campaigns, one after the other, and kills each at a random instant; says how many left something to remove.

`python killed_campaigns.py SUITE FOLDER TIMES LONGEST_S MARK`. What a campaign needs is loaded once, before the forks: else
most instants would be those of loading. Nothing is removed here: the next campaign does that, as it would for a user.
"""

import importlib
import json
import os
import random
import secrets
import signal
import sys
import time
from pathlib import Path

from middlemark.cli.main import main as middlemark_main
from middlemark.testbed.processes import ledger


def be_a_campaign(*words: object, log: str = os.devnull) -> None:
    """`middlemark run` as from the command line, with nothing to read; what it says goes into a log."""
    for stream, (path, flags) in enumerate(
        [(os.devnull, os.O_RDONLY), *[(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)] * 2]
    ):
        os.dup2(os.open(path, flags, 0o600), stream)
    sys.argv = ["middlemark", "run", *map(str, words)]
    middlemark_main()


def left_something(campaign: int | str = "*") -> bool:
    """Whether the ledger of a campaign, or any, lists what is still to be removed."""
    ledgers = Path(os.environ["XDG_STATE_HOME"], "middlemark", "ledgers")
    return any(ledger.read(path) for path in ledgers.glob(f"{campaign}-*.jsonl"))


def draw_names_with(mark: str) -> None:
    """All that is named at random begins with the mark: so what others make meanwhile is not taken for ours."""
    drawn = secrets.token_hex
    secrets.token_hex = lambda nbytes=None: mark + drawn(nbytes)[len(mark) :]


def await_first_entry(campaign: int) -> None:
    """However long this machine takes to start a campaign."""
    deadline = time.monotonic() + 60
    while not left_something(campaign):
        assert time.monotonic() < deadline, "the campaign made nothing"
        time.sleep(0.002)


def main() -> None:
    suite, folder, times, longest_s = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    draw_names_with(sys.argv[5])
    chance = random.Random(1)
    leaving = 0
    for module in ("middlemark.campaign.campaign", "middlemark.report.output.live"):
        importlib.import_module(module)
    for number in range(times):
        child = os.fork()
        if child == 0:
            try:
                be_a_campaign(suite, "--out", folder / f"run-{number}")
            finally:
                os._exit(1)  # it was to be killed; and whatever it raised, it is not to go on as its parent
        if number % 5:  # one in five is killed while it starts, or soon after
            await_first_entry(child)
        time.sleep(chance.uniform(0, longest_s))  # the instant of the kill is what is random here
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the campaign was over before it was killed"
        leaving += left_something()

    print(json.dumps({"leaving": leaving}))


if __name__ == "__main__":
    main()
