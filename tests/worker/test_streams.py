"""What workers know as streams of their own is one stream of the plan, and nothing else passes for a topic of it."""

from middlemark.worker.streams import PlannedPaths, endpoint_of, topics
from planned_experiments import experiments, suite


def test_each_topic_is_a_stream_of_its_own_with_both_its_ends() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C2-2"))
    told = [(topic.name, topic.publishers, topic.subscribers) for topic in topics(experiment.streams)]
    assert told[2] == ("imu_2", ("publisher_0",), ("subscriber_1",))
    assert [name for name, *_ in told] == ["imu_0", "imu_1", "imu_2"]
    assert endpoint_of(experiment.streams[0], 2) == ("imu_2", 0)


def test_what_workers_say_of_a_topic_is_of_the_plan_s_stream() -> None:
    [experiment] = experiments(suite(workloads=[{"workload": "imu", "topics": 3}], topologies="C2-2"))
    planned = PlannedPaths(experiment.streams)
    assert planned.path("imu_2", 0, 0) == ("imu", 2, 2)
    assert planned.path("imu_2", 1, 0) == ("imu_2", 1, 0)
    assert planned.path("imu_7", 0, 0) == ("imu_7", 0, 0)


def test_a_stream_on_one_topic_keeps_its_name_and_indices() -> None:
    [experiment] = experiments(suite(topologies="C2-2"))
    [topic] = topics(experiment.streams)
    assert (topic.name, topic.number, len(topic.publishers)) == ("imu", None, 2)
    assert PlannedPaths(experiment.streams).path("imu", 1, 0) == ("imu", 1, 0)
    assert endpoint_of(experiment.streams[0], 1) == ("imu", 1)
