"""Capacities are compared by repeated searches: what lies between two values is never told closer than they are."""

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from behaviour import Behaviour
from middlemark.analysis.compare.metrics import MetricComparison, compare_usual_metrics
from middlemark.analysis.compare.pairing import pair_runs, pair_within_run
from middlemark.analysis.decisions.claims import judge_claim
from middlemark.analysis.decisions.gate import judge_conditions, parse_condition
from middlemark.analysis.metrics.stored import read_result
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.search.bisection import Limit, StepTrials, bracket, next_step, next_steps
from middlemark.analysis.search.capacity import State
from middlemark.analysis.search.stopping import next_trials
from middlemark.analysis.verdicts.difference import Difference, NoDifference, Test, ratio
from middlemark.analysis.verdicts.judge import NO_SETBACKS, Decision, Judgement, Verdict
from middlemark.analysis.verdicts.values import BlockValues
from middlemark.plan import expand, replanned
from middlemark.plan.experiment import Search
from middlemark.plan.schedule import load_of
from middlemark.report.conclusions.comparison import comparison_data, row
from middlemark.results.manifest import Manifest
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_claim, parse_suite
from middlemark.suite.metrics import metric_named
from run_builder import build_run, write_trial
from shared_runs import SharedRuns

SUITE = """
suite: load
trials: 1
middlewares: [quick, slow]
workloads:
  - workload: stream
    pattern: capacity
    size: 64 B
    search: {lowest: 500 Hz, highest: 4 kHz, precision: 10 %, latency: 1 ms, confirm: 1, searches: SEARCHES}
windows: {window: 200 ms}
"""


