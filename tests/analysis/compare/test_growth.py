"""Growth of a programmed shape is called by its name, with coefficients whose intervals hold the programmed ones."""

from pathlib import Path

import numpy as np
import pytest

from behaviour import Behaviour
from middlemark.analysis.compare.scaling import Fit, Over, Shape, fitted_growth
from middlemark.analysis.run import analyse
from run_builder import build_run

PLACES = (10, 40, 200, 800, 2000)
SUITE = """
suite: grows
trials: 3
middlewares: all
topologies: [D1-1, D2-2, D4-4]
workloads:
  - {workload: endpoints, pattern: periodic, size: 64 B, rate: 20 Hz, topics: [4, 8, 16, 32]}
observe: [resources, wire]
windows: {window: 1 s}
exclude: [{topology: [D1-1, D2-2], topics: [4, 8, 16]}]
"""


def fit_of(base: float, slope: float, curvature: float, seed: int = 1) -> Fit:
    """Of four trials a place, each 3 % off."""
    drawn = np.random.default_rng(seed)
    costs = {place: base + slope * place + curvature * place**2 for place in PLACES}
    found = fitted_growth((place, list(cost * (1 + drawn.normal(0, 0.03, 4)))) for place, cost in costs.items())
    assert found is not None
    return found


def test_a_line_is_linear_and_its_slope_is_found() -> None:
    found = fit_of(base=5e6, slope=40_000, curvature=0)
    assert (found.shape, found.curvature) == (Shape.LINEAR, None)
    assert found.slope.low <= 40_000 <= found.slope.high
    assert found.slope.value == pytest.approx(40_000, rel=0.1)
    assert found.at(100) == pytest.approx(9e6, rel=0.1)


def test_a_parabola_is_quadratic_and_its_coefficients_are_found() -> None:
    found = fit_of(base=5e6, slope=1000, curvature=50)
    assert found.shape is Shape.QUADRATIC
    assert found.curvature is not None
    assert found.curvature.low <= 50 <= found.curvature.high
    assert found.slope.low <= 1000 <= found.slope.high


def test_what_flattens_is_less_than_linear() -> None:
    assert fit_of(base=1e6, slope=100_000, curvature=-20).shape is Shape.FLATTENING


def test_a_constant_is_called_growth_no_oftener_than_its_intervals_say() -> None:
    shapes = [fit_of(base=5e6, slope=0, curvature=0, seed=seed).shape for seed in range(200)]
    assert shapes.count(Shape.NONE) > 170


def test_three_places_are_too_few_for_any_curve() -> None:
    assert fitted_growth(iter([(10, [1.0, 1.1]), (20, [2.0, 2.1]), (40, [4.0, 4.1])])) is None


def test_a_place_where_nothing_was_measured_is_left_out() -> None:
    values = [(place, [float(place)] * 3) for place in PLACES[:4]]
    assert fitted_growth(iter([*values, (5000, [])])) is not None
    assert fitted_growth(iter([*values[:3], (5000, [])])) is None


def test_a_run_has_each_cost_over_endpoints_and_over_participants(tmp_path: Path) -> None:
    growths = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour()})).growths
    shown = {(growth.over, growth.metric.stored_name): tuple(growth.points) for growth in growths}
    costs = ("first_message_ns", "wire_discovery_bytes", "wire_discovery_packets", "discovery_cpu_ns")
    for cost in (*costs, "peak_memory_bytes"):
        assert shown[Over.ENDPOINTS, cost] == (8, 16, 32, 64)
        assert shown[Over.PARTICIPANTS, cost] == (2, 4, 8)
    assert all(growth.fit is None for growth in growths if growth.over is Over.PARTICIPANTS)
    assert all(growth.estimate(place) is not None for growth in growths for place in growth.points)


def test_a_run_without_topics_has_none(tmp_path: Path) -> None:
    suite = SUITE.replace(", topics: [4, 8, 16, 32]", "").split("exclude:")[0]
    assert analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()})).growths == ()
