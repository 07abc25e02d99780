"""A trial whose messages were seen elsewhere than its workers state is found out; what can't be proved is not judged."""

from dataclasses import replace

import pytest

from middlemark.plan import Pair
from middlemark.results.counts import MessagePath, PathProof, SocketProtocol
from middlemark.results.record import ServiceConfiguration
from middlemark.suite import Deployment, HostKind
from path_builder import SUITE, Seen, StoredTrial, interface, segment, socket, stored_trial
from shared_runs import SharedRuns

NETWORK, MEMORY = MessagePath.NETWORK, MessagePath.SHARED_MEMORY
SOCKET, PROCESS = MessagePath.LOCAL_SOCKET, MessagePath.PROCESS


@pytest.fixture(scope="module")
def trial(runs: SharedRuns) -> StoredTrial:
    """Of 200 messages of 64 kB for three subscribers."""
    return stored_trial(runs)


@pytest.fixture(scope="module")
def together(runs: SharedRuns) -> StoredTrial:
    """Of both ends in one application."""
    return stored_trial(runs, SUITE.replace("C1-3", "{topology: C1-1, placement: same_process}"))


@pytest.fixture(scope="module")
def apart(runs: SharedRuns) -> StoredTrial:
    """Of two hosts."""
    return stored_trial(runs, SUITE.replace("C1-3", "D1-1"))


@pytest.mark.parametrize(
    ("paths", "sent_bytes", "segments", "expected"),
    [
        ((NETWORK,), 13_000_000, (), ""),
        ((NETWORK,), 1_000_000, (), "the network, but only 1000000 bytes left through interfaces"),
        ((NETWORK,), 1_000_000, ("s",), "the network, but only 1000000 bytes left through interfaces"),
        ((MEMORY,), 1_000_000, ("s",), ""),
        ((MEMORY,), 13_000_000, ("s",), "shared memory, but 13000000 bytes left through lo, enough for the payload"),
        ((MEMORY,), 0, (), "shared memory, but no application had any mapped"),
        ((SOCKET,), 0, (), ""),
        ((SOCKET,), 13_000_000, (), "a local socket, but 13000000 bytes left through lo, enough for the payload"),
        ((NETWORK, MEMORY), 13_000_000, (), ""),
        ((NETWORK, MEMORY), 0, ("s",), ""),
        ((), 13_000_000, (), ""),
    ],
)  # fmt: skip
def test_counters_that_contradict_the_stated_paths_are_told(
    trial: StoredTrial, paths: tuple[MessagePath, ...], sent_bytes: int, segments: tuple[str, ...], expected: str
) -> None:
    only = PathProof(interfaces=(interface(sent_bytes),), shared_memory=segments)
    assert trial.problem(paths, dict.fromkeys(trial.record.path, only)) == expected


@pytest.mark.parametrize(
    ("paths", "seen"),
    [
        ((NETWORK,), Seen(13_000_000)),
        ((NETWORK,), Seen(13_000_000, publisher=(segment("discovery", 0),))),
        ((NETWORK,), Seen(13_000_000, publisher=(segment("pool", 64),))),
        ((SOCKET,), Seen()),
        ((MEMORY,), Seen(publisher=(segment("s", 64),), subscribers=(segment("s", None),))),
        ((MEMORY,), Seen(publisher=(segment("s", None),), subscribers=(segment("s", 3),))),
        ((MEMORY,), Seen(publisher=(segment("s", 0),), subscribers=(segment("s", None),))),
        ((NETWORK, MEMORY), Seen(6_400, (segment("s", 64),), (segment("s", 64),))),
        ((NETWORK, MEMORY), Seen(13_000_000, (segment("s", 0),), (segment("s", 0),))),
        ((MEMORY,), Seen(13_000_000, (segment("s", 64),), (segment("s", 64),), sockets=())),
    ],
)
def test_paths_that_are_seen_as_they_are_stated_contradict_nothing(
    trial: StoredTrial, paths: tuple[MessagePath, ...], seen: Seen
) -> None:
    assert trial.problem(paths, seen.of(trial)) == ""


@pytest.mark.parametrize(
    ("paths", "seen", "expected"),
    [
        (
            (NETWORK,),
            Seen(13_000_000, publisher=(segment("s", 64),), subscribers=(segment("s", None),)),
            "the network, but some lay in shared memory that both ends had mapped: 64 in segment_s",
        ),
        (
            (SOCKET,),
            Seen(sockets=(socket(SocketProtocol.TCP),)),
            "a local socket, but no application had a local socket",
        ),
        (
            (NETWORK,),
            Seen(13_000_000, sockets=(socket(SocketProtocol.LOCAL),)),
            "the network, but no application had a socket of TCP or UDP",
        ),
        ((MEMORY,), Seen(), "shared memory, but no application had any mapped"),
        (
            (MEMORY,),
            Seen(publisher=(segment("s", 64),), subscribers=(segment("t", 0),)),
            "shared memory, but no segment was mapped by both ends of a stream",
        ),
        (
            (NETWORK, MEMORY),
            Seen(13_000_000, publisher=(segment("s", 0),)),
            "the network and shared memory, but no segment was mapped by both ends of a stream",
        ),
        (
            (PROCESS, NETWORK),
            Seen(13_000_000),
            "the network and a call in the process, but no message arrived in the application that sent it",
        ),
    ],
)
def test_each_stated_path_takes_messages_and_no_other_one_does(
    trial: StoredTrial, paths: tuple[MessagePath, ...], seen: Seen, expected: str
) -> None:
    assert trial.problem(paths, seen.of(trial)) == expected


