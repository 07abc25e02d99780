"""A mistake inside a topology or one of its links is told with its place and what is allowed."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.suite import parse_suite

HEAD = "suite: mine\nmiddlewares: all\nworkloads: [imu]\n"
TOPOLOGY = (
    HEAD
    + """\
topologies:
  - topology: mine
    hosts: [a, b]
    networks:
      - {name: lan, hosts: [a, b]}
    applications:
      - {name: p, host: a, roles: [publisher]}
      - {name: s, host: b, roles: [subscriber]}
"""
)


def told_with(right: str, wrong: str) -> str:
    assert TOPOLOGY.count(right) == 1
    with pytest.raises(SuiteError) as raised:
        parse_suite(TOPOLOGY.replace(right, wrong), file="mine.yaml")
    return str(raised.value)


def test_the_topology_without_a_mistake_is_read() -> None:
    assert parse_suite(TOPOLOGY, file="mine.yaml").topologies[0].topology == "mine"


IN_TOPOLOGIES = {
    "a network with a host that is not there": (
        "[a, b]}",
        "[a, c]}",
        snapshot("""\
mine.yaml:8:32: the topology has no `c`
  - {name: lan, hosts: [a, c]}
allowed: a, b\
"""),
    ),
    "a host that is on a network twice": (
        "[a, b]}",
        "[a, a]}",
        snapshot("""\
mine.yaml:8:32: `a` is on `lan` twice
  - {name: lan, hosts: [a, a]}
allowed: each host once\
"""),
    ),
    "a host on no network": (
        "[a, b]}",
        "[a]}",
        snapshot("""\
mine.yaml:6:16: `b` is on no network
  hosts: [a, b]
allowed: a network with it\
"""),
    ),
    "a host that stands there twice": (
        "[a, b]\n",
        "[a, a]\n",
        snapshot("""\
mine.yaml:6:16: `a` is given twice
  hosts: [a, a]
allowed: a name of its own\
"""),
    ),
    "a network that would join this machine": (
        "hosts: [a, b]\n",
        "hosts: [a, {name: b, kind: local}]\n",
        snapshot("""\
mine.yaml:8:32: `lan` can't join `b`, which is local
  - {name: lan, hosts: [a, b]}
allowed: hosts that are all netns, or all ssh\
"""),
    ),
    "a host behind ssh without where": (
        "hosts: [a, b]\n",
        "hosts: [a, {name: b, kind: ssh}]\n",
        snapshot("""\
mine.yaml:6:26: `kind: ssh` and `ssh: user@address` go together
  hosts: [a, {name: b, kind: ssh}]
allowed: local, netns, ssh\
"""),
    ),
    "a target that would be an option of the SSH client": (
        "hosts: [a, b]\n",
        'hosts: [a, {name: b, kind: ssh, ssh: "-oProxyCommand=id"}]\n',
        snapshot("""\
mine.yaml:6:37: `-oProxyCommand=id` is not allowed here
  hosts: [a, {name: b, kind: ssh, ssh: "-oProxyCommand=id"}]
allowed: a name that matches ^[A-Za-z0-9_\\[][A-Za-z0-9_.:@%\\[\\]+-]{0,254}$\
"""),
    ),
    "a quota without a unit": (
        "hosts: [a, b]\n",
        "hosts: [a, {name: b, cpu_quota: 50}]\n",
        snapshot("""\
mine.yaml:6:26: `50` has no unit
  hosts: [a, {name: b, cpu_quota: 50}]
allowed: a share, such as `2 %` (units: %), 1 % to 100000 %\
"""),
    ),
    "an application on a host that is not there": (
        "host: b, roles",
        "host: x, roles",
        snapshot("""\
mine.yaml:11:19: the topology has no `x`
  - {name: s, host: x, roles: [subscriber]}
allowed: a, b\
"""),
    ),
    "a topology without a subscriber": (
        "[subscriber]",
        "[publisher]",
        snapshot("""\
mine.yaml:9:5: no application is a subscriber
  applications:
allowed: at least one of each role\
"""),
    ),
    "an application without a role": (
        "[subscriber]",
        "[]",
        snapshot("""\
mine.yaml:11:28: an empty list is not allowed here
  - {name: s, host: b, roles: []}
allowed: at least one entry\
"""),
    ),
    "a wrong role": (
        "[subscriber]",
        "[reader]",
        snapshot("""\
mine.yaml:11:36: `reader` is not an allowed word
  - {name: s, host: b, roles: [reader]}
allowed: publisher, subscriber\
"""),
    ),
    "a service on a host that is not there": (
        "    networks:",
        "    services: [c]\n    networks:",
        snapshot("""\
mine.yaml:7:16: the topology has no `c`
  services: [c]
allowed: a, b\
"""),
    ),
    "a link to a network that is not there": (
        "    networks:",
        "    links: [{host: a, network: wan, delay: 1 ms}]\n    networks:",
        snapshot("""\
mine.yaml:7:23: the topology has no `wan`
  links: [{host: a, network: wan, delay: 1 ms}]
allowed: lan\
"""),
    ),
    "a bit rate without its second": (
        "[a, b]}",
        "[a, b], link: {rate: 1 Gbit}}",
        snapshot("""\
mine.yaml:8:43: `Gbit` is not a unit of a bit rate
  - {name: lan, hosts: [a, b], link: {rate: 1 Gbit}}
allowed: a bit rate, such as `1 Gbit/s` (units: bit/s, kbit/s, Mbit/s, Gbit/s), 1 kbit/s to 1000 Gbit/s\
"""),
    ),
    "a loss of more than everything": (
        "[a, b]}",
        "[a, b], link: {loss: 101 %}}",
        snapshot("""\
mine.yaml:8:43: `101 %` is out of bounds
  - {name: lan, hosts: [a, b], link: {loss: 101 %}}
allowed: a share, such as `2 %` (units: %), 0 % to 100 %\
"""),
    ),
    "an unknown key of a link": (
        "[a, b]}",
        "[a, b], link: {latency: 1 ms}}",
        snapshot("""\
mine.yaml:8:43: unknown key `latency`
  - {name: lan, hosts: [a, b], link: {latency: 1 ms}}
allowed: rate, queue, delay, jitter, loss, duplication, reordering, corruption, mtu, offloads, outgoing, incoming, trace, mobility\
"""),
    ),
    "an unknown key of one direction": (
        "[a, b]}",
        "[a, b], link: {outgoing: {mtu: 1500 B}}}",
        snapshot("""\
mine.yaml:8:54: unknown key `mtu`
  - {name: lan, hosts: [a, b], link: {outgoing: {mtu: 1500 B}}}
allowed: rate, queue, delay, jitter, loss, duplication, reordering, corruption\
"""),
    ),
}


@pytest.mark.parametrize(("right", "wrong", "said"), IN_TOPOLOGIES.values(), ids=IN_TOPOLOGIES)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(right: str, wrong: str, said: str) -> None:
    assert told_with(right, wrong) == said
