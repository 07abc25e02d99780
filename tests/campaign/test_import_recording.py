"""Recordings give topics, instants, sizes and QoS, and become a demand that can be loaded, edited and planned."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from mcap.writer import Writer

from middlemark.campaign.import_recording import RecordedTopic, read_recording, recorded_demand
from middlemark.errors import UsageError
from middlemark.plan import experiments_of
from middlemark.suite import Durability, Reliability, load_demand

BEGIN_NS = 1_700_000_000_000_000_000
MS = 1_000_000
Messages = Mapping[str, Sequence[tuple[int, int]]]
DRIVE: Messages = {
    "/imu": [(0, 320), (5 * MS, 320), (11 * MS, 324)],
    "/points": [(2 * MS, 200_000), (102 * MS, 180_000)],
}
BEST_EFFORT = "- history: 1\n  depth: 5\n  reliability: 2\n  durability: 2\n"
LATCHED = "- reliability: reliable\n  durability: transient_local\n"


def write_mcap(path: Path, messages: Messages, qos: Mapping[str, str]) -> Path:
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        channels = {
            topic: writer.register_channel(topic, "cdr", 0, {"offered_qos_profiles": qos.get(topic, "")})
            for topic in messages
        }
        for topic, own in messages.items():
            for at_ns, size_bytes in own:
                # The publisher's clock is another than the recorder's.
                writer.add_message(channels[topic], BEGIN_NS + at_ns, bytes(size_bytes), BEGIN_NS - 7)
        writer.finish()
    return path


def write_rosbag2(path: Path, messages: Messages, qos: Mapping[str, str]) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, offered_qos_profiles TEXT)")
        database.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)"
        )
        for number, (topic, own) in enumerate(messages.items(), start=1):
            database.execute("INSERT INTO topics VALUES (?, ?, ?)", (number, topic, qos.get(topic, "")))
            rows = [(number, BEGIN_NS + at_ns, bytes(size_bytes)) for at_ns, size_bytes in own]
            database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES (?, ?, ?)", rows)
    return path


QOS = {"/imu": BEST_EFFORT, "/points": LATCHED}
EXPECTED = (
    RecordedTopic("/imu", tuple(DRIVE["/imu"]), Reliability.BEST_EFFORT, Durability.VOLATILE),
    RecordedTopic("/points", tuple(DRIVE["/points"]), Reliability.RELIABLE, Durability.TRANSIENT_LOCAL),
)


def test_mcap_gives_sizes_and_the_recorder_s_instants_from_the_first_message_on(tmp_path: Path) -> None:
    assert read_recording(write_mcap(tmp_path / "drive.mcap", DRIVE, QOS)) == EXPECTED


def test_rosbag2_s_sqlite_form_gives_the_same(tmp_path: Path) -> None:
    assert read_recording(write_rosbag2(tmp_path / "drive.db3", DRIVE, QOS)) == EXPECTED


def test_a_rosbag2_folder_joins_its_files(tmp_path: Path) -> None:
    write_rosbag2(tmp_path / "drive_0.db3", {"/imu": DRIVE["/imu"][:2], "/points": DRIVE["/points"]}, QOS)
    write_rosbag2(tmp_path / "drive_1.db3", {"/imu": DRIVE["/imu"][2:]}, QOS)
    (tmp_path / "metadata.yaml").write_text(
        "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n"
        "  relative_file_paths: [drive_0.db3, drive/drive_1.db3]\n"
    )
    assert read_recording(tmp_path) == EXPECTED


@pytest.mark.parametrize(("mode", "is_refused"), [("MESSAGE", True), ("message", True), ("NONE", False), ("", False)])
def test_messages_that_are_compressed_hide_their_sizes_and_are_refused(
    tmp_path: Path, mode: str, *, is_refused: bool
) -> None:
    write_rosbag2(tmp_path / "drive_0.db3", DRIVE, QOS)
    (tmp_path / "metadata.yaml").write_text(
        f'rosbag2_bagfile_information:\n  relative_file_paths: [drive_0.db3]\n  compression_mode: "{mode}"\n'
    )
    if is_refused:
        with pytest.raises(UsageError, match="compressed"):
            read_recording(tmp_path)
    else:
        assert read_recording(tmp_path) == EXPECTED


def test_publishers_that_offer_different_qos_are_no_answer(tmp_path: Path) -> None:
    found = read_recording(write_mcap(tmp_path / "drive.mcap", DRIVE, {"/imu": BEST_EFFORT + LATCHED}))
    assert [(topic.reliability, topic.durability) for topic in found] == [(None, None), (None, None)]


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_file_that_is_something_else_is_named(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"drive{suffix}").write_bytes(b"no recording at all, but long enough to look like one" * 9)
    with pytest.raises(UsageError, match="can't be read"):
        read_recording(tmp_path / f"drive{suffix}")


def test_a_recording_that_breaks_off_is_named(tmp_path: Path) -> None:
    whole = write_mcap(tmp_path / "drive.mcap", DRIVE, QOS).read_bytes()
    (tmp_path / "drive.mcap").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match="can't be read"):
        read_recording(tmp_path / "drive.mcap")


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere.mcap", "does not exist"), ("drive.bag", "is not a supported recording"), ("", "doesn't say which")],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "drive.bag").write_bytes(b"")
    with pytest.raises(UsageError, match=said):
        read_recording(tmp_path / name)


def test_an_empty_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no message"):
        read_recording(write_mcap(tmp_path / "drive.mcap", {}, {}))


def test_the_derived_demand_plays_the_recording_and_says_what_is_left_out(tmp_path: Path) -> None:
    late = RecordedTopic("/map", ((90_000 * MS, 10),), None, None)
    topics = [*EXPECTED, late, RecordedTopic("/clock", tuple((n * MS, 8) for n in range(21_000)), None, None)]
    found = recorded_demand("2024 Drive", "drive.mcap", "drive.messages.csv", topics)
    assert "#   /map: its first message comes 90 s after the begin" in found.demand
    (tmp_path / "drive.yaml").write_text(found.demand)
    (tmp_path / "drive.messages.csv").write_text(found.messages)
    demand = load_demand(str(tmp_path / "drive.yaml")).demand
    assert demand.application == "drive"
    imu, points, clock = experiments_of(demand, {"udp": ("default",)})[0].streams
    assert imu.recorded is not None
    assert (imu.recorded.offsets_ns, imu.recorded.sizes_bytes) == ((0, 5 * MS, 11 * MS), (320, 320, 324))
    assert (points.qos.reliability, points.qos.durability) == ("reliable", "transient_local")
    assert clock.recorded is not None
    assert len(clock.recorded.offsets_ns) == 20_000
    assert {clock.size_bytes, imu.recorded.period_ns} == {32, 20_000 * MS}


def test_a_recording_without_a_topic_that_can_be_played_is_refused() -> None:
    with pytest.raises(UsageError, match="no topic that can be played"):
        recorded_demand("drive", "drive.mcap", "m.csv", [RecordedTopic("/a topic", ((0, 10),), None, None)])
