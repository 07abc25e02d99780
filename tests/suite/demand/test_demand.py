"""An application's demand is read whole, and each mistake in it is told with its place and what is allowed."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError, UsageError
from middlemark.suite import Demand, Suite, load_demand, parse_demand, parse_given

AMR = """\
application: amr
processes: [drivers, {process: control, host: base}]
streams:
  - topic: /imu/data
    publishers: drivers
    subscribers: control
    size: 320 B
    rate: 200 Hz
    deadline: 5 ms
"""


def told(right: str, wrong: str) -> str:
    assert AMR.count(right) == 1
    with pytest.raises(SuiteError) as raised:
        parse_demand(AMR.replace(right, wrong), file="amr.yaml")
    return str(raised.value)


def test_topics_become_names_of_streams_and_best_effort_may_lose_one_percent() -> None:
    stream = parse_demand(AMR, file="amr.yaml").streams[0]
    assert (stream.name, stream.loss_allowed) == ("imu_data", 0.01)


def test_a_reliable_stream_may_lose_nothing() -> None:
    text = AMR + "    qos: {reliability: reliable}\n"
    assert parse_demand(text, file="amr.yaml").streams[0].loss_allowed == 0


def test_a_file_is_a_demand_or_a_suite_by_its_first_key() -> None:
    assert isinstance(parse_given(AMR, file="amr.yaml"), Demand)
    assert isinstance(parse_given("suite: s\nmiddlewares: all\nworkloads: imu\n", file="s.yaml"), Suite)


MISTAKES = {
    "a node that there is not": (
        "subscribers: control",
        "subscribers: [contorl]",
        snapshot("""\
amr.yaml:6:19: there is no process `contorl`
  subscribers: [contorl]
allowed: did you mean `control`? (drivers, control)\
"""),
    ),
    "a node without a stream": (
        "[drivers, {",
        "[drivers, spare, {",
        snapshot("""\
amr.yaml:2:22: `spare` has no stream and no service
  processes: [drivers, spare, {process: control, host: base}]
allowed: processes that publish, subscribe, ask or respond\
"""),
    ),
    "a stream without a rate": (
        "    rate: 200 Hz\n",
        "",
        snapshot("""\
amr.yaml:4:5: `/imu/data` has no `rate`
  - topic: /imu/data
allowed: `size` and `rate`, or `recorded`\
"""),
    ),
    "a link where no network is": (
        "{process: control, host: base}]",
        "control]\nlink: {delay: 1 ms}",
        snapshot("""\
amr.yaml:3:1: `link` describes the network that connects the processes' hosts
  link: {delay: 1 ms}
allowed: processes on several hosts, and no `topology`\
"""),
    ),
    "faults that it asks for": (
        "processes:",
        "conditions: {faults: pause}\nprocesses:",
        snapshot("""\
amr.yaml:2:14: a demand is judged without faults
  conditions: {faults: pause}
allowed: a suite\
"""),
    ),
    "a host that the topology lacks": (
        "processes:",
        "topology: D1-1\nprocesses:",
        snapshot("""\
amr.yaml:3:22: `D1-1` has no host `base`
  processes: [drivers, {process: control, host: base}]
allowed: host_0, host_1\
"""),
    ),
}


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(right: str, wrong: str, said: str) -> None:
    assert told(right, wrong) == said


def test_topics_that_are_one_in_letters_and_digits() -> None:
    again = AMR[AMR.index("  - topic") :].replace("/imu/data", "imu-data")
    assert told("    deadline: 5 ms\n", f"    deadline: 5 ms\n{again}") == snapshot("""\
amr.yaml:10:5: `imu-data` is `imu_data` in letters and digits, as one before it is
  - topic: imu-data
allowed: names that differ\
""")


def test_an_empty_file() -> None:
    with pytest.raises(SuiteError, match="an application: `application`, `processes`"):
        parse_demand("", file="amr.yaml")


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="neither a shipped application nor a file"):
        load_demand("nowhere.yaml")


RECORDED = AMR.replace("    size: 320 B\n    rate: 200 Hz\n", "    recorded: drive.csv\n")


def loaded(folder: Path, messages: str) -> Demand:
    (folder / "amr.yaml").write_text(RECORDED, encoding="utf-8")
    (folder / "drive.csv").write_text(messages, encoding="utf-8")
    return load_demand(str(folder / "amr.yaml")).demand


def test_a_recording_is_read_with_the_period_of_all_its_topics(tmp_path: Path) -> None:
    messages = "topic,at_ns,size_bytes\n/imu/data,100,40\n/imu/data,0,8\n/other,400,50\n/imu/data,300,60\n"
    recorded = loaded(tmp_path, messages).streams[0].recorded
    assert recorded is not None
    assert (recorded.offsets_ns, recorded.sizes_bytes) == ((0, 100, 300), (32, 40, 60))
    assert recorded.period_ns == 400 + 200


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ("topic,at_ns\n/imu/data,1\n", "drive.csv:1: these columns are not the expected ones"),
        ("topic,at_ns,size_bytes\n/imu/data,0,40\n/imu/data,soon,40\n", "drive.csv:3: `at_ns` is no whole number"),
        ("topic,at_ns,size_bytes\n/imu/data,0,-1\n", "drive.csv:2: `size_bytes` is no whole number"),
        ("topic,at_ns,size_bytes\n/imu,0,40\n", "has no message of `/imu/data`"),
        ("topic,at_ns,size_bytes\n", "0 messages"),
    ],
)
def test_a_recording_that_can_not_be_read(tmp_path: Path, messages: str, said: str) -> None:
    with pytest.raises(SuiteError) as raised:
        loaded(tmp_path, messages)
    assert said in str(raised.value)


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "amr.yaml").write_text(RECORDED, encoding="utf-8")
    with pytest.raises(SuiteError, match=r"`drive\.csv` can't be read"):
        load_demand(str(tmp_path / "amr.yaml"))
