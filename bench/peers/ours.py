"""Our side of a pair: a suite of one experiment, run by `middlemark run` as a user would, and what it stored.

It knows no worker; `pairs` says what is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl

import middlemark
from middlemark.suite import Pattern, Reliability
from peer import WARM_UP_S, Cores, Measured, Metric, Pair, Site

NAME = "beside_peers"
SAMPLES = 2_000_000
"""So many that no round trip goes into a histogram, whose resolution is half of the goal."""


class OursFailedError(Exception):
    """Our own trial is not valid."""


def measured(pair: Pair, site: Site, seconds: float, folder: Path) -> Measured:
    """What one trial of ours gives."""
    suite = folder / "suite.yaml"
    suite.write_text(json.dumps(suite_of(pair, site, seconds)), encoding="utf-8")  # YAML holds JSON
    command = [str(Path(sys.executable).with_name("middlemark")), "run", str(suite), "--out", str(folder / "run")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode not in {0, 1}:
        raise OursFailedError(f"{pair.middleware}: {process.stderr.strip()[-400:] or process.stdout.strip()[-400:]}")
    run = middlemark.load(folder / "run")
    outcome, detail = run.trials.select("outcome", "detail").row(0)
    if outcome != "valid":
        raise OursFailedError(f"{pair.middleware}: the trial is {outcome}: {detail}")
    return metrics(pair, run.metrics)


def suite_of(pair: Pair, site: Site, seconds: float) -> dict[str, object]:
    """As `docs/guide/suites.md` says."""
    load = pair.load
    reliability = {"reliability": load.reliability}
    keeping = {"history": "keep_all"} if load.reliability is Reliability.RELIABLE else {}
    # A broker holds nobody back, so that waiting is for no more messages than the queue has room for.
    waiting = {"congestion": "block", "queue": f"{SAMPLES * load.size_bytes} B"} if pair.waits else {}
    most = {"messages": SAMPLES} if pair.waits else {}
    qos = reliability | keeping | waiting | dict(pair.qos)
    workload = {"workload": load.pattern.value, "size": f"{load.size_bytes} B", "qos": qos} | most
    cpus = {"publishers": [site.sender], "subscribers": [site.receiver], "services": [site.service]}
    return {
        "suite": NAME,
        "summary": "one experiment, beside a peer",
        "seed": 1,
        "trials": 1,
        "middlewares": [{"middleware": pair.middleware, "options": dict(pair.options)}],
        "delivery": load.delivery,
        "profiles": "default",
        "topologies": "C1-1",
        "workloads": [workload],
        "conditions": {"cpus": cpus, "keep_awake": site.cores is Cores.TWO},
        # What has waited in a queue as long as that has arrived all the same, as at the peer.
        "windows": {"warm_up": f"{WARM_UP_S:g} s", "window": f"{seconds:g} s", "drain": f"{max(seconds, 0.5):g} s"},
        "recording": {"samples": SAMPLES},
    }


def metrics(pair: Pair, stored: pl.DataFrame) -> Measured:
    """From a trial's stored metrics; a processor's share becomes time for each message."""
    subject = f"stream:{pair.load.pattern.value}"
    of_stream = dict(stored.filter(subject=subject).select("metric", "value").iter_rows())
    of_trial = dict(stored.filter(subject="trial").select("metric", "value").iter_rows())
    is_ping_pong = pair.load.pattern is Pattern.PING_PONG
    wanted = (Metric.MEDIAN, Metric.P99) if is_ping_pong else ()
    lacking = [metric.value for metric in wanted if of_stream[metric.value] is None]
    if lacking:
        raise OursFailedError(f"{pair.middleware}: no {' and no '.join(lacking)}: too few messages, or too many lost")
    rate_hz = of_stream["achieved_rate_hz" if is_ping_pong or pair.counts_sent else "received_rate_hz"]
    found = {Metric.RATE: rate_hz, Metric.CPU: of_trial["cpu_percent_of_core"] * 1e7 / rate_hz}
    # Of a ping-pong the round trip is without it.
    if not is_ping_pong and (filling := of_stream.get("fill_share")) is not None:
        found[Metric.UNFILLED] = rate_hz / (1 - filling)
    return found | {metric: of_stream[metric.value] for metric in wanted}