def test_what_stays_within_an_application_is_not_missed_on_interfaces(together: StoredTrial) -> None:
    assert together.problem((PROCESS,), Seen().of(together)) == ""
    assert together.problem((NETWORK, PROCESS), Seen().of(together)) == ""
    only = "the network, but only 0 bytes left through interfaces"
    assert together.problem((NETWORK,), Seen().of(together)) == only


def test_hosts_reach_each_other_by_the_network_whatever_else_is_stated(apart: StoredTrial) -> None:
    lying = (segment("s", 64),)
    assert apart.problem((NETWORK, MEMORY), Seen(13_000_000, lying, lying).of(apart)) == ""
    assert "only 2000000 bytes" in apart.problem((NETWORK, MEMORY), Seen(1_000_000, lying, lying).of(apart))


def test_an_application_that_ended_within_the_window_proves_nothing(trial: StoredTrial) -> None:
    ended = trial.record.model_copy(update={"interrupted": (next(iter(trial.record.path)),)})
    assert replace(trial, record=ended).problem((NETWORK,), Seen(0).of(trial)) == ""


def test_little_or_much_traffic_on_an_interface_may_be_of_other_programs(trial: StoredTrial) -> None:
    publishers = tuple(each.model_copy(update={"sent": 2}) for each in trial.record.counts.publishers)
    counts = trial.record.counts.model_copy(update={"publishers": publishers})
    few = replace(trial, record=trial.record.model_copy(update={"counts": counts}))
    lying = (segment("s", 64),)
    assert few.problem((MEMORY,), Seen(900_000, lying, lying).of(few)) == ""
    assert few.problem((MEMORY,), Seen(1_100_000, lying, lying).of(few)) != ""
    assert trial.problem((MEMORY,), Seen(10 * 3 * 12_800_000, lying, lying).of(trial)) != ""
    assert trial.problem((MEMORY,), Seen(10 * 3 * 12_800_000 + 1, lying, lying).of(trial)) == ""


def test_messages_that_arrived_after_the_window_are_not_missed_on_interfaces(runs: SharedRuns) -> None:
    overloaded = stored_trial(runs, slow_publisher=4.0)
    of_the_window = 50 * 66_000
    assert overloaded.problem((NETWORK,), Seen(of_the_window).of(overloaded)) == ""
    assert overloaded.problem((NETWORK,), Seen(of_the_window // 4).of(overloaded)) != ""


def test_a_segment_of_another_machine_may_have_the_same_identity(apart: StoredTrial) -> None:
    lying = (segment("s", 64),)
    proofs = Seen(13_000_000, lying, lying).of(apart)
    both = "the network, but some lay in shared memory that both ends had mapped: 64 in segment_s"
    assert apart.problem((NETWORK,), proofs) == both
    hosts = apart.record.trial.experiment.hosts
    machines = tuple(host.model_copy(update={"kind": HostKind.SSH, "ssh": host.name}) for host in hosts)
    assert apart.of_experiment(hosts=machines).problem((NETWORK,), proofs) == ""


def test_of_two_middlewares_neither_can_know_what_the_other_shares(trial: StoredTrial) -> None:
    proofs = Seen(13_000_000, publisher=(segment("s", 0),)).of(trial)
    assert trial.problem((NETWORK, MEMORY), proofs) != ""
    pair = Pair(publishers="one", subscribers="other")
    assert trial.of_experiment(pair=pair).problem((NETWORK, MEMORY), proofs) == ""


@pytest.mark.parametrize("ipc", [None, "private", "host"])
def test_containers_with_memory_of_their_own_may_leave_that_path_unused(trial: StoredTrial, ipc: str | None) -> None:
    deployment = Deployment.model_validate({"deployment": "multi_container", "ipc": ipc})
    contained = trial.under(deployment=deployment)
    seen = Seen(13_000_000, publisher=(segment("s", 64),), subscribers=(segment("t", 0),))
    assert (contained.problem((NETWORK, MEMORY), seen.of(trial)) == "") is (ipc != "host")
    assert contained.problem((MEMORY,), replace(seen, left_bytes=0).of(trial)) != ""


@pytest.mark.parametrize("whose", [slice(1), slice(None)], ids=["of one", "of all"])
@pytest.mark.parametrize(
    ("paths", "seen", "unread"),
    [
        ((NETWORK,), Seen(0), "interfaces"),
        ((MEMORY,), Seen(13_000_000), "interfaces"),
        ((MEMORY,), Seen(), "segments"),
        ((MEMORY,), Seen(0, (segment("s", 64),), (segment("t", 0),)), "segments"),
        ((NETWORK,), Seen(13_000_000, (segment("s", 64),), (segment("s", 64),)), "segments"),
        ((SOCKET,), Seen(sockets=()), "sockets"),
        ((NETWORK,), Seen(13_000_000, sockets=()), "sockets"),
    ],
)
def test_what_could_not_be_looked_at_contradicts_nothing(
    trial: StoredTrial, paths: tuple[MessagePath, ...], seen: Seen, unread: str, whose: slice
) -> None:
    proofs = seen.of(trial)
    assert trial.problem(paths, proofs) != ""
    for name in list(proofs)[whose]:
        proofs[name] = proofs[name].model_copy(update={unread: None, "unseen": (f"{unread}: not permitted",)})
    assert trial.problem(paths, proofs) == ""


def test_sockets_may_be_those_of_a_service_that_routes_for_the_applications(trial: StoredTrial) -> None:
    seen = Seen(13_000_000, sockets=(socket(SocketProtocol.LOCAL),)).of(trial)
    routing = {"routing_0": ServiceConfiguration(version="1", settings={})}
    routed = replace(trial, record=trial.record.model_copy(update={"services": routing}))
    assert trial.problem((NETWORK,), seen).endswith("no application had a socket of TCP or UDP")
    assert routed.problem((NETWORK,), seen) == ""
