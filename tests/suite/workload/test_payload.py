"""Payloads as a suite has them: what is planned of them, what a worker is told, and what is refused."""

import pytest

from middlemark.errors import SuiteError
from middlemark.plan import Experiment, expand
from middlemark.suite import parse_suite
from staged import planned

SUITE = """
suite: typed
middlewares: zenoh
topologies: C1-1
workloads: [%s]
"""


def experiments(workload: str, sizes: str = "") -> tuple[Experiment, ...]:
    return expand(parse_suite(SUITE % workload + sizes, file="typed.yaml"), available=["zenoh"])


def test_octets_are_as_if_nothing_was_written() -> None:
    (plain,), (written,) = experiments("imu"), experiments("{workload: imu, payload: octets}")
    assert written == plain
    assert plain.streams[0].payload is None


def test_each_serialisation_is_an_experiment_and_without_one_it_is_the_workers() -> None:
    several = experiments("{workload: camera, payload: image, serialisation: [cdr, protobuf]}")
    assert [experiment.factors["serialisation"] for experiment in several] == ["cdr", "protobuf"]
    (left,) = experiments("{workload: camera, payload: image}")
    assert (left.factors["payload"], left.factors.get("serialisation")) == ("image", None)
    payload = left.streams[0].payload
    assert payload is not None
    assert (payload.kind, payload.serialisation) == ("image", None)


@pytest.mark.parametrize("sizes", ["", "sizes: [1 kB, 2 kB]"])
def test_an_inertial_measurement_has_its_one_size_whatever_others_have(sizes: str) -> None:
    (imu,) = experiments("{workload: imu, payload: imu}", sizes)
    assert imu.streams[0].size_bytes == 380


@pytest.mark.parametrize(
    ("workload", "problem"),
    [
        ("{workload: imu, payload: imu, size: 1 kB}", "the payload imu has one size, 380 B"),
        ("{workload: ping_pong, payload: imu, answer: 64 B}", "the payload imu has one size, 380 B"),
        ("{workload: c, pattern: capacity, payload: imu, rate: 10 Hz}", "none can be searched for"),
        ("{workload: imu, serialisation: cdr}", "octets are not serialised"),
        ("{workload: image_pipeline, payload: image}", "a pipeline workload has no `payload`"),
        ("{workload: imu, payload: text}", "`text`"),
    ],
)
def test_what_a_payload_can_not_be_is_refused(workload: str, problem: str) -> None:
    with pytest.raises(SuiteError) as refused:
        experiments(workload)
    assert problem in str(refused.value)


def test_stored_experiments_of_octets_have_no_new_word() -> None:
    stream = planned("workloads: [{workload: imu}]").experiment.streams[0]
    assert stream.model_dump(mode="json", exclude_none=True).keys().isdisjoint({"payload", "serialisation"})
