"""The capacity that a search finds is the one that is there: a link of known bandwidth sustains so large a message."""

from pathlib import Path

import pytest

from middlemark.analysis.run import analyse
from middlemark.analysis.search.bisection import Limit
from middlemark.analysis.search.capacity import State
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.worker import executables

RATE_HZ = 100
LINK_BITS_PER_S = 8_000_000
SUSTAINED_BYTES = LINK_BITS_PER_S / 8 / RATE_HZ
# A message that is just sustained takes 10 ms to pass; of larger ones each waits longer than the one before it.
SUITE = f"""
suite: known
middlewares: {{middleware: synthetic, options: {{delay_ns: 0, bandwidth_bits_per_s: {LINK_BITS_PER_S}}}}}
workloads:
  workload: stream
  pattern: capacity
  rate: {RATE_HZ} Hz
  search: {{smallest: 2 kB, largest: 32 kB, precision: 30 %, loss: 50 %, latency: 25 ms, confirm: 1}}
windows: {{first_message: 20 s, warm_up: 50 ms, window: 500 ms, drain: 500 ms}}
disturbance: {{steal: 100 %}}
"""

pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif("synthetic" not in executables.workers(), reason="the worker `synthetic` is not built"),
]


def test_the_largest_size_found_is_what_the_link_sustains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    suite = LoadedSuite(file="known.yaml", text=SUITE, suite=parse_suite(SUITE, file="known.yaml"))
    run_new(tmp_path / "run", order.order_suite(suite, [], None))
    (found,) = analyse(RunFolder(tmp_path / "run")).capacities
    assert found.state is State.FOUND
    assert found.sustained is not None
    assert found.not_sustained is not None
    assert found.sustained.size_bytes <= SUSTAINED_BYTES < found.not_sustained.size_bytes
    assert set(found.limits) <= {Limit.LATENCY, Limit.LOSS}
