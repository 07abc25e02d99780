"""What ships with Middlemark loads, and is what the documentation says of it."""

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from middlemark.errors import SuiteError, UsageError
from middlemark.suite import Reliability, load_suite, parse_suite, shipped_suite_names, shipped_workloads
from middlemark.suite.suite import suite_schema

SCHEMA = json.loads(suite_schema())


@pytest.mark.parametrize("name", shipped_suite_names())
def test_every_shipped_suite_loads_under_its_own_name(name: str) -> None:
    loaded = load_suite(name)
    assert loaded.suite.suite == name
    assert loaded.suite.summary


@pytest.mark.parametrize("name", shipped_suite_names())
def test_every_shipped_suite_satisfies_the_schema_for_editors(name: str) -> None:
    jsonschema.validate(YAML(typ="safe").load(load_suite(name).text), SCHEMA)


@pytest.mark.parametrize(
    ("part", "refused"),
    [
        ("sizes", "4"),
        ("sizes", ["4 MB", "4 Hz"]),
        ("workloads", []),
        ("workloads", [{"workload": "imu", "sice": "1 kB"}]),
        ("qos", {"reliability": "perhaps"}),
        ("topologies", "1-1"),
        ("unknown", 1),
    ],
)
def test_the_schema_for_editors_refuses_what_the_models_refuse(part: str, refused: object) -> None:
    suite = {"suite": "mine", "middlewares": "all", "workloads": "imu"}
    jsonschema.validate(suite, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(suite | {part: refused}, SCHEMA)
    with pytest.raises(SuiteError):
        parse_suite(json.dumps(suite | {part: refused}), file="mine.yaml")


def test_the_workloads_of_the_automotive_evaluation_are_there() -> None:
    points = {w.workload: (w.size, w.rate, [q.reliability for q in w.qos or ()]) for w in shipped_workloads().values()}
    assert points["imu"] == ((1000,), (200.0,), [Reliability.BEST_EFFORT])
    assert points["radar"] == ((10_000,), (20.0,), [Reliability.BEST_EFFORT])
    assert points["lidar"] == ((4_000_000,), (20.0,), [Reliability.RELIABLE])
    assert points["camera"] == ((4_000_000,), (20.0,), [Reliability.RELIABLE])


def test_a_suite_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("suite: mine\nmiddlewares: udp\nworkloads: imu\n", encoding="utf-8")
    assert load_suite(str(file)).suite.suite == "mine"


def test_a_name_that_is_neither_suite_nor_file_names_the_suites() -> None:
    with pytest.raises(UsageError, match=r"(?s)`quik` is neither.*did you mean `quick`"):
        load_suite("quik")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(b"\xff\xfe\x00junk")
    with pytest.raises(SuiteError, match="not UTF-8 text"):
        load_suite(str(file))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="it can't be read: Is a directory"):
        load_suite(str(tmp_path))
