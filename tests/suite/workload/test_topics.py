"""A workload may be sent on up to a thousand topics; what can't be done with several is refused at its place."""

import pytest

from middlemark.errors import SuiteError
from middlemark.suite import parse_suite

HEAD = "suite: mine\nmiddlewares: all\n"


def told(text: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(HEAD + text, file="mine.yaml")
    return str(raised.value)


def test_one_number_of_topics_or_several_are_taken() -> None:
    for written, topics in (("10", (10,)), ("[1, 1000]", (1, 1000))):
        (workload,) = parse_suite(f"{HEAD}workloads: {{workload: imu, topics: {written}}}", file="mine.yaml").workloads
        assert workload.topics == topics


@pytest.mark.parametrize("written", ["0", "1001", "[10, many]"])
def test_other_numbers_of_topics_are_refused_with_their_line(written: str) -> None:
    assert told(f"workloads:\n  - {{workload: imu, topics: {written}}}").startswith("mine.yaml:4:")


def test_a_ping_pong_has_no_topics() -> None:
    assert "a ping_pong workload has no `topics`" in told("workloads: {workload: ping_pong, topics: 2}")


def test_the_kernel_path_of_several_topics_is_refused() -> None:
    text = told("workloads: {workload: imu, topics: 2}\nobserve: [wire, kernel_path]")
    assert text.startswith("mine.yaml:4:")
    assert "the kernel path of messages on several topics can't be followed" in text
