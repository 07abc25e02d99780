"""The scaling factor against a programmed one, against SciPy, and with a trial gone wrong."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from behaviour import Behaviour
from middlemark.analysis.compare.scaling import fitted_line
from middlemark.analysis.run import analyse
from run_builder import build_run

SUITE = """
suite: sizes
trials: {trials}
middlewares: all
sizes: [{sizes}]
workloads: [{{workload: imu, windows: {{window: 2 s}}}}]
"""


def test_a_programmed_cost_per_byte_is_found_with_its_base(tmp_path: Path) -> None:
    suite = SUITE.format(trials=8, sizes="1 kB, 10 kB, 100 kB, 1 MB")
    how = Behaviour(latency_ns=50_000, per_byte_ns=0.5, drift=0.02)
    (found,) = analyse(build_run(tmp_path / "run", suite, {"one": how})).scalings
    assert found.sizes_bytes == (1000, 10_000, 100_000, 1_000_000)
    slope, base = found.slope_ns_per_byte, found.base_ns
    assert slope.value == pytest.approx(0.5, rel=0.03)
    assert slope.low is not None
    assert slope.high is not None
    assert slope.low <= 0.5 * 1.02
    assert slope.high >= 0.5 * 0.98
    assert base.value == pytest.approx(50_000, rel=0.1)
    assert slope.n_trials == 8
    assert found.misfit_share < 0.2


def test_two_sizes_are_too_few_for_a_scaling_factor(tmp_path: Path) -> None:
    suite = SUITE.format(trials=3, sizes="1 kB, 10 kB")
    assert analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()})).scalings == ()


def test_the_slope_of_a_block_is_theil_and_sens() -> None:
    sizes = np.array([100, 1000, 5000, 20_000])
    latency = np.array([1000.0, 1500.0, 4000.0, 30_000.0])
    found = fitted_line({int(size): {1: float(value)} for size, value in zip(sizes, latency, strict=True)})
    assert found is not None
    assert found[0].value == pytest.approx(scipy.stats.theilslopes(latency, sizes).slope)


def test_one_trial_gone_wrong_does_not_tilt_the_line() -> None:
    points = {size: dict.fromkeys(range(6), 1000.0 + 2 * size) for size in (100, 200, 300, 400, 500)}
    points[500] = {**points[500], 0: 1e9}
    found = fitted_line(points)
    assert found is not None
    assert found[0].value == pytest.approx(2.0)


def test_the_interval_of_the_slope_covers_93_to_97_percent() -> None:
    rng = np.random.default_rng(12)
    covers = 0
    for _ in range(1500):
        points = {
            size: dict(enumerate((1000 + 2 * size) * rng.lognormal(0, 0.05, 8)))
            for size in (100, 1000, 10_000, 100_000)
        }
        found = fitted_line(points)
        assert found is not None
        slope = found[0]
        covers += slope.low <= 2 <= slope.high if slope.low is not None and slope.high is not None else 0
    assert 0.93 <= covers / 1500 <= 0.97
