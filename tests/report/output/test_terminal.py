"""The terminal's summary says the same as the report."""

import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from behaviour import Behaviour
from middlemark.plan import Failed, NotApplicable
from middlemark.report.output.terminal import print_summary
from run_builder import build_run

SUITE = """
suite: printed
trials: 3
middlewares: all
workloads: [{workload: imu, windows: {window: 2 s}}]
"""


def printed(path: Path, **behaviours: Behaviour) -> str:
    console = Console(file=StringIO(), width=120)
    print_summary(build_run(path / "run", SUITE, behaviours).path, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_ranks_come_in_order_and_ties_are_shown_as_ties(tmp_path: Path) -> None:
    text = printed(
        tmp_path,
        slow=Behaviour(latency_ns=300_000),
        one=Behaviour(latency_ns=40_000),
        two=Behaviour(latency_ns=40_000),
    )
    lines = [line.split()[:2] for line in text.splitlines() if re.match(r" *\d+(–\d+)?  +\w", line)]
    assert sorted(lines[:2]) == [["1–2", "one"], ["1–2", "two"]]
    assert lines[2] == ["3", "slow"]
    assert "tie for the lowest latency" in text


def test_what_did_not_count_is_listed_below_with_its_reason(tmp_path: Path) -> None:
    text = printed(
        tmp_path,
        good=Behaviour(),
        broken=Behaviour(outcome=Failed(application="publisher_0", doing="connecting", causes=("refused",))),
        unable=Behaviour(outcome=NotApplicable(capability="size_bytes", reason="far too large")),
    )
    assert "unable: not applicable: far too large" in text
    assert "broken: 3 trials failed, publisher_0, connecting: refused" in text
    assert text.index("good") < text.index("unable: not")


def test_warnings_come_with_their_remedy(tmp_path: Path) -> None:
    assert "→ cpupower frequency-set -g performance" in printed(tmp_path, good=Behaviour())


def test_pooled_quantiles_are_marked(tmp_path: Path) -> None:
    line = next(line for line in printed(tmp_path, good=Behaviour()).splitlines() if "good" in line)
    assert "*" in line
