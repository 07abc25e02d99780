"""Trials run in blocks, each block holds each experiment once, in an order that the seed alone decides."""

from collections import Counter
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from middlemark.plan import (
    SearchStep,
    Trial,
    Watched,
    campaign_duration_ns,
    expand,
    next_block,
    order_trials,
    plan_trials,
    replanned,
)
from middlemark.plan.factors import sent_factors, setting_factors
from middlemark.plan.schedule import at_step
from middlemark.suite import Observation, load_suite, parse_suite

QUICK = load_suite("quick").suite
EXPERIMENTS = expand(QUICK, available=["shm", "tcp", "udp", "zenoh"])
AWAKE_OR_NOT = expand(
    parse_suite(
        "{suite: awake, middlewares: all, workloads: [imu, camera, ping_pong], "
        "conditions: [{keep_awake: true}, {keep_awake: false}]}",
        file="test.yaml",
    ),
    available=["tcp", "udp", "zenoh"],
)
SEARCHES = expand(
    parse_suite(
        "{suite: searches, middlewares: all, workloads: {workload: s, pattern: capacity, size: 64 B}, "
        "conditions: [{keep_awake: true}, {keep_awake: false}]}",
        file="test.yaml",
    ),
    available=["tcp", "udp", "zenoh"],
)
SUITE_WATCHED = parse_suite(
    "{suite: watched, middlewares: tcp, workloads: imu, trials: 4, observe: wire, observed_trials: 2}", file="test.yaml"
)


@given(seed=st.integers(0, 2**63 - 1), blocks=st.integers(1, 6), count=st.integers(1, len(EXPERIMENTS)))
def test_each_block_holds_each_experiment_once(seed: int, blocks: int, count: int) -> None:
    trials = order_trials(EXPERIMENTS[:count], blocks=blocks, seed=seed)
    assert [t.number for t in trials] == list(range(1, blocks * count + 1))
    assert [t.block for t in trials] == sorted(t.block for t in trials)
    held = Counter((t.block, t.experiment.id) for t in trials)
    assert len(held) == blocks * count
    assert set(held.values()) == {1}


@given(seed=st.integers(0, 2**63 - 1))
def test_the_same_seed_gives_the_same_order_however_the_suite_lists_its_points(seed: int) -> None:
    forwards = order_trials(EXPERIMENTS, blocks=2, seed=seed)
    assert order_trials(EXPERIMENTS[::-1], blocks=2, seed=seed) == forwards


@given(seed=st.integers(0, 2**63 - 1))
def test_in_a_block_those_that_are_compared_run_near_each_other(seed: int) -> None:
    trials = order_trials(AWAKE_OR_NOT, blocks=2, seed=seed, observe=Watched([Observation.WIRE]))
    for factors, n_groups in ((sent_factors, 2 * 3), (setting_factors, 2 * 6)):
        groups = [(trial.block, factors(trial.experiment)) for trial in trials]
        assert len([group for group, _ in groupby(groups)]) == len(set(groups)) == n_groups


@given(seed=st.integers(0, 2**63 - 1), steps=st.permutations(range(1, 7)))
def test_searches_of_one_setting_run_near_each_other_whatever_load_each_is_at(seed: int, steps: list[int]) -> None:
    searches = [(first, first.search) for first in SEARCHES if first.search is not None]
    moved = [at_step(first, search, step) for (first, search), step in zip(searches, steps, strict=True)]
    trials = next_block(
        order_trials(SEARCHES, blocks=1, seed=seed),
        moved,
        seed=seed,
        steps={each.id: SearchStep(search=1, step=step) for each, step in zip(moved, steps, strict=True)},
    )
    awake = [trial.experiment.factors["keep_awake"] for trial in trials]
    assert len(awake) == 6
    assert len([setting for setting, _ in groupby(awake)]) == 2


