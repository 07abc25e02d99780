"""A plan that is made again from its suite is the one that was stored, whatever was chosen of it."""

import pytest

from middlemark.plan import expand, next_block, only, order_trials, plan_trials, replanned, sided
from middlemark.plan.schedule import at_step
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_given, parse_suite
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
def test_every_kind_of_stored_run_is_a_plan_of_its_suite(name: str) -> None:
    manifest = RunFolder(GOLDEN / name).read_manifest()
    given = parse_given(manifest.suite_text, file="manifest.json", files=manifest.suite_files)
    assert replanned(given, manifest.trials) == manifest.trials


def test_parts_other_counts_and_sides_of_a_suite_are_plans_of_it() -> None:
    some = only(EXPERIMENTS, ["topology=C1-2", "middleware=b"])
    for experiments, blocks in ((EXPERIMENTS, 1), (some, 7), (sided(EXPERIMENTS), 2)):
        trials = order_trials(experiments, blocks=blocks, seed=1, most_trials=5000)
        assert replanned(PARSED, trials) == trials


def test_steps_of_searches_are_planned_again_and_no_other_loads_are() -> None:
    trials = plan_trials(PARSED, available=["a", "b"])
    first = next(each for each in EXPERIMENTS if each.search)
    assert first.search is not None
    tenth = at_step(first, first.search, 10)
    more = (*trials, *next_block(trials, [tenth], seed=1))
    assert replanned(PARSED, more) == more
    stream = tenth.streams[0].model_copy(update={"size_bytes": 999})
    wrong = (*trials, *next_block(trials, [tenth.model_copy(update={"streams": (stream,)})], seed=1))
    assert replanned(PARSED, wrong) != wrong
    beyond = (*trials, *next_block(trials, [at_step(first, first.search, 10_000)], seed=1))
    assert replanned(PARSED, beyond) != beyond
