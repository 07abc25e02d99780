"""Which applications publish and subscribe a stream, and a pair, which is planned as one middleware with a name for both."""

import pytest

from middlemark.errors import SuiteError, UsageError
from middlemark.plan import Pair, order_trials, replanned
from middlemark.suite import MiddlewareChoice, Suite, parse_suite
from planned_experiments import experiments, suite

PAIR = {"publishers": "udp", "subscribers": "shm"}


def test_topics_go_round_the_publishers_and_each_round_meets_other_subscribers() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 5}], topologies="C2-2"))
    [stream] = experiment.streams
    ends = [
        (stream.publishers[publisher][-1], stream.subscribers[subscriber][-1])
        for publisher, subscriber in stream.pairs()
    ]
    assert ends == [("0", "0"), ("1", "1"), ("0", "1"), ("1", "0"), ("0", "0")]
    assert [len(application.endpoints) for application in experiment.applications] == [3, 2, 3, 2]
    assert experiment.factors["topics"] == "5"


def test_several_numbers_of_topics_widen_the_matrix() -> None:
    found = experiments(suite(workloads=[{"workload": "imu", "topics": [2, 4]}], topologies="C2-2"))
    assert [each.streams[0].topics for each in found] == [2, 4]
    assert len({each.id for each in found}) == 2


def test_without_topics_all_publishers_reach_all_subscribers() -> None:
    [experiment] = experiments(suite(topologies="C2-3"))
    [stream] = experiment.streams
    assert (stream.topics, len(list(stream.pairs())), "topics" in experiment.factors) == (None, 6, False)


def test_topics_that_leave_an_application_idle_are_refused_with_its_name() -> None:
    with pytest.raises(UsageError, match=r"3 topics leave publisher_3, subscriber_3 of `C4-4` without a stream"):
        experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C4-4"))


def test_sixty_four_publishers_and_as_many_subscribers_can_be_counted() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 1000}], topologies="C64-64"))
    assert len(experiment.applications) == 128
    assert sum(len(application.endpoints) for application in experiment.applications) == 2000


def test_a_pair_has_a_name_for_both_and_is_what_its_roles_say() -> None:
    (found,) = experiments(suite(middlewares=[PAIR]))
    assert (found.middleware, found.factors["middleware"]) == ("udp_to_shm", "udp_to_shm")
    assert (found.pair, found.middlewares) == (Pair(publishers="udp", subscribers="shm"), ("udp", "shm"))


def test_both_ways_and_each_alone_are_experiments_of_their_own() -> None:
    back = {"publishers": "shm", "subscribers": "udp"}
    found = experiments(suite(middlewares=["udp", "shm", PAIR, back], exclude=[{"middleware": "shm_to_udp"}]))
    assert [each.middleware for each in found] == ["udp", "shm", "udp_to_shm"]


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ({"publishers": "udp"}, "a pair has no `subscribers`"),
        ({**PAIR, "middleware": "mine"}, "a pair is not named"),
        ({"publishers": "udp", "subscribers": "udp"}, "a pair is of two middlewares by name"),
        ({"publishers": "udp", "subscribers": "all"}, "a pair is of two middlewares by name"),
        ({"publishers": "u" * 20, "subscribers": "s" * 20}, "the names of this pair are too long"),
        ({"publishers": "Fast DDS", "subscribers": "udp"}, "`Fast DDS` is not allowed here"),
    ],
)
def test_what_is_no_pair_is_refused(pair: dict[str, str], problem: str) -> None:
    with pytest.raises(SuiteError) as refused:
        experiments(suite(middlewares=[pair]))
    assert refused.value.problem == problem


def test_a_pair_that_is_stored_with_a_suite_is_the_same_when_it_is_read() -> None:
    requested = parse_suite(suite(middlewares=["udp", PAIR]), file="mine.yaml")
    stored = Suite.model_validate_json(requested.model_dump_json())
    assert [choice.pair for choice in stored.middlewares] == [None, ("udp", "shm")]
    assert MiddlewareChoice.model_validate(stored.middlewares[1].model_dump()) == requested.middlewares[1]


def test_a_pair_is_planned_again_as_it_was() -> None:
    requested = parse_suite(suite(middlewares=["udp", PAIR]), file="mine.yaml")
    trials = order_trials(experiments(suite(middlewares=["udp", PAIR])), blocks=2, seed=requested.seed)
    assert replanned(requested, trials) == trials
