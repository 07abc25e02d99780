"""Capacity: of each search of a run what is sustained and the knee; and it goes on from what is stored."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.metrics.stored import read_result
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.search.bisection import Limit
from middlemark.analysis.search.capacity import LoadPoint, State, knee
from middlemark.analysis.search.stopping import next_trials
from middlemark.campaign import progress
from middlemark.errors import SuiteError
from middlemark.plan import NoCommunication, NotApplicable, Trial, expand, order_trials
from middlemark.plan.experiment import Search, Sought
from middlemark.plan.schedule import Load, at_step, load_of
from middlemark.plan.trial.outcome import MissingPath
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_suite
from run_builder import build_run, write_trial

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


SIZES = """
suite: sizes
trials: 1
middlewares: [long, short]
workloads:
  - workload: stream
    pattern: capacity
    rate: [50 Hz, 500 Hz]
    search: {smallest: 1 kB, largest: 1 MB, precision: 10 %, latency: 1 ms}
windows: {window: 200 ms}
"""


def test_a_ladder_is_the_same_for_all_and_its_rates_lead_back_to_their_steps() -> None:
    rates = [SEARCH.value_at(step) for step in range(SEARCH.last_step + 1)]
    assert rates[0] == 100
    assert rates == sorted(set(rates))
    assert rates[-1] <= SEARCH.ends[1] < SEARCH.value_at(len(rates))
    trial = build_plan()
    search = trial.experiment.search
    assert search is not None
    for step in range(search.last_step + 1):
        moved = at_step(trial.experiment, search, step)
        assert search.step_of(moved.searched_value) == step
        assert (moved.id == trial.experiment.id) == (step == 0)


def build_plan() -> Trial:
    experiments = expand(parse_suite(SUITE, file="load.yaml"), available=["quick", "slow", "mute"])
    return order_trials(experiments, blocks=3, seed=1)[0]


def test_the_knee_is_where_latency_begins_to_climb() -> None:
    rates = np.linspace(1000, 20_000, 20)
    points = [LoadPoint(Load(rate, 64), 1, 1, 20e3 + 1e6 * max(0.0, rate - 15_000) / 5000, None, 0.0) for rate in rates]
    found = knee(points, points[-1].load, Sought.RATE)
    assert found is not None
    assert 13_000 <= found.rate_hz <= 16_000
    assert knee(points[:4], points[-1].load, Sought.RATE) is None


def test_no_knee_lies_above_what_is_carried() -> None:
    rates = np.linspace(1000, 20_000, 20)
    points = [LoadPoint(Load(rate, 64), 1, 1, 20e3 + 1e6 * max(0.0, rate - 15_000) / 5000, None, 0.0) for rate in rates]
    assert knee(points, Load(14_000, 64), Sought.RATE) is None
    assert knee(points, None, Sought.RATE) is None


def behaves(middleware: str, load: Load) -> Behaviour:
    if middleware == "mute":
        path = MissingPath(stream="stream", publisher=0, subscriber=0)
        return Behaviour(outcome=NoCommunication(missing=(path,)))
    capacity_hz = {"quick": 2000.0, "slow": 900.0}[middleware]
    if load.rate_hz <= capacity_hz:
        return Behaviour(latency_ns=50_000 + 300_000 * max(0.0, load.rate_hz / capacity_hz - 0.7))
    return Behaviour(slow_publisher=1.5) if middleware == "quick" else Behaviour(loss=0.2)


def behaves_by_size(middleware: str, load: Load) -> Behaviour:
    if middleware == "short" and load.size_bytes > 3000:
        return Behaviour(outcome=NotApplicable(capability="size_bytes", reason="no more than 3 kB"))
    return Behaviour(latency_ns=50_000) if load.size_bytes <= 20_000 else Behaviour(loss=0.2)


def run_searches(path: Path, text: str, how: Callable[[str, Load], Behaviour]) -> RunFolder:
    """Runs searches as a campaign does, block by block."""
    suite = parse_suite(text, file="load.yaml")
    names = [choice.middleware for choice in suite.middlewares]
    first = expand(suite, available=names)[0]
    folder = build_run(path, text, {name: how(name, load_of(first)) for name in names})
    known = {each.id: read_result(each) for each in folder.stored_trials()}
    while (more := next_trials(suite, folder.read_manifest().trials, list(known.values()))).trials:
        manifest = folder.read_manifest()
        folder.write_manifest(manifest.model_copy(update={"trials": (*manifest.trials, *more.trials)}))
        for trial in more.trials:
            behaviour = how(trial.experiment.middleware, load_of(trial.experiment))
            write_trial(folder, trial, behaviour, np.random.default_rng(trial.number))
            known[trial.id] = read_result(folder.trial(trial.id))
    return folder


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(run_searches(tmp_path_factory.mktemp("capacity") / "run", SUITE, behaves))


def test_a_run_has_the_capacity_of_each_with_its_bracket_and_limit(found: RunFindings) -> None:
    said = {(each.experiment.middleware, each.given): each for each in found.capacities}
    assert len(said) == 6
    for middleware, truth, limit in (("quick", 2000.0, Limit.OVERLOAD), ("slow", 900.0, Limit.LOSS)):
        for size_bytes in (64, 1000):
            each = said[middleware, size_bytes]
            assert each.state is State.FOUND
            assert each.sustained is not None
            assert each.not_sustained is not None
            assert each.sustained.rate_hz <= truth < each.not_sustained.rate_hz <= 1.11 * each.sustained.rate_hz
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
    opening = page[page.index('<section id="answer"') : page.index('<section id="conditions"')]
    assert "quick, stream, 64\xa0B: 1.90\xa0kHz" in opening
    assert 'id="capacity-load0"' in page
    assert 'id="capacity-front0-rate"' in page
    assert "Payload over size: stream" in page
    assert "Latency over load: stream, 1 kB" in page


def test_what_fails_above_the_lowest_rate_is_what_was_sought(found: RunFindings) -> None:
    kinds = progress.outcomes(found.folder)
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


def test_at_a_given_rate_the_largest_size_is_found_up_to_one_that_is_refused(tmp_path: Path) -> None:
    folder = run_searches(tmp_path / "run", SIZES, behaves_by_size)
    found = analyse(folder)
    said = {(each.experiment.middleware, each.given): each for each in found.capacities}
    assert len(said) == 4
    for middleware, truth, limit in (("long", 20_000, Limit.LOSS), ("short", 3000, Limit.SIZE)):
        for rate_hz in (50.0, 500.0):
            each = said[middleware, rate_hz]
            assert (each.sought, each.state, each.limits) == (Sought.SIZE, State.FOUND, (limit,))
            assert each.sustained is not None
            assert each.not_sustained is not None
            assert each.sustained.rate_hz == each.not_sustained.rate_hz == rate_hz
            assert (
                each.sustained.size_bytes <= truth < each.not_sustained.size_bytes <= 1.11 * each.sustained.size_bytes
            )
    assert set(progress.outcomes(folder)) == {"valid", "not_applicable"}
    console = Console(record=True, width=160)
    print_summary(found, console)
    assert "long, stream, 50 Hz: 19.19 kB (0.96 MB/s, 7.68 Mbit/s), but not 21.11 kB (loss)" in console.export_text()
    page = render(found)
    assert "Latency over load: stream, 500 Hz" in page
    assert "the largest size at the rate" in page.lower()


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("size: 1 kB", "either a size or a rate"),
        ("search: {lowest: 10 Hz}", "belongs to a search for a rate"),
        ("search: {smallest: 32 B, precision: 2 %}", "less than a byte apart"),
        ("search: {smallest: 1 kB, largest: 1 kB}", "no larger"),
    ],
)
def test_a_search_for_a_size_has_ends_of_its_own(written: str, problem: str) -> None:
    text = SIZES[: SIZES.index("    search:")] + f"    {written}\n"
    with pytest.raises(SuiteError, match=problem):
        parse_suite(text, file="sizes.yaml")


def test_a_search_for_a_rate_has_no_ends_of_sizes() -> None:
    with pytest.raises(SuiteError, match="belongs to a search for a size"):
        parse_suite(SUITE.replace("lowest: 500 Hz", "smallest: 1 kB"), file="load.yaml")


def test_a_shipped_workload_lends_what_is_not_searched_for() -> None:
    for written, sought in (("", Sought.RATE), (", rate: 5 Hz", Sought.SIZE)):
        entry = f"workloads: {{workload: lidar, pattern: capacity{written}}}"
        (experiment,) = expand(parse_suite(f"suite: s\nmiddlewares: toy\n{entry}", file="s.yaml"), available=["toy"])
        assert experiment.search is not None
        assert experiment.search.sought is sought
