"""A trial has come together when every message and every answer has found its way once."""

from pathlib import Path

from middlemark.campaign.trial.events import AwaitedPaths, EventReader
from middlemark.worker.contract import ApplicationFirstFullMessage, ApplicationFirstMessage
from middlemark.worker.process import Said
from staged import planned

APPLICATIONS = ["publisher_0", "subscriber_0"]


def first(*, answers: bool) -> ApplicationFirstMessage:
    return ApplicationFirstMessage(stream="ping_pong", answers=answers, publisher=0, subscriber=0, received_ns=1)


def test_a_ping_pong_has_come_together_only_when_an_answer_has_come_back(tmp_path: Path) -> None:
    trial, events = planned("workloads: ping_pong"), EventReader(tmp_path)
    events.hear(Said("subscriber_0", 1, first(answers=False)))
    assert [
        str(path) for path in AwaitedPaths(trial.experiment, events, APPLICATIONS, ApplicationFirstMessage).paths()
    ] == ["ping_pong's answers from subscriber 0 to publisher 0"]
    events.hear(Said("publisher_0", 2, first(answers=True)))
    assert AwaitedPaths(trial.experiment, events, APPLICATIONS, ApplicationFirstMessage).paths() == ()


def test_a_client_asks_one_server_and_waits_for_no_other(tmp_path: Path) -> None:
    trial = planned("workloads: [{workload: s, pattern: request_response, size: 64 B}]\ntopologies: C3-2")
    everyone = [application.name for application in trial.experiment.applications]
    paths = AwaitedPaths(trial.experiment, EventReader(tmp_path), everyone, ApplicationFirstMessage).paths()
    expected = [(answers, client, client % 2) for answers in (False, True) for client in range(3)]
    assert [(path.answers, path.publisher, path.subscriber) for path in paths] == expected


def test_a_one_way_stream_waits_for_no_answers(tmp_path: Path) -> None:
    experiment = planned("workloads: imu").experiment
    paths = AwaitedPaths(experiment, EventReader(tmp_path), APPLICATIONS, ApplicationFirstMessage).paths()
    assert [path.answers for path in paths] == [False]


def test_a_greeting_is_no_message_of_full_size(tmp_path: Path) -> None:
    trial, events = planned("workloads: imu"), EventReader(tmp_path)
    greeting = ApplicationFirstMessage(stream="imu", answers=False, publisher=0, subscriber=0, received_ns=1)
    events.hear(Said("subscriber_0", 1, greeting))
    assert AwaitedPaths(trial.experiment, events, APPLICATIONS, ApplicationFirstMessage).paths() == ()
    assert len(AwaitedPaths(trial.experiment, events, APPLICATIONS, ApplicationFirstFullMessage).paths()) == 1


def test_each_topic_of_a_stream_is_a_path_and_each_event_is_looked_at_once(tmp_path: Path) -> None:
    trial = planned("workloads: [{workload: imu, topics: 3}]\ntopologies: C2-2")
    everyone = [application.name for application in trial.experiment.applications]
    events = EventReader(tmp_path)
    awaited = AwaitedPaths(trial.experiment, events, everyone, ApplicationFirstMessage)
    assert [(path.publisher, path.subscriber) for path in awaited.paths()] == [(0, 0), (1, 1), (2, 2)]
    told = ApplicationFirstMessage(stream="imu_1", answers=False, publisher=0, subscriber=0, received_ns=1)
    events.hear(Said("subscriber_1", 1, told))
    assert [path.publisher for path in awaited.paths()] == [0, 2]
    events.hear(Said("subscriber_0", 1, told.model_copy(update={"stream": "imu_0"})))
    events.hear(Said("subscriber_1", 1, told.model_copy(update={"stream": "imu_2"})))
    assert awaited.count() == 0
