"""Which routes there are between hosts, and what measuring one takes; the probe is the real one over the loopback."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.plan.topology.network import Link
from middlemark.suite import Direction
from middlemark.testbed.hosts.host import ALONE, Attachment, LocalHost
from middlemark.testbed.hosts.ssh import Connection, SshHost
from middlemark.testbed.network import probe
from middlemark.testbed.network.probe import DirectionMeasured, Measured
from middlemark.testbed.processes import child, ledger
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.testbed import Route, routes

PLAIN = Link(host="here", network=ALONE.network)


def far(name: str, address: str, *networks: str) -> SshHost:
    attachments = tuple(Attachment(network, address, "eth0") for network in networks)
    return SshHost(name, attachments, cast("Connection", None), {}, "192.0.2.9")


def names(found: Sequence[Route]) -> list[tuple[str, str, str, str | None]]:
    return [(route.host.name, route.to.name, route.address, route.network) for route in found]


def test_every_pair_on_a_network_is_a_route_once() -> None:
    hosts = [far("a", "192.0.2.1", "cable"), far("b", "192.0.2.2", "cable", "air"), far("c", "192.0.2.3", "air")]
    assert names(routes(hosts, [])) == [("a", "b", "192.0.2.2", "cable"), ("b", "c", "192.0.2.3", "air")]


def test_this_machine_has_a_route_to_others_and_none_to_itself() -> None:
    here = LocalHost("here", attachments=(Attachment(ALONE.network, "192.0.2.9", "eth0"),))
    assert names(routes([here, far("a", "192.0.2.1", ALONE.network)], [])) == [("here", "a", "192.0.2.1", None)]
    assert routes([here, LocalHost("beside")], []) == ()


def test_a_route_is_what_the_links_of_both_ends_come_to() -> None:
    hosts = [far("a", "192.0.2.1", "cable"), far("b", "192.0.2.2", "cable")]
    fast, slow = Direction(rate_bits_per_s=10**9, delay_ns=5), Direction(rate_bits_per_s=10**7, loss=0.01)
    links = [
        Link(host="a", network="cable", outgoing=fast, incoming=Direction(loss=0.5)),
        Link(host="b", network="cable", outgoing=Direction(loss=0.5, jitter_ns=2), incoming=slow),
    ]
    (route,) = routes(hosts, links)
    assert route.declared.outgoing == Direction(rate_bits_per_s=10**7, delay_ns=5, loss=0.01)
    assert route.declared.incoming == Direction(jitter_ns=2, loss=0.75)


def sounded(outgoing: float | None, incoming: float | None) -> Measured:
    ways = [DirectionMeasured(rate_bits_per_s=rate) for rate in (outgoing, incoming)]
    return Measured(reachable=True, round_trip=None, outgoing=ways[0], incoming=ways[1])


@pytest.mark.parametrize("rate", [1e5, 1e7, 1e9, 4e10])
def test_a_route_of_any_rate_takes_bounded_time_and_bytes(rate: float) -> None:
    told = probe.train_spec(PLAIN, sounded(rate, rate))
    seconds = told["rate"]["duration_ns"] / 1e9
    assert seconds <= 2
    assert seconds * told["rate"]["offered_bits_per_s"] / 8 <= 2 * probe.RATE_BYTES
    assert told["loss"]["packets"] * told["loss"]["interval_ns"] <= probe.LONGEST_NS
    json.dumps(told)


def test_a_route_is_offered_more_than_its_known_rate_and_nothing_without_one() -> None:
    declared = PLAIN.model_copy(update={"outgoing": Direction(rate_bits_per_s=10**9)})
    assert probe.train_spec(declared, sounded(1e8, 1e8))["rate"]["offered_bits_per_s"] == 1.5e9
    assert probe.train_spec(declared, sounded(4e9, None))["rate"]["offered_bits_per_s"] == 6e9
    assert "rate" not in probe.train_spec(PLAIN, sounded(None, None))


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    try:
        child.executable("probe")
    except EnvironmentNotReady as missing:
        pytest.skip(missing.missing)
    with ledger.opened() as opened:
        yield opened


class Elsewhere(LocalHost):
    """A host on which something else happens than what was to."""

    def __init__(self, *instead: str) -> None:
        super().__init__("elsewhere")
        self.__dict__["instead"] = instead

    def command(self, program: Sequence[str]) -> list[str]:
        del program
        return list(self.__dict__["instead"])


def between(host: LocalHost, to: LocalHost) -> Route:
    return Route(host, to, ALONE.address, None, PLAIN)


def test_round_trip_loss_and_rate_of_a_route_are_measured(entries: Ledger) -> None:
    found = probe.probe_route(between(LocalHost("here"), LocalHost("there")), entries)
    assert found.reachable
    assert found.round_trip is not None
    assert found.round_trip.p50_ns
    for way in (found.outgoing, found.incoming):
        assert way.loss is not None
        assert way.loss.sent > 100
        assert way.rate_bits_per_s
        assert way.rate_bits_per_s > 10**7
        assert way.offered_bits_per_s


def test_where_nothing_comes_through_that_is_found_in_bounded_time(
    entries: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "PATIENCE_NS", 200_000_000)
    silent = Elsewhere("sh", "-c", """echo '{"event": "ready", "address": "127.0.0.1:9"}'; exec cat""")
    assert not probe.probe_route(between(LocalHost("here"), silent), entries).reachable


@pytest.mark.parametrize("who", ["answers", "measures"])
def test_a_host_on_which_the_probe_cannot_run_says_why(who: str, entries: Ledger) -> None:
    broken, whole = Elsewhere("sh", "-c", "echo cannot execute >&2; exit 126"), LocalHost("here")
    route = between(whole, broken) if who == "answers" else between(broken, whole)
    with pytest.raises(EnvironmentNotReady, match="cannot execute"):
        probe.probe_route(route, entries)
