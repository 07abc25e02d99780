"""The dry run shows the plan: experiments, their places in the order, and how long it takes."""

import io

from inline_snapshot import snapshot
from rich.console import Console

from middlemark.cli.run import print_plan
from middlemark.plan import plan_trials
from middlemark.suite import load_suite


def test_quick_for_two_middlewares() -> None:
    trials = plan_trials(load_suite("quick").suite, available=["udp", "zenoh"], conditions=["workload=imu"])
    screen = io.StringIO()
    print_plan(trials, Console(file=screen, width=100))
    shown = "\n".join(line.rstrip() for line in screen.getvalue().splitlines())
    assert shown == snapshot("""\

  middleware   window   runs as trial
 ──────────────────────────────────────
  udp             1 s   1, 4, 5, 7, 9
  zenoh           1 s   2, 3, 6, 8, 10

all of them: profile default, workload imu, pattern periodic, size 1 kB, rate 200 Hz, arrival fixed,
reliability best_effort, history keep_last, depth 16, durability volatile, congestion block,
topology C1-1, placement separate, cpus spread, scheduling other, spin 0 ns, keep_awake true
2 experiments × 5 trials = 10 trials in 5 blocks, about 0 min 16 s\
""")
