"""Recordings give topics, instants, sizes and QoS, and become a demand that can be loaded, edited and planned."""

import os
import random
import resource
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from mcap.writer import Writer

from middlemark.campaign import import_recording
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


def test_where_publishers_offer_different_qos_it_is_left_open(tmp_path: Path) -> None:
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
    assert "#   /map: its first message comes 90 s after the start" in found.demand
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


METADATA = "rosbag2_bagfile_information:\n  relative_file_paths: [drive.db3]\n"


def _anchors(folder: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{name}: &{name} [*{last}, *{last}]\n" for last, name in pairwise("abcdefghij"))
    (folder / "metadata.yaml").write_text(bomb + METADATA, encoding="utf-8")


def _tags(folder: Path) -> None:
    tagged = METADATA.replace("[drive.db3]", "!!python/object/apply:os.system ['true']")
    (folder / "metadata.yaml").write_text(tagged, encoding="utf-8")


def _large(folder: Path) -> None:
    (folder / "metadata.yaml").write_text(METADATA + "#" * (2 << 20), encoding="utf-8")


def _pipe(folder: Path) -> None:
    (folder / "metadata.yaml").unlink()
    os.mkfifo(folder / "metadata.yaml")


@pytest.mark.parametrize("spoil", [_anchors, _tags, _large, _pipe])
def test_the_metadata_of_a_recording_is_read_as_guardedly_as_a_suite(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    (tmp_path / "metadata.yaml").write_text(METADATA, encoding="utf-8")
    write_rosbag2(tmp_path / "drive.db3", DRIVE, QOS)
    assert read_recording(tmp_path) == EXPECTED
    spoil(tmp_path)
    with pytest.raises(UsageError, match="which files the recording has"):
        read_recording(tmp_path)


@pytest.mark.parametrize("name", ["drive.mcap", "drive.db3"])
def test_a_pipe_in_place_of_a_recording_is_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError, match="no regular file"):
        read_recording(tmp_path / name)


@pytest.mark.parametrize(
    "messages",
    [
        "CREATE VIEW messages(topic_id, timestamp, data) AS "  # noqa: ISC004 - one statement
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 1, i, 'x' FROM n",
        "CREATE TABLE messages(topic_id INTEGER, timestamp INTEGER, data BLOB AS (zeroblob(1000000000)))",
        "CREATE VIRTUAL TABLE messages USING fts5(topic_id, timestamp, data)",
    ],
    ids=["a view without end", "a computed column", "a virtual table"],
)
def test_a_database_that_computes_is_no_recording(tmp_path: Path, messages: str) -> None:
    path = write_rosbag2(tmp_path / "drive.db3", {}, {})
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript("DROP TABLE messages; INSERT INTO topics VALUES (1, '/x', '')")
        database.execute(messages)
    with pytest.raises(UsageError, match="no plain table"):
        read_recording(path)


@pytest.mark.parametrize("value", ["NULL", "-1", "'text'", "1.5", "x'00'"])
def test_an_invalid_instant_is_refused(tmp_path: Path, value: str) -> None:
    path = write_rosbag2(tmp_path / "drive.db3", DRIVE, QOS)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE other AS SELECT * FROM messages")
        database.executescript("DROP TABLE messages; ALTER TABLE other RENAME TO messages")
        database.execute(f"UPDATE messages SET timestamp = {value}")  # noqa: S608 - of this test
    with pytest.raises(UsageError, match="no instant"):
        read_recording(path)


def test_a_chunk_that_unpacks_to_more_than_there_is_room_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_recording, "MOST_MEMORY_BYTES", 256 << 20)
    with (tmp_path / "bomb.mcap").open("wb") as stream:
        writer = Writer(stream, chunk_size=1 << 30)
        writer.start()
        channel = writer.register_channel("/x", "cdr", 0)
        for number in range(4):
            writer.add_message(channel, number, bytes(100 << 20), number)
        writer.finish()
    assert (tmp_path / "bomb.mcap").stat().st_size < 1 << 20
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(UsageError, match="can't be read"):
        read_recording(tmp_path / "bomb.mcap")
    assert resource.getrlimit(resource.RLIMIT_AS) == limits


def test_more_messages_than_are_read_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_recording, "MOST_MESSAGES", 4)
    with pytest.raises(UsageError, match="more than 4 messages"):
        read_recording(write_mcap(tmp_path / "drive.mcap", DRIVE, QOS))


@pytest.mark.parametrize(("name", "write"), [("drive.mcap", write_mcap), ("drive.db3", write_rosbag2)])
def test_a_recording_with_any_bytes_altered_is_read_or_refused(
    tmp_path: Path, name: str, write: Callable[..., Path]
) -> None:
    good = write(tmp_path / name, {"/imu": DRIVE["/imu"]}, QOS).read_bytes()
    chance = random.Random(7)
    refused = 0
    for _ in range(300):
        altered = bytearray(good)
        for _ in range(chance.choice([1, 2, 8])):
            altered[chance.randrange(len(altered))] = chance.randrange(256)
        (tmp_path / name).write_bytes(altered[: chance.choice([len(altered), chance.randrange(len(altered))])])
        try:
            read_recording(tmp_path / name)
        except UsageError:
            refused += 1
    assert refused > 30


def test_a_topic_can_write_no_line_of_the_demand(tmp_path: Path) -> None:
    odd = "/x\nstreams: [evil]\x1b"
    topics = read_recording(write_mcap(tmp_path / "drive.mcap", {**DRIVE, odd: [(0, 1)]}, QOS))
    demand = recorded_demand("drive", "drive\n.mcap", "messages.csv", topics).demand
    assert "\nstreams: [evil]" not in demand
    assert "\x1b" not in demand
    assert "\n.mcap" not in demand
