"""A plan that is made again from its suite is the one that was stored, whatever was chosen of it."""

import pytest
from pydantic import ValidationError

from middlemark.plan import (
    SearchStep,
    Trial,
    expand,
    next_block,
    on_both_sides,
    only,
    order_trials,
    plan_trials,
    replanned,
)
from middlemark.plan.schedule import at_step
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Suite, parse_given, parse_suite
from shared_runs import GOLDEN

SUITE = """
suite: x
trials: 2
middlewares: [a, b]
workloads: [imu, {workload: s, pattern: capacity, size: 64 B}]
topologies: [C1-1, C1-2]
"""
PARSED = parse_suite(SUITE, file="x.yaml")
EXPERIMENTS = expand(PARSED, available=["a", "b"])


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("run-*") if "demand" not in path.name))
def test_a_plan_of_every_kind_of_stored_suite_is_planned_again(name: str) -> None:
    manifest = RunFolder(GOLDEN / name).read_manifest()
    given = parse_given(manifest.suite_text, file="manifest.json", files=manifest.suite_files)
    assert isinstance(given, Suite)
    trials = plan_trials(given, available=sorted({trial.experiment.middleware for trial in manifest.trials}))
    assert replanned(given, trials) == trials


def test_a_run_from_before_the_defaults_changed_is_no_plan_of_its_suite_any_more() -> None:
    manifest = RunFolder(GOLDEN / "run-format-1").read_manifest()
    given = parse_given(manifest.suite_text, file="manifest.json", files=manifest.suite_files)
    assert replanned(given, manifest.trials) != manifest.trials


def test_parts_other_counts_and_sides_of_a_suite_are_plans_of_it() -> None:
    some = only(EXPERIMENTS, ["topology=C1-2", "middleware=b"])
    for experiments, blocks in ((EXPERIMENTS, 1), (some, 7), (on_both_sides(EXPERIMENTS), 2)):
        trials = order_trials(experiments, blocks=blocks, seed=1, most_trials=5000)
        assert replanned(PARSED, trials) == trials


def test_steps_of_searches_are_planned_again_and_no_other_loads_are() -> None:
    trials = plan_trials(PARSED, available=["a", "b"])
    first = next(each for each in EXPERIMENTS if each.search)
    assert first.search is not None
    tenth = at_step(first, first.search, 10)
    steps = {tenth.id: SearchStep(search=1, step=10)}
    more = (*trials, *next_block(trials, [tenth], seed=1, steps=steps))
    assert replanned(PARSED, more) == more
    stream = tenth.streams[0].model_copy(update={"size_bytes": 999})
    wrong = (*trials, *next_block(trials, [tenth.model_copy(update={"streams": (stream,)})], seed=1, steps=steps))
    assert replanned(PARSED, wrong) != wrong


@pytest.mark.parametrize(
    ("step", "stored"),
    [(10, SearchStep(search=1, step=11)), (10, SearchStep(search=2, step=10)), (400, SearchStep(search=1, step=400))],
    ids=["of another load", "of a search that there is not", "above the highest"],
)
def test_a_trial_with_a_step_outside_its_search_is_refused(step: int, stored: SearchStep) -> None:
    trials = plan_trials(PARSED, available=["a", "b"])
    first = next(each for each in EXPERIMENTS if each.search)
    assert first.search is not None
    moved = at_step(first, first.search, step)
    with pytest.raises(ValidationError, match="has another load than step"):
        next_block(trials, [moved], seed=1, steps={moved.id: stored})


def test_only_trials_of_searches_have_a_step_and_each_begins_at_the_lowest() -> None:
    for trial in plan_trials(PARSED, available=["a", "b"]):
        assert trial.step == (SearchStep(search=1, step=0) if trial.experiment.search else None)
        if trial.step is None:
            with pytest.raises(ValidationError, match="is of no search"):
                Trial.model_validate(trial.model_dump() | {"step": SearchStep(search=1, step=0)})


def test_a_step_that_was_not_stored_is_the_one_of_the_load() -> None:
    trials = plan_trials(PARSED, available=["a", "b"])
    first = next(each for each in EXPERIMENTS if each.search)
    assert first.search is not None
    for step in (0, 1, 77, first.search.last_step):
        moved = at_step(first, first.search, step)
        (trial,) = next_block(trials, [moved], seed=1, steps={moved.id: SearchStep(search=1, step=step)})
        assert Trial.model_validate_json(trial.model_dump_json(exclude={"step"})) == trial
        assert Trial.model_validate_json(trial.model_dump_json()) == trial
