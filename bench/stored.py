"""What reading stored results takes: the report of suite `automotive` in 640 trials, and `serve` over a thousand runs.

Of `serve` the first start over these runs is told too, whose pages make the index that later ones read.

    PYTHONPATH=tests/support:tests/support/runs python bench/stored.py [--serve] [FOLDER]

Both are built in a temporary folder (700 MB, removed at the end), or in one that is given and kept. What is measured is
the command itself, from its start: the CPU time and the peak memory of its process, loading programs included.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.output.data import recompute_metrics, write_summary
from middlemark.results.run_folder import RunFolder
from middlemark.suite import load_suite
from run_builder import build_run

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
    text = load_suite("automotive").text
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


AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed program has its bytecode; where none may be written, each module is compiled anew."""


def program(then: str) -> list[str]:
    """The program in Python that starts as the command does, and what follows it."""
    return [sys.executable, "-c", f"from middlemark.cli.main import main\n{then}"]


def used(process: psutil.Process) -> str:
    """CPU time and peak memory of a process that still is; the peak is of it alone, which `getrusage` would not say."""
    spent = process.cpu_times()
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    (peak_kib,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
    return f"{spent.user + spent.system:.1f} | {peak_kib / 1024:.0f} |"


def report(folder: Path) -> str:
    """`middlemark report`: its last words are read before it may end, so that it can still be asked."""
    command = [*program("try: main()\nfinally: print('ended', flush=True); input()"), "report", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=AS_INSTALLED
    ) as process:
        assert process.stdout
        assert any(line == "ended\n" for line in process.stdout)
        found = used(psutil.Process(process.pid))
        process.communicate("\n")
    assert process.returncode == 0, process.returncode
    return found


def pages(folder: Path, cache: Path) -> tuple[float, list[tuple[float, int]], str]:
    """`middlemark serve`: seconds until its list was read; those and the bytes of a history's pages; what it used."""
    command = [*program("main()"), "serve", str(folder), "--port", "0"]
    begin, own = time.monotonic(), {"XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=AS_INSTALLED | own) as process:
        assert process.stdout
        address = process.stdout.readline().split()[0]
        page, _ = fetched(address)
        up_s = time.monotonic() - begin
        listed, took_s = fetched(f"{address}history")
        (link, *_) = re.findall(r'<a href="/(history[?][^"]*setting=[^"]*)"', listed)
        setting, setting_s = fetched(address + html.unescape(link))
        again, again_s = fetched(f"{address}history?figure=cpu")
        found = used(psutil.Process(process.pid))
        process.terminate()
    assert page.count("<tr><th") == 100 + 1
    assert f'<td class="value">{RUNS}</td>' in again
    return up_s, [(took_s, len(listed)), (setting_s, len(setting)), (again_s, len(again))], found


def fetched(address: str) -> tuple[str, float]:
    begin = time.monotonic()
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - the address that our own server says
        text = answer.read().decode()
    return text, time.monotonic() - begin


def serve(folder: Path) -> None:
    """The cache has the program that draws, as that of whoever has ever made a report."""
    with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as cache:
        timed = "settings, s (kB) | a setting, s (kB) | another metric, s (kB)"
        print(f"| `serve` over {RUNS} runs | list, s | {timed} | CPU, s | peak memory, MiB |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for start in ("the first start", "later starts"):
            up_s, taken, found = pages(folder, Path(cache))
            cells = " | ".join(f"{seconds:.2f} ({size / 1000:.0f})" for seconds, size in taken)
            print(f"| {start} | {up_s:.1f} | {cells} | {found}", flush=True)


def main(folder: Path, *, serve_alone: bool) -> None:
    """The second report stands for all: the first one on a machine puts the drawing program together."""
    automotive, runs = folder / "automotive", folder / "runs"
    if not serve_alone:
        if not automotive.exists():
            build_automotive(automotive)
        report(automotive)
        print("| | CPU, s | peak memory, MiB |")
        print("| --- | ---: | ---: |")
        print(f"| the report of 640 trials of `automotive` | {report(automotive)}\n", flush=True)
    if not runs.exists():
        build_runs(runs)
    serve(runs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="where the runs are, or are built and kept")
    parser.add_argument("--serve", action="store_true", help="only `serve`")
    given = parser.parse_args()
    if given.folder:
        main(given.folder, serve_alone=given.serve)
    else:
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as temporary:
            main(Path(temporary), serve_alone=given.serve)
