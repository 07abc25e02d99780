"""A suite's hosts in namespaces become the machines of an inventory, in the suite's own text."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError, UsageError
from middlemark.plan import expand
from middlemark.suite import (
    HostKind,
    Inventory,
    LoadedSuite,
    Machine,
    load_inventory,
    load_suite,
    parse_suite,
    shipped_topologies,
    suite_on_machines,
)
from middlemark.suite.papers import Extent, load_paper, shipped_paper_names

HEAD = "suite: mine\nmiddlewares: [udp]\nworkloads: [imu]\n"
TWO = Inventory(machines=(Machine(ssh="a@192.0.2.1"), Machine(ssh="b@192.0.2.2", address="198.51.100.2")))


def suite(topologies: str) -> LoadedSuite:
    text = HEAD + topologies
    return LoadedSuite(file="mine.yaml", text=text, suite=parse_suite(text, file="mine.yaml"))


def placed(topologies: str, inventory: Inventory = TWO) -> LoadedSuite:
    loaded, left_out = suite_on_machines(suite(topologies), inventory)
    assert left_out == {}
    return loaded


def test_hosts_are_machines_in_their_order_and_keep_no_limits() -> None:
    written = "topologies: # as in the paper\n  - {topology: D1-1, link: {rate: 1 Gbit/s}, hosts: [{name: host_1, memory: 64 MB}]}\n"
    loaded = placed(written)
    (topology,) = (choice.over(shipped_topologies()) for choice in loaded.suite.topologies)
    assert [(host.kind, host.ssh, host.address, host.memory) for host in topology.hosts] == [
        (HostKind.SSH, "a@192.0.2.1", None, None),
        (HostKind.SSH, "b@192.0.2.2", "198.51.100.2", None),
    ]
    (experiment,) = expand(loaded.suite, available=["udp"])
    assert experiment.factors["link"] == "1 Gbit/s"
    assert "# as in the paper" in loaded.text


def test_a_suite_without_networks_is_as_it_was() -> None:
    assert placed("topologies: [C1-1]\n").text == suite("topologies: [C1-1]\n").text
    assert placed("").text == HEAD


def test_what_needs_more_machines_is_left_out_with_the_reason() -> None:
    loaded, left_out = suite_on_machines(suite("topologies: [C1-1, D1-1, D1-3]\n"), TWO)
    assert [choice.topology for choice in loaded.suite.topologies] == ["C1-1", "D1-1"]
    assert left_out == {"D1-3": "it has 4 hosts, and the inventory has 2 machines"}
    with pytest.raises(UsageError, match="D1-3: it has 4 hosts, and the inventory has 2 machines"):
        suite_on_machines(suite("topologies: D1-3\n"), TWO)


def test_a_machine_may_always_be_the_same_host() -> None:
    car, box = Machine(ssh="car", hosts=("subscriber", "host_1")), Machine(ssh="box")
    three = Inventory(machines=(car, box, Machine(ssh="cloud", hosts=("broker",))))
    (topology,) = (c.over(shipped_topologies()) for c in placed("topologies: brokered-1\n", three).suite.topologies)
    assert {host.name: host.ssh for host in topology.hosts} == {
        "publisher": "box",
        "broker": "cloud",
        "subscriber": "car",
    }
    twice = Inventory(machines=(Machine(ssh="car", hosts=("host_0", "host_1")), box))
    with pytest.raises(UsageError, match="D1-1"):
        suite_on_machines(suite("topologies: D1-1\n"), twice)


def test_a_standing_host_stands_there_and_other_properties_stay_declared() -> None:
    standing = "{host: host_0, network: lan, mobility: {distance: 5 m}}"
    slow = "{host: host_1, network: lan, delay: 2 ms}"
    (choice,) = placed(f"topologies: {{topology: D1-1, links: [{standing}, {slow}]}}\n").suite.topologies
    assert [(link.mobility, link.delay) for link in choice.links or ()] == [(None, None), (None, 2_000_000)]


@pytest.mark.parametrize("extent", list(Extent))
@pytest.mark.parametrize("paper", shipped_paper_names())
def test_every_suite_of_every_paper_can_be_placed(paper: str, extent: Extent) -> None:
    loaded = load_paper(paper)
    many = Inventory(machines=tuple(Machine(ssh=f"machine-{number}") for number in range(8)))
    for each in loaded.paper.suites:
        on_machines, left_out = suite_on_machines(loaded.suite(each.suite, extent), many)
        assert left_out == {}
        topologies = [choice.over(shipped_topologies()) for choice in on_machines.suite.topologies]
        assert not any(host.kind is HostKind.NETNS for topology in topologies for host in topology.hosts)


def test_every_shipped_suite_that_is_placed_is_read_again() -> None:
    placed_automotive, _ = suite_on_machines(load_suite("automotive"), TWO)
    assert parse_suite(placed_automotive.text, file="automotive.yaml") == placed_automotive.suite


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "machines:\n  - {ssh: -oProxyCommand=x}\n",
            snapshot("""\
hosts.yaml:2:6: `-oProxyCommand=x` is not allowed here
  - {ssh: -oProxyCommand=x}
allowed: a name that matches ^[A-Za-z0-9_\\[][A-Za-z0-9_.:@%\\[\\]+-]{0,254}$\
"""),
        ),
        (
            "machines:\n  - {shh: car}\n",
            snapshot("""\
hosts.yaml:2:6: unknown key `shh`
  - {shh: car}
allowed: did you mean `ssh`? (ssh, address, hosts)\
"""),
        ),
        (
            "",
            snapshot("""\
hosts.yaml:1:1: the file is empty
allowed: `machines`, a list with `ssh: user@address` each\
"""),
        ),
        (
            "machines: [{ssh: car}, {ssh: box}, {ssh: car}]\n",
            snapshot("""\
hosts.yaml:1:37: `car` is given twice
  machines: [{ssh: car}, {ssh: box}, {ssh: car}]
allowed: each machine once\
"""),
        ),
        (
            "machines: [{ssh: car, hosts: [a]}, {ssh: box, hosts: [a]}]\n",
            snapshot("""\
hosts.yaml:1:23: `a` is two machines
  machines: [{ssh: car, hosts: [a]}, {ssh: box, hosts: [a]}]
allowed: each host on one machine\
"""),
        ),
        (
            "machines: []\n",
            snapshot("""\
hosts.yaml:1:1: an empty list is not allowed here
  machines: []
allowed: at least one entry\
"""),
        ),
    ],
    ids=["an option of the client", "a wrong key", "nothing", "one machine twice", "one host twice", "no machine"],
)
def test_a_mistake_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hosts.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError) as raised:
        load_inventory("hosts.yaml")
    assert str(raised.value) == told
