"""What the analysis and the report of a large run take: time and peak memory over samples, as a table in Markdown.

    PYTHONPATH=tests/support:tests/support/runs python bench/analysis.py [--one-trial | --pipeline] [MILLIONS …]

It writes runs of two middlewares whose trials have a million messages each, or with `--one-trial` of one middleware
whose single trial has them all (some 40 MB a million, in a temporary folder), and reads each of them in a process of
its own. `--pipeline` is one trial of three nodes in a row, whose two streams have so many messages together. Folders
are removed at its end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import polars as pl

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.output.data import write_summary
from middlemark.report.output.html import write_report
from middlemark.results.counts import Counts
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.results.tables import (
    EXECUTIONS_SCHEMA,
    INPUTS_SCHEMA,
    OUTPUTS_SCHEMA,
    PUBLISHED_SCHEMA,
    RECEIVED_SCHEMA,
)
from middlemark.results.trial_folder import TrialFolder
from run_builder import build_run

MILLIONS = (1, 10, 100)
NOTHING: Mapping[str, pl.Schema] = MappingProxyType({})
SUITE = """
suite: large
trials: {trials}
middlewares: all
recording: {{samples: 1000000}}
workloads: {{workload: imu, rate: 100 kHz, windows: {{window: {window_ms} ms}}}}
"""
BEHAVIOURS = {"one": Behaviour(spread=0.4, loss=0.001), "two": Behaviour(latency_ns=70_000, spread=0.6)}
TRIAL = 1_000_000
PIPELINE = """
suite: large_pipeline
trials: 1
middlewares: all
recording: {samples: 1000000}
workloads:
  - workload: row
    pattern: pipeline
    windows: {window: 5 s}
    nodes:
      - {node: camera, rate: 10 kHz, compute: 10 us, outputs: [{stream: image, size: 1 kB}]}
      - {node: detect, inputs: [image], compute: 10 us, outputs: [{stream: objects, size: 1 kB}]}
      - {node: actuate, inputs: [objects]}
    chains:
      - {chain: camera_to_actuator, path: [camera, detect, actuate], deadline: 1 ms}
"""
EXECUTIONS = 50_000
"""Of each node within that window."""


def built(folder: Path, samples: int) -> None:
    trials = max(samples // (len(BEHAVIOURS) * TRIAL), 1)
    window_ms = samples // (len(BEHAVIOURS) * trials) // 100
    build_run(folder, SUITE.format(trials=trials, window_ms=window_ms), BEHAVIOURS)


def built_as_one_trial(folder: Path, samples: int) -> None:
    """Of a trial of a million the same million again and again, one window after the other."""
    run = build_run(folder, SUITE.format(trials=1, window_ms=TRIAL // 100), {"one": BEHAVIOURS["one"]})
    (trial,) = run.stored_trials()
    lengthen(run, trial, samples // TRIAL, TRIAL)


def built_as_pipeline(folder: Path, samples: int) -> None:
    run = build_run(folder, PIPELINE, {"one": BEHAVIOURS["one"]})
    (trial,) = run.stored_trials()
    tables = {
        "executions.parquet": EXECUTIONS_SCHEMA,
        "inputs.parquet": INPUTS_SCHEMA,
        "outputs.parquet": OUTPUTS_SCHEMA,
    }
    lengthen(run, trial, samples // (2 * EXECUTIONS), EXECUTIONS, tables)


def lengthen(
    run: RunFolder, trial: TrialFolder, times: int, of_window: int, further: Mapping[str, pl.Schema] = NOTHING
) -> None:
    """The same window again and again: what is numbered within one goes on in the next."""
    record = trial.read_record()
    assert record.window is not None
    window_ns = record.window.end_ns - record.window.begin_ns
    tables = {"received.parquet": RECEIVED_SCHEMA, "published.parquet": PUBLISHED_SCHEMA, **further}
    for name, schema in tables.items():
        own = pl.read_parquet(trial.path / name)
        instants = [column for column in schema if column.endswith("_ns") and column != "fill_ns"]
        numbers = [column for column in schema if column in {"sequence", "execution"}]
        again = [
            own.lazy().with_columns(pl.col(*numbers) + number * of_window, pl.col(*instants) + number * window_ns)
            for number in range(times)
        ]
        pl.concat(again).cast(schema).sink_parquet(trial.path / name, compression="zstd", row_group_size=512**2)
    longer = lengthened(record, times)
    trial.write_record(longer)
    run.write_manifest(run.read_manifest().model_copy(update={"trials": (longer.trial,)}))


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
            "nodes": tuple(each.model_copy(update={"executions": each.executions * times}) for each in record.nodes),
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
    n = sum(totals.received for each in findings.experiments for totals in each.accounting.totals.values())
    spent = {"analysis_s": analysed - begin, "report_s": done - analysed, "cpu_s": time.process_time()}
    print(json.dumps({"n": n, **spent, "peak_mib": peak_kib / 1024}))


def main(millions: list[int], build: Callable[[Path, int], None]) -> None:
    print("| samples | trials | analysis, s | report, s | CPU, s | µs of CPU a sample | peak memory, MiB |", flush=True)
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for each in millions:
        with tempfile.TemporaryDirectory(prefix="middlemark-bench-") as folder:
            build(Path(folder), each * 10**6)
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
        builds = {"--one-trial": built_as_one_trial, "--pipeline": built_as_pipeline}
        chosen = next((build for option, build in builds.items() if option in asked), built)
        main([int(each) for each in asked if each.isdigit()] or list(MILLIONS), chosen)
