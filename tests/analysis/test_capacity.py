"""Capacity: the search finds what is true, one disturbed trial decides nothing, and it goes on from what is stored."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from middlemark.analysis.capacity import Limit, Point, State, Tried, bracket, judged, knee, next_step
from middlemark.analysis.further import further
from middlemark.analysis.metrics import Key
from middlemark.analysis.result import result
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.run_folder import RunFolder
from middlemark.campaign import acceptance
from middlemark.errors import SuiteError
from middlemark.plan import NoCommunication, Trial, expand, order_trials
from middlemark.plan.experiment import Search
from middlemark.plan.outcome import MissingPath
from middlemark.plan.search import at_step, last_step, rate_hz, step_of
from middlemark.report.html import render
from middlemark.report.summary import print_summary
from middlemark.suite import parse_suite
from run_builder import Behaviour, build_run, write_trial

SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)
SUITE = """
suite: load
trials: 1
middlewares: [quick, slow, mute]
workloads:
  - workload: stream
    pattern: capacity
    size: [64 B, 1 kB]
    search: {lowest: 500 Hz, highest: 4 kHz, precision: 10 %, latency: 1 ms}
windows: {window: 200 ms}
"""


def searched(truth: int, noise: float, rng: np.random.Generator) -> tuple[dict[int, Tried], int]:
    """A search whose trials tell the truth but for a share of them."""
    steps: dict[int, Tried] = {}
    for n_trials in range(SEARCH.max_trials + 1):
        step = next_step(SEARCH, steps, n_trials)
        if step is None:
            return steps, n_trials
        tried = steps.setdefault(step, Tried())
        if (step <= truth) != (rng.random() < noise):
            tried.carried += 1
        else:
            tried.limits[Limit.LOSS] += 1
    raise AssertionError("it went beyond its most trials")


@given(st.integers(-1, 200))
def test_without_noise_the_bracket_is_the_truth_and_confirmed(truth: int) -> None:
    steps, n_trials = searched(truth, 0.0, np.random.default_rng(1))
    last = last_step(SEARCH)
    below, above = bracket(steps)
    assert below == (None if truth < 0 else min(truth, last))
    assert above == (None if truth >= last else truth + 1)
    assert all(steps[end].decided(SEARCH.confirm) for end in (below, above) if end is not None)
    assert n_trials <= 24


def test_one_trial_in_twenty_that_errs_seldom_moves_the_bracket() -> None:
    rng = np.random.default_rng(5)
    exact = [bracket(searched(truth, 0.05, rng)[0])[0] == truth for truth in range(20, 120) for _ in range(10)]
    assert np.mean(exact) > 0.88


def test_a_ladder_is_the_same_for_all_and_its_rates_lead_back_to_their_steps() -> None:
    rates = [rate_hz(SEARCH, step) for step in range(last_step(SEARCH) + 1)]
    assert rates[0] == 100
    assert rates == sorted(set(rates))
    assert rates[-1] <= SEARCH.highest_hz < rate_hz(SEARCH, len(rates))
    trial = build_plan()
    search = trial.experiment.search
    assert search is not None
    for step in range(last_step(search) + 1):
        moved = at_step(trial.experiment, search, step)
        assert step_of(moved, search) == step
        assert (moved.id == trial.experiment.id) == (step == 0)


def build_plan() -> Trial:
    experiments = expand(parse_suite(SUITE, file="load.yaml"), available=["quick", "slow", "mute"])
    return order_trials(experiments, blocks=3, seed=1)[0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"achieved_share": 1.0, "loss_share": 0.0, "latency_from_intended_p99_ns": 9e6}, True),
        ({"achieved_share": 0.9, "loss_share": 0.0}, Limit.OVERLOAD),
        ({"achieved_share": 1.0, "loss_share": 0.01, "latency_from_intended_p99_ns": 9e6}, Limit.LOSS),
        ({"achieved_share": 1.0, "loss_share": 0.0, "latency_from_intended_p99_ns": 2e7}, Limit.LATENCY),
        ({"achieved_share": 1.0, "loss_share": 0.0, "latency_from_intended_p50_ns": 2e7}, Limit.LATENCY),
    ],
)
def test_a_rate_is_carried_within_all_bounds(values: dict[str, float], said: object) -> None:
    keyed = {Key("stream:s", name): value for name, value in values.items()}
    assert judged(SEARCH, "s", "valid", keyed) is said


def test_a_disturbed_trial_says_nothing_and_a_silent_one_did_not_carry() -> None:
    assert judged(SEARCH, "s", "invalid", {}) is None
    assert judged(SEARCH, "s", "no_communication", {}) is Limit.NO_COMMUNICATION


def test_the_knee_is_where_latency_begins_to_climb() -> None:
    rates = np.linspace(1000, 20_000, 20)
    points = [Point(rate, 1, 1, 20e3 + 1e6 * max(0.0, rate - 15_000) / 5000, None, 0.0) for rate in rates]
    found = knee(points)
    assert found is not None
    assert 13_000 <= found <= 16_000
    assert knee(points[:4]) is None


def behaves(middleware: str, hz: float) -> Behaviour:
    if middleware == "mute":
        path = MissingPath(stream="stream", publisher=0, subscriber=0)
        return Behaviour(outcome=NoCommunication(missing=(path,)))
    capacity_hz = {"quick": 2000.0, "slow": 900.0}[middleware]
    if hz <= capacity_hz:
        return Behaviour(latency_ns=50_000 + 300_000 * max(0.0, hz / capacity_hz - 0.7))
    return Behaviour(slow_publisher=1.5) if middleware == "quick" else Behaviour(loss=0.2)


def run_searches(path: Path) -> RunFolder:
    """Runs searches as a campaign does, block by block."""
    suite = parse_suite(SUITE, file="load.yaml")
    folder = build_run(path, SUITE, {name: behaves(name, 500) for name in ("quick", "slow", "mute")})
    known = {each.id: result(each) for each in folder.stored_trials()}
    while (more := further(suite, folder.read_manifest().trials, list(known.values()))).trials:
        manifest = folder.read_manifest()
        folder.write_manifest(manifest.model_copy(update={"trials": (*manifest.trials, *more.trials)}))
        for trial in more.trials:
            rate = float(trial.experiment.streams[0].pattern.rate_hz)  # type: ignore[union-attr]
            how = behaves(trial.experiment.middleware, rate)
            write_trial(folder, trial, how, np.random.default_rng(trial.number))
            known[trial.id] = result(folder.trial(trial.id))
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(run_searches(tmp_path_factory.mktemp("capacity") / "run"))


def test_a_run_has_the_capacity_of_each_with_its_bracket_and_limit(found: RunFindings) -> None:
    said = {(each.experiment.middleware, each.size_bytes): each for each in found.capacities}
    assert len(said) == 6
    for middleware, truth, limit in (("quick", 2000.0, Limit.OVERLOAD), ("slow", 900.0, Limit.LOSS)):
        for size_bytes in (64, 1000):
            each = said[middleware, size_bytes]
            assert each.state is State.FOUND
            assert each.carried_hz is not None
            assert each.not_carried_hz is not None
            assert each.carried_hz <= truth < each.not_carried_hz <= 1.11 * each.carried_hz
            assert each.limits == (limit,)
    assert said["mute", 64].state is State.BELOW
    assert found.comparisons == ()


def test_the_report_and_the_summary_tell_it(found: RunFindings) -> None:
    console = Console(record=True, width=160)
    print_summary(found, console)
    printed = console.export_text()
    assert "quick, stream, 64 B: 1.90 kHz" in printed
    assert "(overload)" in printed
    page = render(found)
    assert 'id="capacity-load0"' in page
    assert "Latency over load: stream, 1 kB" in page


def test_what_fails_above_the_lowest_rate_is_what_was_sought(found: RunFindings) -> None:
    kinds = acceptance.outcomes(found.folder)
    assert kinds["no_communication"] == 4  # two each at the lowest rate, which ought to work
    assert kinds["valid"] == sum(each.n_trials for each in found.capacities) - 4


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("highest: 400 Hz", "no higher"),
        ("confirm: 2", "even number"),
        ("precision: 80 %", "out of bounds"),
    ],
)
def test_a_search_without_room_or_majority_is_refused(written: str, problem: str) -> None:
    whole = "{lowest: 500 Hz, highest: 4 kHz, precision: 10 %, latency: 1 ms}"
    text = SUITE.replace(whole, f"{{lowest: 500 Hz, {written}}}")
    with pytest.raises(SuiteError, match=problem):
        parse_suite(text, file="load.yaml")
