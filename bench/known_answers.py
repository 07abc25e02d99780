"""By how much measured latencies differ from those that `synthetic` was told, from 1 kHz to 1 MHz: a table in Markdown.

    python bench/known_answers.py [TRIALS]

It needs an idle machine with two CPUs. The lateness of the worker's own timer is in the difference, so that this bounds
the error of the harness from above; a rate that was not reached is told with the one that was.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import polars as pl

import middlemark

RATES = ("1 kHz", "10 kHz", "100 kHz", "1 MHz")
DELAY_NS = 1_000_000
SPIN_NS = 100_000_000
"""The worker's releases spin all the time, so that no timer of the kernel's is among the error."""
METRICS = ("latency_from_send_min_ns", "latency_from_send_p50_ns", "latency_from_send_p99_ns")


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| asked | reached, Hz | least error, ns | median, ns | 99 %, ns |\n| --- | ---: | ---: | ---: | ---: |")
    for rate in RATES:
        with tempfile.TemporaryDirectory() as folder:
            found = measured(rate, trials, Path(folder))
        reached = median(found["achieved_rate_hz"])
        errors = [f"{median(found[metric]) - DELAY_NS:+,.0f}" if found[metric] else "none" for metric in METRICS]
        print(f"| {rate} | {reached:,.0f} | {' | '.join(errors)} |", flush=True)


def measured(rate: str, trials: int, folder: Path) -> dict[str, list[float]]:
    """The values of each metric, one a trial."""
    (folder / "suite.yaml").write_text(json.dumps(suite(rate, trials)), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("middlemark")), "run", str(folder / "suite.yaml")]
    subprocess.run([*command, "--out", str(folder / "run")], capture_output=True, check=False)
    metrics = middlemark.load(folder / "run").metrics.drop_nulls("value")
    return {
        name: metrics.filter(pl.col("metric") == name)["value"].to_list() for name in ("achieved_rate_hz", *METRICS)
    }


def suite(rate: str, trials: int) -> dict[str, object]:
    """One experiment, each end on a CPU of its own."""
    options = {"distribution": "fixed", "delay_ns": DELAY_NS, "release_spin_ns": SPIN_NS}
    return {
        "suite": "known_answers",
        "trials": trials,
        "middlewares": [{"middleware": "synthetic", "options": options}],
        "workloads": [{"workload": "imu", "rate": rate, "size": "64 B"}],
        "conditions": {"cpus": "spread", "keep_awake": True},
        "windows": {"warm_up": "100 ms", "window": "1 s", "drain": "1 s"},
        "recording": {"samples": 2_000_000},
    }


if __name__ == "__main__":
    main()