def search_all(path: Path, searches: int, capacities_hz: Mapping[str, float]) -> RunFindings:
    """Searches as a campaign runs them, of middlewares that sustain so much and no more."""
    suite = parse_suite(SUITE.replace("SEARCHES", str(searches)), file="load.yaml")
    lowest = load_of(expand(suite, available=list(capacities_hz))[0]).rate_hz

    def how(middleware: str, rate_hz: float) -> Behaviour:
        return Behaviour(loss=0.0 if rate_hz <= capacities_hz[middleware] else 0.2)

    text = SUITE.replace("SEARCHES", str(searches))
    folder = build_run(path, text, {name: how(name, lowest) for name in capacities_hz})
    known = {each.id: read_result(each) for each in folder.stored_trials()}
    while (more := next_trials(suite, folder.read_manifest().trials, list(known.values()))).trials:
        manifest = folder.read_manifest()
        folder.write_manifest(manifest.model_copy(update={"trials": (*manifest.trials, *more.trials)}))
        for trial in more.trials:
            behaviour = how(trial.experiment.middleware, load_of(trial.experiment).rate_hz)
            write_trial(folder, trial, behaviour, np.random.default_rng(trial.number))
            known[trial.id] = read_result(folder.trial(trial.id))
    return analyse(folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return search_all(tmp_path_factory.mktemp("base") / "run", 3, {"quick": 2000.0, "slow": 900.0})


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return search_all(tmp_path_factory.mktemp("head") / "run", 3, {"quick": 2000.0, "slow": 600.0})


def compared_of(found: tuple[MetricComparison, ...], middleware: str) -> MetricComparison:
    return next(each for each in found if f"middleware={middleware}" in each.pair.setting)


def test_so_many_searches_run_one_after_another_each_from_the_lowest(base: RunFindings) -> None:
    for each in base.capacities:
        assert [one.state for one in each.searches] == [State.FOUND] * 3
        assert len({one.sustained for one in each.searches}) == 1
        assert each.n_trials % 3 == 0
    lowest = [each for each in base.experiments if load_of(each.experiment).rate_hz == 500.0]
    assert [len(each.outcomes) for each in lowest] == [3, 3]


def test_each_trial_is_stored_with_the_step_of_its_search(base: RunFindings) -> None:
    trials = base.folder.read_manifest().trials
    stored = [read_result(base.folder.trial(trial.id)) for trial in trials]
    for block in range(2, trials[-1].block + 1):
        asked = next_steps([each for each in stored if each.trial.block < block])
        assert {experiment.middleware: at for experiment, _, at in asked} == {
            each.trial.experiment.middleware: each.trial.step for each in stored if each.trial.block == block
        }
    assert {trial.step.search for trial in trials if trial.step} == {1, 2, 3}


@pytest.mark.parametrize("share", [0.5, 1.0], ids=["gone on with since", "of old alone"])
def test_a_run_from_before_steps_were_stored_has_the_same_searches_and_goes_on_alike(
    base: RunFindings, tmp_path: Path, share: float
) -> None:
    folder = RunFolder(tmp_path / "run")
    shutil.copytree(base.folder.path, folder.path)
    manifest = json.loads(folder.manifest_path.read_text())
    for trial in manifest["trials"][: round(share * len(manifest["trials"]))]:
        del trial["step"]
        record_path = folder.trial(trial["id"]).record_path
        record = json.loads(record_path.read_text())
        del record["trial"]["step"]
        record_path.write_text(json.dumps(record))
    folder.write_manifest(Manifest.model_validate(manifest))
    found = analyse(folder)
    assert [each.searches for each in found.capacities] == [each.searches for each in base.capacities]
    assert [each.points for each in found.capacities] == [each.points for each in base.capacities]
    trials = folder.read_manifest().trials
    suite = parse_suite(found.manifest.suite_text, file="load.yaml")
    assert replanned(suite, trials) == trials
    before = [trial for trial in trials if trial.block < trials[-1].block]
    more = next_trials(suite, before, [read_result(folder.trial(trial.id)) for trial in before]).trials
    assert more == base.folder.read_manifest().trials[len(before) :]


def test_two_runs_are_compared_by_the_capacity_of_each_middleware(base: RunFindings, head: RunFindings) -> None:
    found = compare_usual_metrics(pair_runs(base, head).pairs, 0.05)
    assert [each.metric.name for each in found] == ["capacity"] * 2
    slower = compared_of(found, "slow")
    assert isinstance(slower.difference, Difference)
    assert slower.difference.low < 600 / 900 < slower.difference.high < 1
    assert slower.decided.verdict is Verdict.WORSE
    assert row(slower).unit == "MB/s payload"
    equal = compared_of(found, "quick")
    assert isinstance(equal.difference, Difference)
    assert equal.difference.low == pytest.approx(1 / 1.1, rel=1e-2)
    assert equal.difference.high == pytest.approx(1.1, rel=1e-2)
    assert equal.decided.verdict is Verdict.UNDECIDED  # the ladder is coarser than the margin


def test_a_coarse_ladder_settles_a_wider_margin(base: RunFindings, head: RunFindings) -> None:
    found = compare_usual_metrics(pair_runs(base, head).pairs, 0.15)
    assert compared_of(found, "quick").decided.verdict is Verdict.NO_DIFFERENCE


def test_within_a_run_middlewares_are_compared(base: RunFindings) -> None:
    (found,) = compare_usual_metrics(pair_within_run(base.comparable, "middleware", "slow").pairs, 0.05)
    assert isinstance(found.difference, Difference)
    assert found.difference.low < 2000 / 900 < found.difference.high
    assert found.difference.paired
    assert found.decided.verdict is Verdict.BETTER


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("capacity < -15 %", {"slow": Judgement.REFUTED, "quick": Judgement.HOLDS}),
        ("capacity < -5 %", {"slow": Judgement.REFUTED, "quick": Judgement.UNDECIDED}),
        ("capacity < 50 kB/s", {"slow": Judgement.REFUTED, "quick": Judgement.HOLDS}),
    ],
)
def test_a_gate_is_shut_where_less_is_carried(
    base: RunFindings, head: RunFindings, written: str, expected: dict[str, Judgement]
) -> None:
    pairs = pair_runs(base, head)
    assert pairs.gone == ()  # the loads that one search tried and the other did not are nothing gone
    found = judge_conditions(pairs.pairs, [parse_condition(written)])
    said = {name: next(e for e in found if f"={name}" in e.compared.pair.setting).result.judgement for name in expected}
    assert said == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("capacity[middleware=quick] > capacity[middleware=slow]", Judgement.HOLDS),
        ("capacity[middleware=quick] / capacity[middleware=slow] > 3", Judgement.REFUTED),
        ("capacity[middleware=quick] > 100 kB/s", Judgement.HOLDS),
        ("capacity[middleware=slow] > 100 kB/s", Judgement.REFUTED),
        ("capacity[middleware=quick] > 125 kB/s", Judgement.UNDECIDED),
    ],
)
def test_claims_judge_a_capacity_as_comparisons_do(base: RunFindings, claim: str, expected: Judgement) -> None:
    assert judge_claim(parse_claim(claim), base.claimable).judgement is expected


def test_claims_of_other_figures_speak_of_the_loads_that_were_tried(base: RunFindings) -> None:
    found = judge_claim(parse_claim("median(latency)[middleware=quick] < 1 s"), base.claimable)
    assert len(found.parts) == sum(each.experiment.middleware == "quick" for each in base.experiments)


