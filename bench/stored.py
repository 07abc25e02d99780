"""What reading stored results takes: the report of suite `automotive` in 640 trials, and `serve` over a thousand runs.

    PYTHONPATH=tests/support python bench/stored.py [FOLDER]

Both are built in a temporary folder (700 MB, removed at the end), or in one that is given and kept. Each is read in a
process of its own, whose CPU time and peak memory are told: those of the machine's other work stay out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path

from middlemark.analysis.run import analyse
from middlemark.report.output.data import recompute_metrics, write_summary
from middlemark.report.output.html import write_report
from middlemark.results.run_folder import RunFolder
from run_builder import Behaviour, build_run

MIDDLEWARES = ("cyclonedds", "fastdds", "iceoryx2", "mqtt", "shm", "tcp", "udp", "uds", "vsomeip", "zenoh")
SMALL = """
suite: small
trials: 3
middlewares: all
workloads: [{workload: imu, windows: {window: 200 ms}}, {workload: ping_pong, windows: {window: 50 ms}}]
"""
RUNS = 1000


def build_automotive(folder: Path) -> None:
    """Each of its experiments for ten middlewares in one trial: 640, and as many settings as there can be."""
    text = (
        resources.files("middlemark.suite").joinpath("shipped", "suites", "automotive.yaml").read_text(encoding="utf-8")
    )
    how = {name: Behaviour(latency_ns=40_000 * (1 + place / 5)) for place, name in enumerate(MIDDLEWARES)}
    run = build_run(folder, text.replace("trials: 3", "trials: 1"), how)
    recompute_metrics(run)


def build_runs(folder: Path) -> None:
    """The same small run again and again, each a minute after the last."""
    how = {name: Behaviour(latency_ns=20_000 * (1 + place)) for place, name in enumerate(MIDDLEWARES[:3])}
    first = build_run(folder / "run-000", SMALL, how)
    write_summary(analyse(first))
    manifest = first.read_manifest()
    for number in range(1, RUNS):
        path = shutil.copytree(first.path, folder / f"run-{number:03}")
        began = f"2026-01-{1 + number // 60:02}T12:{number % 60:02}:00+00:00"
        RunFolder(path).write_manifest(manifest.model_copy(update={"started_at": began}))


def report(folder: Path) -> None:
    """What `middlemark report` does."""
    findings = analyse(RunFolder(folder))
    write_summary(findings)
    write_report(findings)
    assert not findings.damaged, findings.damaged


def first_page(folder: Path) -> None:
    """What `middlemark serve` does until its list is there."""
    from starlette.testclient import TestClient  # noqa: PLC0415 - the report's process needs it not

    from middlemark.serve.app import site  # noqa: PLC0415 - as above

    answer = TestClient(site([folder], ["testserver"])).get("/")
    assert answer.status_code == 200, answer.text
    assert answer.text.count("<tr><th") == RUNS + 1


READ = {"report": report, "serve": first_page}


def read(what: str, folder: Path) -> None:
    """The peak is of this process alone, which `getrusage` would not say."""
    loaded_s = time.process_time()
    READ[what](folder)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak_kib,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
    print(json.dumps({"loading_s": loaded_s, "cpu_s": time.process_time(), "peak_mib": peak_kib / 1024}))


def measured(what: str, folder: Path) -> str:
    command = [sys.executable, __file__, "--read", what, str(folder)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return f"{found['cpu_s']:.1f} | {found['loading_s']:.1f} | {found['peak_mib']:.0f} |"


def main(folder: Path) -> None:
    """The second report stands for all: the first one on a machine puts the drawing program together."""
    automotive, runs = folder / "automotive", folder / "runs"
    if not automotive.exists():
        build_automotive(automotive)
    if not runs.exists():
        build_runs(runs)
    measured("report", automotive)
    print("| | CPU, s | of it loading programs, s | peak memory, MiB |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| the report of 640 trials of `automotive` | {measured('report', automotive)}", flush=True)
    print(f"| the first page of `serve` over {RUNS} runs | {measured('serve', runs)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as temporary:
            main(Path(temporary))
