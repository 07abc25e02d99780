"""Where the time of real messages goes: each middleware's path is found, and what is known of it is in the right part."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import polars as pl
import pytest

from middlemark.analysis.kernel.breakdown import SampledPaths, ends_of, messages_of, sample_paths
from middlemark.analysis.kernel.segments import PathPart, PathSide
from middlemark.analysis.kernel.trace import KernelTrace
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.testbed import observers
from middlemark.worker import executables

# By the call that hands a message over, where a wake-up of the receiver takes the place of packets on one host.
WITHOUT_PACKETS = {"uds": "sendto", "shm": "futex", "iceoryx2": "sendto", "vsomeip": "sendmsg"}
BETWEEN_HOSTS = ["udp", "tcp", "zenoh", "cyclonedds", "fastdds", "mqtt"]
MS = 1_000_000
REST_NS = 1 * MS
# Two clock readings, a header of 40 bytes and a copy, some 65 ns in a loop; after a pause the same code is no longer in
# the CPU's caches. The kernel's way to the interface suffers the same in the same trial, so that it is the measure.
HARNESS_TO_KERNEL = 0.5
# A middleware with its own runtime takes several times as long there; how many depends on the CPU and its caches.
HARNESS_TO_ZENOH = 0.5

pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may observe the kernel"),
    pytest.mark.filterwarnings("default:.* measured once more"),
]

SUITE = """
suite: observed
trials: 1
observe: kernel_path
windows: {first_message: 20 s, warm_up: 50 ms, window: 500 ms, drain: 2 s}
disturbance: {steal: 100 %}
"""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if missing := observers.kernel_path_missing():
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("kernel_path")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield folder


@dataclass(frozen=True)
class Ways:
    """What a middleware's trial tells."""

    messages: pl.DataFrame
    paths: SampledPaths
    calls: Mapping[tuple[PathSide, str], float]
    """How many system calls of each name a message takes on each side."""

    def to_one_at_rest(self) -> pl.DataFrame:
        """The messages whose receiver had the one before long enough to sleep again: on a busy machine not all."""
        since_ns = pl.col("sent_ns") - pl.col("received_ns").shift(1)
        return self.messages.sort("sent_ns").filter(since_ns > REST_NS)


@pytest.fixture(scope="module", params=["C1-1", "D1-1"])
def ways(request: pytest.FixtureRequest, state: Path) -> Callable[[str], Ways]:
    """Of a middleware: measured when a test first asks, so that what goes wrong is of no other middleware's tests."""
    topology = request.param

    @cache
    def of(middleware: str) -> Ways:
        if middleware not in executables.workers() or (middleware in WITHOUT_PACKETS and topology != "C1-1"):
            pytest.skip("it is not built, or measured on one host only")
        (trial,) = observed(
            state / f"{topology}-{middleware}",
            f"""
middlewares: [{middleware}]
topologies: [{topology}]
workloads: [{{workload: imu, rate: 200 Hz}}]
""",
        )
        return all_of(trial)

    return of


def all_of(trial: TrialFolder) -> Ways:
    record, found = trial.read_record(), ways_of(trial)
    names = record.kernel_path.calls if record.kernel_path else {}
    calls = {(side, names[number]): count for (side, number), count in found.calls.items()}
    return Ways(messages_of(trial.read_received(), 0, record.trial.experiment.streams[0]), found, calls)


def observed(folder: Path, asked: str) -> list[TrialFolder]:
    """The observed trials of a suite; once more where events were lost, as a busy machine loses some, and so no result."""
    trials = measured(folder, asked)
    if lost := sum(recording.lost for trial in trials if (recording := trial.read_record().kernel_path)):
        warnings.warn(f"{lost} events were lost in {folder.name}, which is measured once more", stacklevel=1)
        trials = measured(folder, asked)
    return trials


def measured(folder: Path, asked: str) -> list[TrialFolder]:
    suite = LoadedSuite(
        file="observed.yaml", text=SUITE + asked, suite=parse_suite(SUITE + asked, file="observed.yaml")
    )
    run = Path(mkdtemp(prefix=f"{folder.name}-", dir=folder.parent), "run")
    run_new(run, order.order_suite(suite, [], None))
    return [each for each in RunFolder(run).stored_trials() if each.read_record().trial.observation]


def ways_of(trial: TrialFolder) -> SampledPaths:
    record = trial.read_record()
    assert record.kernel_path, record.outcome
    assert (record.kernel_path.lost, record.unavailable) == (0, {})
    events = trial.read_kernel_events()
    assert len(events) == record.kernel_path.events
    stream = record.trial.experiment.streams[0]
    trace = KernelTrace(events, record.kernel_path.forwarders)
    found = sample_paths(
        trace,
        messages_of(trial.read_received(), 0, stream),
        ends_of(record.trial.experiment, record.kernel_path, stream),
        500,
    )
    for row in found.parts.iter_rows(named=True):
        assert sum(row[f"{part}_ns"] for part in PathPart) == row["whole_ns"]
        assert min(row[f"{part}_ns"] for part in PathPart) >= 0
    return found


def aside_share(found: SampledPaths) -> float:
    aside = sum(found.set_aside.values())
    return aside / (aside + len(found.parts))


def median_ns(found: SampledPaths, *parts: PathPart) -> float:
    return float(found.parts.select(pl.sum_horizontal(f"{part}_ns" for part in parts).median()).item())