def test_one_search_of_each_tells_no_difference_and_says_what_to_do(runs: SharedRuns) -> None:
    stored = runs.golden("run-format-1-capacity").findings
    pairs = pair_runs(stored, stored)
    capacity = [each for each in compare_usual_metrics(pairs.pairs, 0.05) if each.metric.of_search]
    (found,) = capacity
    assert isinstance(found.difference, NoDifference)
    assert "searches: 5" in found.difference.reason
    assert found.decided.verdict is Verdict.UNDECIDED
    assert found.estimates[0] is not None
    assert found.estimates[0].value is not None
    assert {each.result.judgement for each in judge_conditions(pairs.pairs, [parse_condition("capacity < -5 %")])} == {
        Judgement.UNDECIDED
    }


def known(low: list[float], high: list[float]) -> BlockValues:
    return BlockValues(dict(enumerate(low)), dict(enumerate(high)))


@pytest.mark.parametrize("paired", [True, False])
def test_what_is_carried_at_the_end_of_a_search_is_a_lower_end_alone(*, paired: bool) -> None:
    found, beyond = known([100.0, 105.0, 103.0], [105.0, 110.0, 108.0]), known([900.0] * 3, [math.inf] * 3)
    more = ratio(found, beyond, paired=paired)
    assert isinstance(more, Difference)
    assert more.low > 1
    assert more.high == math.inf
    less = ratio(beyond, found, paired=paired)
    assert isinstance(less, Difference)
    assert less.low == 0
    assert less.high == pytest.approx(1 / more.low)
    neither = ratio(beyond, beyond, paired=paired)
    assert isinstance(neither, NoDifference)
    assert "wider bounds" in neither.reason


def test_a_side_that_sustains_nothing_is_significantly_less(base: RunFindings) -> None:
    nothing, some = known([0.0] * 3, [10.0] * 3), known([100.0] * 3, [110.0] * 3)
    found = ratio(some, nothing, paired=True)
    assert isinstance(found, Difference)
    assert (found.low, found.high) == (0.0, pytest.approx(0.1))
    (pair,) = pair_within_run(base.comparable, "middleware").pairs
    data = comparison_data(
        [
            MetricComparison(
                pair, metric_named("capacity"), None, (None, None), found, Decision(Verdict.WORSE), NO_SETBACKS
            )
        ]
    )[0]["difference"]
    assert isinstance(data, dict)
    assert data["high"] == pytest.approx(0.1)


def test_an_end_that_is_not_known_is_null_for_a_program(base: RunFindings) -> None:
    (pair,) = pair_within_run(base.comparable, "middleware").pairs
    one_ended = Difference(9.0, 8.5, math.inf, 3, 3, is_ratio=True, test=Test.PAIRED_T)
    data = comparison_data(
        [
            MetricComparison(
                pair, metric_named("capacity"), None, (None, None), one_ended, Decision(Verdict.BETTER), NO_SETBACKS
            )
        ]
    )[0]["difference"]
    assert isinstance(data, dict)
    assert data["high"] is None


SEARCH = Search(
    lowest_hz=100, highest_hz=1e5, precision=0.05, loss_share=0.001, latency_ns=10_000_000, confirm=3, max_trials=60
)


def soft_search(middle: float, softness: float, rng: np.random.Generator) -> tuple[float, float]:
    """The bracket, in steps, of trials that sustain a load the less often, the farther it is above the middle."""
    steps: dict[int, StepTrials] = {}
    n_trials = 0
    while (step := next_step(SEARCH, steps, n_trials)) is not None:
        n_trials += 1
        tried = steps.setdefault(step, StepTrials())
        if rng.random() < 1 / (1 + math.exp(min((step - middle) / softness, 700.0))):
            tried.sustained += 1
        else:
            tried.limits[Limit.LOSS] += 1
    below, above = bracket(steps)
    return 1.05 ** (-1 if below is None else below), 1.05 ** (139 if above is None else above)


@pytest.mark.parametrize("softness", [0.2, 2.0, 8.0])
def test_five_searches_of_equals_seldom_differ_where_one_bracket_each_often_would(softness: float) -> None:
    rng = np.random.default_rng(11)
    differ, apart, campaigns = 0, 0, 120
    for _ in range(campaigns):
        middle = rng.uniform(40, 80)
        sides = [[soft_search(middle, softness, rng) for _ in range(5)] for _ in range(2)]
        first, second = (known([low for low, _ in side], [high for _, high in side]) for side in sides)
        found = ratio(first, second, paired=True)
        assert isinstance(found, Difference)
        differ += found.low > 1 or found.high < 1
        apart += sides[0][0][1] <= sides[1][0][0] or sides[1][0][1] <= sides[0][0][0]
    assert differ / campaigns <= 0.05
    assert apart / campaigns > 0.15