def test_who_is_first_in_a_setting_changes_from_block_to_block() -> None:
    trials = order_trials(EXPERIMENTS, blocks=40, seed=1)
    setting = setting_factors(EXPERIMENTS[0])
    order = [trial for trial in trials if setting_factors(trial.experiment) == setting]
    first = Counter(next(group).experiment.middleware for _, group in groupby(order, key=lambda trial: trial.block))
    assert first.keys() == {experiment.middleware for experiment in EXPERIMENTS}


def test_blocks_and_seeds_have_orders_of_their_own() -> None:
    first, second = (order_trials(EXPERIMENTS, blocks=2, seed=seed) for seed in (1, 2))
    orders = [[t.experiment.id for t in trials if t.block == block] for trials in (first, second) for block in (1, 2)]
    assert len({tuple(order) for order in orders}) == 4


def test_experiments_of_one_block_share_a_seed_and_blocks_do_not() -> None:
    trials = order_trials(EXPERIMENTS, blocks=3, seed=1)
    assert len({(t.block, t.seed) for t in trials}) == len({t.seed for t in trials}) == 3


def test_ids_sort_in_the_order_of_running() -> None:
    trials = order_trials(EXPERIMENTS, blocks=10, seed=1)
    assert sorted(t.id for t in trials) == [t.id for t in trials]


def test_a_trial_survives_being_stored() -> None:
    for trial in order_trials(EXPERIMENTS, blocks=1, seed=1):
        assert Trial.model_validate_json(trial.model_dump_json()) == trial


def test_the_order_of_quick_is_the_same_on_every_machine() -> None:
    trials = plan_trials(QUICK, available=["udp", "zenoh"], trials=2)
    assert [t.id for t in trials] == snapshot(
        [
            "01-udp-imu-C1-1-caf30285",
            "02-zenoh-imu-C1-1-7da1a2fd",
            "03-zenoh-camera-C1-1-41a7f1c9",
            "04-udp-camera-C1-1-3d711a54",
            "05-udp-ping_pong-C1-1-fc2270c3",
            "06-zenoh-ping_pong-C1-1-21f30db7",
            "07-udp-camera-C1-1-3d711a54",
            "08-zenoh-camera-C1-1-41a7f1c9",
            "09-udp-imu-C1-1-caf30285",
            "10-zenoh-imu-C1-1-7da1a2fd",
            "11-udp-ping_pong-C1-1-fc2270c3",
            "12-zenoh-ping_pong-C1-1-21f30db7",
        ]
    )


def test_quick_takes_little_more_than_four_minutes_with_twelve_middlewares() -> None:
    trials = plan_trials(QUICK, available=[f"middleware_{number}" for number in range(12)])
    assert len(trials) == 180
    assert campaign_duration_ns(trials) < 260e9


def test_each_observation_adds_a_trial_of_each_experiment_to_each_block() -> None:
    trials = order_trials(EXPERIMENTS, blocks=2, seed=1, observe=Watched([Observation.WIRE, Observation.RESOURCES]))
    held = Counter((t.block, t.experiment.id, t.observation) for t in trials)
    assert len(held) == 2 * len(EXPERIMENTS) * 3
    assert set(held.values()) == {1}
    assert len({t.id for t in trials}) == len(trials)


def test_unobserved_and_observed_trials_run_in_random_order() -> None:
    trials = order_trials(EXPERIMENTS, blocks=10, seed=1, observe=Watched([Observation.WIRE]))
    first = {(t.block, t.experiment.id): t.observation for t in reversed(trials)}
    assert set(first.values()) == {None, Observation.WIRE}


def test_the_first_blocks_alone_have_observed_trials_where_a_suite_says_how_many() -> None:
    trials = order_trials(EXPERIMENTS, blocks=5, seed=1, observe=Watched([Observation.WIRE], blocks=2))
    assert {t.block for t in trials if t.observation} == {1, 2}
    assert Counter(t.block for t in trials if t.observation is None) == dict.fromkeys(range(1, 6), len(EXPERIMENTS))
    assert replanned(SUITE_WATCHED, planned := plan_trials(SUITE_WATCHED, available=["tcp"])) == planned