@pytest.mark.parametrize("middleware", [*BETWEEN_HOSTS, *WITHOUT_PACKETS])
def test_the_way_of_nearly_every_message_is_found(middleware: str, ways: Callable[[str], Ways]) -> None:
    told = ways(middleware)
    found = told.paths
    if middleware in {"udp", "tcp"}:
        assert aside_share(found) <= 0.02
    # A receiver of memory or of a local socket that is awake already is woken for none.
    sought = told.to_one_at_rest()
    assert len(sought.join(found.parts, on="sequence", how="anti")) <= 0.1 * len(sought)
    assert len(found.parts) >= 10
    assert found.parts["hops"].min() == (2 if middleware == "mqtt" else 1)


@pytest.mark.parametrize(("middleware", "call"), WITHOUT_PACKETS.items())
def test_without_packets_a_wake_up_hands_the_message_over(
    middleware: str, call: str, ways: Callable[[str], Ways]
) -> None:
    told = ways(middleware)
    parts = told.paths.parts
    assert parts["packets"].max() == 0
    assert parts["first_queued_ns"].null_count() == parts["last_arrived_ns"].null_count() == len(parts)
    assert sum(parts[f"{part}_ns"].max() for part in (PathPart.QUEUE, PathPart.WIRE, PathPart.KERNEL_DELIVERY)) == 0
    assert parts["wake_ups"].min() >= 1
    assert median_ns(told.paths, PathPart.KERNEL_SENDER) > 0
    assert median_ns(told.paths, PathPart.SCHEDULER) > 0
    assert told.calls[PathSide.SENDER, call] >= 1


def test_raw_datagrams_spend_in_the_middleware_what_the_harness_does(ways: Callable[[str], Ways]) -> None:
    told = ways("udp")
    udp = told.paths
    assert udp.parts["packets"].median() == 1
    assert told.calls[PathSide.SENDER, "sendto"] >= 1
    assert told.calls[PathSide.RECEIVER, "recvfrom"] >= 1
    own_ns = median_ns(udp, PathPart.MIDDLEWARE_SENDER)
    assert own_ns < HARNESS_TO_KERNEL * median_ns(udp, PathPart.KERNEL_SENDER)
    if "zenoh" in executables.workers():
        assert own_ns < HARNESS_TO_ZENOH * median_ns(ways("zenoh").paths, PathPart.MIDDLEWARE_SENDER)


def test_what_a_link_delays_is_the_wire(state: Path) -> None:
    """Through relays where the kernel has no netem; datagrams of several fragments, and a stream."""
    trials = observed(
        state / "delayed",
        """
middlewares: [udp, tcp]
topologies: {topology: D1-1, link: {delay: 20 ms}}
workloads: [{workload: imu, rate: 50 Hz, size: 4 kB}]
""",
    )
    assert len(trials) == 2
    for found in map(ways_of, trials):
        assert aside_share(found) <= 0.02
        assert found.parts["wire_ns"].min() >= 2 * 20 * MS  # each host has such a link
        # TCP may hold a message's end back until its start is acknowledged: that is the sender's kernel.
        rest = [part for part in PathPart if part is not PathPart.KERNEL_SENDER]
        assert median_ns(found, PathPart.WIRE) > 0.8 * median_ns(found, *rest)
        assert found.parts["packets"].min() >= 2


def test_a_programmed_delay_is_the_receiver_s(state: Path) -> None:
    """It sleeps or spins there: in the kernel, or outside of it."""
    delays_ms = (5, 15)
    options = ", ".join(
        f"{{middleware: synthetic, options: {{delay_ns: {delay_ms * MS}, release_spin_ns: {spin_ns}}}}}"
        for delay_ms in delays_ms
        for spin_ns in (0, 100 * MS)
    )
    trials = observed(
        state / "programmed",
        f"""
middlewares: [{options}]
topologies: [C1-1]
workloads: [{{workload: imu, rate: 20 Hz}}]
""",
    )
    found: dict[tuple[int, int], SampledPaths] = {}
    for trial in trials:
        asked = dict(trial.read_record().trial.experiment.options)
        found[int(asked["delay_ns"]), int(asked["release_spin_ns"])] = ways_of(trial)
    assert len(found) == 4
    for (delay_ns, spin_ns), told in found.items():
        assert aside_share(told) <= 0.5
        where = PathPart.MIDDLEWARE_RECEIVER if spin_ns else PathPart.KERNEL_RECEIVER
        assert median_ns(told, where) > 0.6 * delay_ns
        others = [part for part in PathPart if part not in {PathPart.MIDDLEWARE_RECEIVER, PathPart.KERNEL_RECEIVER}]
        assert median_ns(told, *others) < 0.4 * delay_ns


@pytest.mark.skipif(shutil.which("podman") is None, reason="needs podman: apt-get install podman runc crun")
def test_several_applications_in_containers_are_told_apart(state: Path) -> None:
    (trial,) = observed(
        state / "containers",
        """
middlewares: [udp]
topologies: [D2-2]
conditions: [{deployment: multi_container}]
workloads: [{workload: imu, rate: 100 Hz}]
""",
    )
    found = ways_of(trial)
    assert aside_share(found) <= 0.02
    assert found.parts.select("publisher", "subscriber").unique().height == 4
    assert found.parts["packets"].max() == 1
