"""Windows whose course is known are classified; noise alone is flat."""

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import ruptures

from behaviour import Behaviour
from middlemark.analysis.metrics.timeseries import (
    PARTS,
    PENALTY,
    SHORTEST_SEGMENT,
    Settling,
    Steadiness,
    change_points,
    classify,
    settling_of,
    steadiness_cautions,
)
from middlemark.analysis.run import analyse
from middlemark.plan import WarningKind
from run_builder import build_run

RNG = np.random.default_rng(3)


def levels(*pieces: tuple[int, float], noise: float = 0.02) -> np.ndarray:
    """Parts at a latency each, with log-normal noise."""
    steady = np.concatenate([np.full(parts, np.log(latency)) for parts, latency in pieces])
    return steady + RNG.normal(0, noise, len(steady))


@pytest.mark.parametrize(
    ("pieces", "kind", "after"),
    [
        ([(60, 100.0)], Steadiness.FLAT, 0.0),
        ([(12, 200.0), (48, 100.0)], Steadiness.WARM_UP, 0.2),
        ([(30, 100.0), (30, 150.0)], Steadiness.SLOW_DOWN, 0.5),
        ([(50, 100.0), (10, 200.0)], Steadiness.NEVER, None),
        ([(20, 100.0), (20, 103.0), (20, 101.0)], Steadiness.FLAT, 0.0),
        ([(25, 100.0), (5, 900.0), (30, 100.0)], Steadiness.DISTURBED, 0.0),
        ([(6, 200.0), (20, 100.0), (4, 900.0), (30, 100.0)], Steadiness.WARM_UP, 0.1),
        ([(30, 100.0), (20, 200.0), (10, 100.0)], Steadiness.NEVER, None),
    ],
)
def test_a_known_course_is_classified(pieces: list[tuple[int, float]], kind: Steadiness, after: float | None) -> None:
    assert classify(levels(*pieces)) == Settling(kind, after)


def test_what_grows_to_the_end_never_settles() -> None:
    assert classify(np.log(np.linspace(100, 400, PARTS))).kind is Steadiness.NEVER


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.2])
def test_noise_alone_is_seldom_taken_for_a_change(noise: float) -> None:
    found = [classify(levels((60, 100.0), noise=noise)).kind for _ in range(200)]
    assert sum(kind is not Steadiness.FLAT for kind in found) <= 6


def test_few_messages_are_too_short_to_tell() -> None:
    frame = pl.DataFrame({"received_ns": range(150), "latency_ns": [100] * 150})
    assert settling_of(frame).kind is Steadiness.TOO_SHORT


def test_messages_are_looked_at_in_the_order_in_which_they_came() -> None:
    latency = np.repeat([300, 100], [400, 1600])
    frame = pl.DataFrame({"received_ns": np.arange(2000), "latency_ns": latency}).sample(2000, shuffle=True, seed=1)
    found = settling_of(frame)
    assert found.kind is Steadiness.WARM_UP
    assert found.after_share == pytest.approx(0.2)


def test_a_stall_in_the_middle_is_told_as_such_and_not_as_late_settling() -> None:
    (caution,) = steadiness_cautions({"imu": classify(levels((25, 100.0), (5, 900.0), (30, 100.0)))})
    assert caution.kind is WarningKind.DISTURBED
    assert "imu left its steady state" in caution.text


def test_a_steady_run_has_no_caution_of_it(tmp_path: Path) -> None:
    suite = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 5 s}}]\n"
    findings = analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()}))
    assert [caution for caution, _ in findings.experiments[0].cautions if "settled" in caution.kind] == []


def test_changes_are_those_that_the_library_finds_by_its_own_cost() -> None:
    draws = np.random.default_rng(0)
    for number in range(60):
        levels = 10 + draws.normal(0, 0.03, int(draws.integers(20, 61)))
        levels[len(levels) // 3 :] += draws.normal(0, 0.2) if number % 3 else 0
        levels = np.round(levels, 2) if number % 5 == 0 else levels
        steps = np.diff(levels)
        noise = 1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / math.sqrt(2)
        penalty = PENALTY * max(noise, 1e-4) ** 2 * math.log(len(levels))
        search = ruptures.Pelt(model="l2", min_size=SHORTEST_SEGMENT, jump=1).fit(levels.reshape(-1, 1))
        assert change_points(levels) == search.predict(pen=penalty)
