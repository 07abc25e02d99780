"""What workers know as streams of their own is one stream of the plan, and nothing else passes for a topic of it."""

import pytest

from middlemark.worker.contract import ApplicationFirstMessage, ApplicationMatched
from middlemark.worker.streams import PlannedPaths, endpoint_of, topics
from planned_experiments import experiments, suite


def test_each_topic_is_a_stream_of_its_own_with_both_its_ends() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C2-2"))
    told = [(topic.name, topic.publishers, topic.subscribers) for topic in topics(experiment.streams)]
    assert told[2] == ("imu_2", ("publisher_0",), ("subscriber_1",))
    assert [name for name, *_ in told] == ["imu_0", "imu_1", "imu_2"]
    assert endpoint_of(experiment.streams[0], 2) == ("imu_2", 0)


def first(stream: str, publisher: int, subscriber: int) -> ApplicationFirstMessage:
    return ApplicationFirstMessage(
        stream=stream, answers=False, publisher=publisher, subscriber=subscriber, received_ns=7
    )


@pytest.mark.parametrize(
    ("said", "planned"),
    [
        (("imu_2", 0, 0), ("imu", 2, 2)),
        (("imu_2", 1, 0), ("imu_2", 1, 0)),
        (("imu_2", 0, 1), ("imu_2", 0, 1)),
        (("imu_7", 0, 0), ("imu_7", 0, 0)),
    ],
)
def test_what_workers_say_of_a_topic_is_of_the_plan_s_stream(
    said: tuple[str, int, int], planned: tuple[str, int, int]
) -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C2-2"))
    assert PlannedPaths(experiment.streams).as_planned(first(*said)) == first(*planned)


def test_what_is_said_of_a_publisher_alone_names_no_subscriber() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C2-2"))
    match = ApplicationMatched(stream="imu_1", answers=False, publisher=0, since_ns=7)
    assert PlannedPaths(experiment.streams).as_planned(match) == match.model_copy(
        update={"stream": "imu", "publisher": 1}
    )


def test_a_stream_on_one_topic_keeps_its_name_and_indices() -> None:
    [experiment] = experiments(suite(topologies="C2-2"))
    [topic] = topics(experiment.streams)
    assert (topic.name, topic.number, len(topic.publishers)) == ("imu", None, 2)
    assert PlannedPaths(experiment.streams).as_planned(first("imu", 1, 0)) == first("imu", 1, 0)
    assert endpoint_of(experiment.streams[0], 1) == ("imu", 1)
