"""A capture holds every datagram that was sent, once for each link that it passed, cut as it was asked for; what a level of
security promises of the wire is seen in it, by one marker that is found in plain frames and not in encrypted ones.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, Observation, Security, parse_suite
from middlemark.testbed.processes.child import executable
from middlemark.worker import executables

SNAP_BYTES = 96
DATAGRAM_BYTES = 100
FRAME_BYTES = DATAGRAM_BYTES + 14 + 20 + 8
SUITE = f"""
suite: captured
trials: 1
middlewares: udp
observe: capture
capture: {{snap: {SNAP_BYTES} B}}
topologies: D1-1
workloads: {{workload: imu, rate: 500 Hz, size: {DATAGRAM_BYTES} B}}
windows: {{first_message: 20 s, warm_up: 100 ms, window: 500 ms, drain: 300 ms}}
disturbance: {{steal: 100 %}}
"""
ENHANCED_PACKET = 6


def is_built() -> bool:
    try:
        executable("capture")
    except EnvironmentNotReady:
        return False
    return {"tcp", "udp"} <= executables.workers().keys()


pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif(not is_built(), reason="a worker or middlemark-capture is not built"),
]


def packets(file: Path) -> Iterator[tuple[int, int, int]]:
    """Interface, kept and real length of every packet (draft-ietf-opsawg-pcapng, section 4.3)."""
    content = file.read_bytes()
    place = 0
    while place < len(content):
        kind, block_bytes = struct.unpack_from("<II", content, place)
        if kind == ENHANCED_PACKET:
            interface, _, _, kept_bytes, real_bytes = struct.unpack_from("<IIIII", content, place + 8)
            yield interface, kept_bytes, real_bytes
        place += block_bytes


def test_every_datagram_is_in_the_file_once_for_each_of_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    suite = LoadedSuite(file="captured.yaml", text=SUITE, suite=parse_suite(SUITE, file="captured.yaml"))
    run_new(tmp_path / "run", order.order_suite(suite, [], None))
    folders = {each.read_record().trial.observation: each for each in RunFolder(tmp_path / "run").stored_trials()}
    record = folders[Observation.CAPTURE].read_record()
    assert record.outcome == Valid(), record.outcome
    assert record.capture is not None, record.unavailable
    assert not folders[None].capture_path.exists()
    found = list(packets(folders[Observation.CAPTURE].capture_path))
    datagrams = [(interface, kept) for interface, kept, real in found if real == FRAME_BYTES]
    assert {kept for _, kept in datagrams} == {SNAP_BYTES}
    by_link = [sum(interface == number for interface, _ in datagrams) for number in range(len(record.capture.links))]
    assert by_link[0] == by_link[1] >= record.counts.publishers[0].sent
    for number, link in enumerate(record.capture.links):
        assert link.captured == sum(interface == number for interface, *_ in found)
        assert (link.beyond, link.lost) == (0, 0)


SECURED = """
suite: secured
trials: 1
middlewares: tcp
conditions: [{security: none}, {security: encrypted}]
observe: capture
topologies: D1-1
workloads: {workload: imu, rate: 200 Hz, size: 2 kB}
windows: {first_message: 20 s, warm_up: 100 ms, window: 500 ms, drain: 300 ms}
disturbance: {steal: 100 %}
"""
ENCRYPTING = ("tcp", "cyclonedds", "fastdds", "mqtt", "zenoh")
# Its layers one by one, and the outermost alone.
PROTECTED = SECURED.replace("[{security: none}, {security: encrypted}]", "{security: encrypted}").replace(
    "middlewares: tcp", "middlewares: {middleware: cyclonedds, options: {protection: [every_layer, rtps]}}"
)
Records = dict[tuple[Security, Observation | None], TrialRecord]


def recorded(folder: Path, text: str) -> list[TrialRecord]:
    suite = LoadedSuite(file="secured.yaml", text=text, suite=parse_suite(text, file="secured.yaml"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        run_new(folder / "run", order.order_suite(suite, [], None))
    return [each.read_record() for each in RunFolder(folder / "run").stored_trials()]


@pytest.fixture(scope="module")
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Records:
    """Of the middleware that a test names."""
    if request.param not in executables.workers():
        pytest.skip(f"no worker of {request.param} is built")
    text = SECURED.replace("middlewares: tcp", f"middlewares: {request.param}")
    read = recorded(tmp_path_factory.mktemp(f"secured_{request.param}"), text)
    return {(record.trial.experiment.conditions.security, record.trial.observation): record for record in read}


@pytest.mark.parametrize("records", ENCRYPTING, indirect=True)
def test_the_marker_is_in_plain_frames_and_not_in_encrypted_ones(records: Records) -> None:
    plain, encrypted = (records[level, Observation.CAPTURE] for level in (Security.NONE, Security.ENCRYPTED))
    for record in (plain, encrypted):
        assert record.outcome == Valid(), record.outcome
        assert record.capture is not None, record.unavailable
        assert sum(link.captured for link in record.capture.links) > 2 * record.counts.publishers[0].sent
    assert plain.capture is not None
    assert encrypted.capture is not None
    # At both links each; a header that TCP has cut in two is missed.
    assert (plain.capture.readable_headers or 0) >= plain.counts.publishers[0].sent
    assert encrypted.capture.readable_headers == 0


@pytest.mark.skipif("cyclonedds" not in executables.workers(), reason="no worker of DDS Security is built")
def test_no_layer_of_dds_security_is_needed_beside_the_outermost_to_hide_messages(tmp_path: Path) -> None:
    captured = [record for record in recorded(tmp_path, PROTECTED) if record.capture is not None]
    protected = {record.trial.experiment.options["protection"]: record for record in captured}
    assert protected.keys() == {"every_layer", "rtps"}
    for record in protected.values():
        assert record.outcome == Valid(), record.outcome
        assert record.capture is not None
        assert record.capture.readable_headers == 0


@pytest.mark.parametrize("records", ["tcp"], indirect=True)
def test_the_handshake_is_told_apart_where_there_is_one(records: Records) -> None:
    (plain,), (encrypted,) = (records[level, None].matched for level in (Security.NONE, Security.ENCRYPTED))
    assert plain.handshake_ns is None
    assert encrypted.handshake_ns is not None
    assert 0 < encrypted.handshake_ns < encrypted.after_ns
