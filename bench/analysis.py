"""What the analysis and the report of a large run take: time and peak memory over samples, as a table in Markdown.

    PYTHONPATH=tests python bench/analysis.py [MILLIONS …]

It writes runs of two middlewares whose trials have a million messages each (some 40 MB a trial, in a temporary folder),
and reads each of them in a process of its own. Folders are removed at its end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from middlemark.analysis.run import analyse
from middlemark.analysis.run_folder import RunFolder
from middlemark.report.html import write_report
from middlemark.report.store import write_summary
from run_builder import Behaviour, build_run

MILLIONS = (1, 10, 100)
SUITE = """
suite: large
trials: {trials}
middlewares: all
recording: {{samples: 1000000}}
workloads: {{workload: imu, rate: 100 kHz, windows: {{window: {window_ms} ms}}}}
"""
BEHAVIOURS = {"one": Behaviour(spread=0.4, loss=0.001), "two": Behaviour(latency_ns=70_000, spread=0.6)}
TRIAL = 1_000_000


def built(folder: Path, samples: int) -> None:
    trials = max(samples // (len(BEHAVIOURS) * TRIAL), 1)
    window_ms = samples // (len(BEHAVIOURS) * trials) // 100
    build_run(folder, SUITE.format(trials=trials, window_ms=window_ms), BEHAVIOURS)


def read(folder: Path) -> None:
    """What `middlemark report` does; the peak is of this process alone, which `getrusage` would not say."""
    begin = time.monotonic()
    findings = analyse(RunFolder(folder))
    analysed = time.monotonic()
    write_summary(findings)
    write_report(findings)
    done = time.monotonic()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak_kib,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
    assert not findings.damaged
    n = sum(totals.received for each in findings.experiments for totals in each.totals.values())
    spent = {"analysis_s": analysed - begin, "report_s": done - analysed, "cpu_s": time.process_time()}
    print(json.dumps({"n": n, **spent, "peak_mib": peak_kib / 1024}))


def main(millions: list[int]) -> None:
    print("| samples | trials | analysis, s | report, s | CPU, s | µs of CPU a sample | peak memory, MiB |", flush=True)
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for each in millions:
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as folder:
            built(Path(folder), each * 10**6)
            report(Path(folder))


def report(folder: Path) -> None:
    answer = subprocess.run(
        [sys.executable, __file__, "--read", str(folder)], capture_output=True, text=True, check=True
    )
    found = json.loads(answer.stdout)
    trials = sum(1 for _ in RunFolder(folder).stored_trials())
    print(
        f"| {found['n']:,} | {trials} | {found['analysis_s']:.1f} | {found['report_s']:.1f} | {found['cpu_s']:.1f} "
        f"| {1e6 * found['cpu_s'] / found['n']:.2f} | {found['peak_mib']:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]))
    else:
        main([int(each) for each in sys.argv[1:]] or list(MILLIONS))
