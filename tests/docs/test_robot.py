"""The generated robot is the same for the same seed, and its two files say the same of its 150 topics."""

import sys
from pathlib import Path
from subprocess import run

import pytest

from middlemark.campaign.import_recording import RecordedTopic, read_recording
from middlemark.suite import Demand, load_demand
from pages import ROOT

SECONDS = 5


def written(folder: Path, seed: int = 1) -> Path:
    generator = ROOT / "examples" / "robot.py"
    run([sys.executable, generator, folder, "--seconds", str(SECONDS), "--seed", str(seed)], check=True)
    return folder


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("robot"))


@pytest.fixture
def demand(robot: Path) -> Demand:
    return load_demand(robot / "robot.yaml").demand


@pytest.fixture
def recorded(robot: Path) -> dict[str, RecordedTopic]:
    return {topic.topic: topic for topic in read_recording(robot / "robot.mcap")}


def test_the_robot_has_150_topics_of_15_processes_received_by_up_to_8(demand: Demand) -> None:
    assert (len(demand.streams), len(demand.processes)) == (150, 15)
    assert max(len(stream.subscribers) for stream in demand.streams) == 8
    rates = [stream.rate for stream in demand.streams]
    assert (min(rates), max(rates)) == (0.2, 400)


def test_no_process_of_the_robot_receives_what_it_publishes(demand: Demand) -> None:
    assert not [stream.topic for stream in demand.streams if set(stream.publishers) & set(stream.subscribers)]


def test_the_recording_has_each_topic_with_its_size_qos_and_rate(
    demand: Demand, recorded: dict[str, RecordedTopic]
) -> None:
    assert set(recorded) == {stream.topic for stream in demand.streams}
    for stream in demand.streams:
        topic = recorded[stream.topic]
        assert {max(size_bytes, 32) for _, size_bytes in topic.messages} == {stream.size}
        assert topic.reliability == stream.qos.reliability
        assert abs(len(topic.messages) - stream.rate * SECONDS) <= 1, stream.topic


def test_the_recording_s_messages_have_20_bytes_to_6_mb(recorded: dict[str, RecordedTopic]) -> None:
    sizes = [size_bytes for topic in recorded.values() for _, size_bytes in topic.messages]
    assert (min(sizes), max(sizes)) == (20, 6_000_000)


def test_the_same_seed_gives_the_same_recording_and_another_one_another(robot: Path, tmp_path: Path) -> None:
    same, other = written(tmp_path / "same"), written(tmp_path / "other", seed=2)
    assert (same / "robot.mcap").read_bytes() == (robot / "robot.mcap").read_bytes()
    assert (other / "robot.mcap").read_bytes() != (robot / "robot.mcap").read_bytes()


def test_the_robot_that_ships_is_the_generated_one(robot: Path) -> None:
    assert load_demand("robot").text == (robot / "robot.yaml").read_text()
