"""Each topic has one publisher and one subscriber, in turn; without topics all publishers reach all subscribers."""

import pytest

from middlemark.errors import UsageError
from planned_experiments import experiments, suite


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
