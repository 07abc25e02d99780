"""The report in a real browser: every chart is drawn, nothing goes wrong, nothing is asked of any network."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from middlemark.report.html import write_report
from run_builder import Behaviour, build_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--virtual-time-budget=10000",
    "--enable-logging=stderr",
    "--dump-dom",
]
SUITE = """
suite: drawn
trials: 3
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}, {workload: ping_pong, windows: {window: 100 ms}}]
"""
WATCHED = """
suite: watched
trials: 2
middlewares: all
observe: [resources, wire]
workloads: {workload: imu, size: [100 B, 1 kB], windows: {window: 1 s}}
topologies: D1-1
"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


@pytest.mark.parametrize(("suite", "expected"), [(SUITE, 12), (WATCHED, 17)], ids=["plain", "watched"])
def test_every_chart_is_drawn_and_nothing_goes_wrong(tmp_path: Path, suite: str, expected: int) -> None:
    behaviours = {"one": Behaviour(loss=0.1), "two": Behaviour(latency_ns=90_000)}
    report = write_report(build_run(tmp_path / "run", suite, behaviours).path)
    shown = subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'browser'}", report.as_uri()],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    plots = len(re.findall(r'class="plot', shown.stdout))
    assert plots == expected
    assert len(re.findall(r'class="marks"', shown.stdout)) == plots
    assert "CONSOLE" not in shown.stderr
