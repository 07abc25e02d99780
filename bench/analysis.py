"""What the analysis and the report of a large run take: time and peak memory over samples, as a table in Markdown.

    PYTHONPATH=tests python bench/analysis.py [--one-trial] [MILLIONS …]

It writes runs of two middlewares whose trials have a million messages each, or with `--one-trial` of one middleware
whose single trial has them all (some 40 MB a million, in a temporary folder), and reads each of them in a process of
its own. Folders are removed at its end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from middlemark.analysis.columns import PUBLISHED_SCHEMA, RECEIVED_SCHEMA
from middlemark.analysis.record import Counts, TrialRecord
from middlemark.analysis.run import analyse
from middlemark.analysis.run_folder import RunFolder, TrialFolder
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


def built_as_one_trial(folder: Path, samples: int) -> None:
    """Of a trial of a million the same million again and again, one window after the other."""
    run = build_run(folder, SUITE.format(trials=1, window_ms=TRIAL // 100), {"one": BEHAVIOURS["one"]})
    (trial,) = run.stored_trials()
    lengthen(trial, samples // TRIAL)


def lengthen(trial: TrialFolder, times: int) -> None:
    record = trial.read_record()
    assert record.window is not None
    window_ns = record.window.end_ns - record.window.begin_ns
    for path, schema in ((trial.received_path, RECEIVED_SCHEMA), (trial.published_path, PUBLISHED_SCHEMA)):
        own = pl.read_parquet(path)
        instants = [name for name in schema if name.endswith("_ns")]
        again = [
            own.lazy().with_columns(pl.col("sequence") + number * TRIAL, pl.col(*instants) + number * window_ns)
            for number in range(times)
        ]
        pl.concat(again).cast(dict(schema)).sink_parquet(path, compression="zstd", row_group_size=512**2)
    trial.write_record(lengthened(record, times))


def lengthened(record: TrialRecord, times: int) -> TrialRecord:
    experiment, window = record.trial.experiment, record.window
    assert window is not None
    window_ns = times * experiment.windows.window_ns
    windows = experiment.windows.model_copy(update={"window_ns": window_ns})
    longer = experiment.model_copy(update={"windows": windows})
    publishers = (
        each.model_copy(update={"intended": each.intended * times, "sent": each.sent * times})
        for each in record.counts.publishers
    )
    subscribers = (each.model_copy(update={"received": each.received * times}) for each in record.counts.subscribers)
    return record.model_copy(
        update={
            "trial": record.trial.model_copy(update={"experiment": longer}),
            "window": window.model_copy(update={"end_ns": window.begin_ns + window_ns}),
            "counts": Counts(publishers=tuple(publishers), subscribers=tuple(subscribers)),
        }
    )


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
    assert not findings.damaged, findings.damaged
    n = sum(totals.received for each in findings.experiments for totals in each.totals.values())
    spent = {"analysis_s": analysed - begin, "report_s": done - analysed, "cpu_s": time.process_time()}
    print(json.dumps({"n": n, **spent, "peak_mib": peak_kib / 1024}))


def main(millions: list[int], *, one_trial: bool) -> None:
    print("| samples | trials | analysis, s | report, s | CPU, s | µs of CPU a sample | peak memory, MiB |", flush=True)
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for each in millions:
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as folder:
            (built_as_one_trial if one_trial else built)(Path(folder), each * 10**6)
            report(Path(folder))


def report(folder: Path) -> None:
    answer = subprocess.run(
        [sys.executable, __file__, "--read", str(folder)], stdout=subprocess.PIPE, text=True, check=True
    )
    found = json.loads(answer.stdout)
    trials = sum(1 for _ in RunFolder(folder).stored_trials())
    print(
        f"| {found['n']:,} | {trials} | {found['analysis_s']:.1f} | {found['report_s']:.1f} | {found['cpu_s']:.1f} "
        f"| {1e6 * found['cpu_s'] / found['n']:.2f} | {found['peak_mib']:.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked[:1] == ["--read"]:
        read(Path(asked[1]))
    else:
        main([int(each) for each in asked if each.isdigit()] or list(MILLIONS), one_trial="--one-trial" in asked)
