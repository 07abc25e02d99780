"""A mistake inside a topology, a link, a fault or another condition is told with its place and what is allowed."""

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
FAULTS = HEAD + "conditions:\n  faults:\n    timeline: mine\n    events:\n"


def told(text: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(text, file="mine.yaml")
    return str(raised.value)


def told_with(right: str, wrong: str) -> str:
    assert TOPOLOGY.count(right) == 1
    return told(TOPOLOGY.replace(right, wrong))


def test_the_topology_without_a_mistake_is_read() -> None:
    assert parse_suite(TOPOLOGY, file="mine.yaml").topologies[0].topology == "mine"


def test_a_network_with_a_host_that_is_not_there() -> None:
    assert told_with("[a, b]}", "[a, c]}") == snapshot("""\
mine.yaml:8:32: the topology has no `c`
  - {name: lan, hosts: [a, c]}
allowed: a, b\
""")


def test_a_host_that_is_on_a_network_twice() -> None:
    assert told_with("[a, b]}", "[a, a]}") == snapshot("""\
mine.yaml:8:32: `a` is on `lan` twice
  - {name: lan, hosts: [a, a]}
allowed: each host once\
""")


def test_a_host_on_no_network() -> None:
    assert told_with("[a, b]}", "[a]}") == snapshot("""\
mine.yaml:6:16: `b` is on no network
  hosts: [a, b]
allowed: a network with it\
""")


def test_a_host_that_stands_there_twice() -> None:
    assert told_with("[a, b]\n", "[a, a]\n") == snapshot("""\
mine.yaml:6:16: `a` stands here twice
  hosts: [a, a]
allowed: a name of its own\
""")


def test_a_network_that_would_join_this_machine() -> None:
    assert told_with("hosts: [a, b]\n", "hosts: [a, {name: b, kind: local}]\n") == snapshot("""\
mine.yaml:8:32: `lan` can't join `b`, which is local
  - {name: lan, hosts: [a, b]}
allowed: hosts that are all netns, or all ssh\
""")


def test_a_host_behind_ssh_without_where() -> None:
    assert told_with("hosts: [a, b]\n", "hosts: [a, {name: b, kind: ssh}]\n") == snapshot("""\
mine.yaml:6:26: `kind: ssh` and `ssh: user@address` go together
  hosts: [a, {name: b, kind: ssh}]
allowed: local, netns, ssh\
""")


def test_a_quota_without_a_unit() -> None:
    assert told_with("hosts: [a, b]\n", "hosts: [a, {name: b, cpu_quota: 50}]\n") == snapshot("""\
mine.yaml:6:26: `50` has no unit
  hosts: [a, {name: b, cpu_quota: 50}]
allowed: a share as `2 %` (units: %), 1 % to 100000 %\
""")


def test_an_application_on_a_host_that_is_not_there() -> None:
    assert told_with("host: b, roles", "host: x, roles") == snapshot("""\
mine.yaml:11:19: the topology has no `x`
  - {name: s, host: x, roles: [subscriber]}
allowed: a, b\
""")


def test_a_topology_without_a_subscriber() -> None:
    assert told_with("[subscriber]", "[publisher]") == snapshot("""\
mine.yaml:9:5: no application is a subscriber
  applications:
allowed: at least one of each role\
""")


def test_an_application_without_a_role() -> None:
    assert told_with("[subscriber]", "[]") == snapshot("""\
mine.yaml:11:28: an empty list can't stand here
  - {name: s, host: b, roles: []}
allowed: at least one entry\
""")


def test_a_wrong_role() -> None:
    assert told_with("[subscriber]", "[reader]") == snapshot("""\
mine.yaml:11:36: `reader` is none of the words
  - {name: s, host: b, roles: [reader]}
allowed: publisher, subscriber\
""")


def test_a_service_on_a_host_that_is_not_there() -> None:
    assert told_with("    networks:", "    services: [c]\n    networks:") == snapshot("""\
mine.yaml:7:16: the topology has no `c`
  services: [c]
allowed: a, b\
""")


def test_a_link_to_a_network_that_is_not_there() -> None:
    assert told_with("    networks:", "    links: [{host: a, network: wan, delay: 1 ms}]\n    networks:") == snapshot("""\
mine.yaml:7:23: the topology has no `wan`
  links: [{host: a, network: wan, delay: 1 ms}]
allowed: lan\
""")


def test_a_bit_rate_without_its_second() -> None:
    assert told_with("[a, b]}", "[a, b], link: {rate: 1 Gbit}}") == snapshot("""\
mine.yaml:8:43: `Gbit` is no unit of a bit rate
  - {name: lan, hosts: [a, b], link: {rate: 1 Gbit}}
allowed: a bit rate as `1 Gbit/s` (units: bit/s, kbit/s, Mbit/s, Gbit/s), 1 kbit/s to 1000 Gbit/s\
""")


def test_a_loss_of_more_than_everything() -> None:
    assert told_with("[a, b]}", "[a, b], link: {loss: 101 %}}") == snapshot("""\
mine.yaml:8:43: `101 %` is out of bounds
  - {name: lan, hosts: [a, b], link: {loss: 101 %}}
allowed: a share as `2 %` (units: %), 0 % to 100 %\
""")


def test_an_unknown_key_of_a_link() -> None:
    assert told_with("[a, b]}", "[a, b], link: {latency: 1 ms}}") == snapshot("""\
mine.yaml:8:43: unknown key `latency`
  - {name: lan, hosts: [a, b], link: {latency: 1 ms}}
allowed: rate, queue, delay, jitter, loss, duplication, reordering, corruption, mtu, offloads, outgoing, incoming, trace, mobility\
""")


def test_an_unknown_key_of_one_direction() -> None:
    assert told_with("[a, b]}", "[a, b], link: {outgoing: {mtu: 1500 B}}}") == snapshot("""\
mine.yaml:8:54: unknown key `mtu`
  - {name: lan, hosts: [a, b], link: {outgoing: {mtu: 1500 B}}}
allowed: rate, queue, delay, jitter, loss, duplication, reordering, corruption\
""")


def test_a_host_that_a_shipped_topology_does_not_have() -> None:
    assert told(
        HEAD + "topologies:\n  - topology: D1-1\n    hosts:\n      - {name: host_2, cpu_quota: 50 %}\n"
    ) == snapshot("""\
mine.yaml:7:9: `D1-1` has no host `host_2`
  - {name: host_2, cpu_quota: 50 %}
allowed: host_0, host_1\
""")


def test_a_placement_of_a_distributed_topology() -> None:
    assert told(HEAD + "topologies: [{topology: D1-1, placement: same_process}]\n") == snapshot("""\
mine.yaml:4:31: only applications on this machine can be one
  topologies: [{topology: D1-1, placement: same_process}]
allowed: C1-1, C2-2, …\
""")


def test_a_fault_without_a_time() -> None:
    assert told(FAULTS + "      - {do: kill, of: publisher_0}\n") == snapshot("""\
mine.yaml:8:9: a fault happens either at a time or after a count
  - {do: kill, of: publisher_0}
allowed: `at: 2 s` or `after: 100`\
""")


def test_a_fault_at_two_times() -> None:
    assert told(FAULTS + "      - {at: 1 s, after: 3, do: kill, of: publisher_0}\n") == snapshot("""\
mine.yaml:8:9: a fault happens either at a time or after a count
  - {at: 1 s, after: 3, do: kill, of: publisher_0}
allowed: `at: 2 s` or `after: 100`\
""")


def test_a_fault_of_a_wrong_kind() -> None:
    assert told(FAULTS + "      - {at: 1 s, do: kil, of: publisher_0}\n") == snapshot("""\
mine.yaml:8:19: `kil` is none of the words
  - {at: 1 s, do: kil, of: publisher_0}
allowed: did you mean `kill`? (stop, kill, restart, pause, resume, start, link_down, link_up, partition, heal)\
""")


def test_a_fault_of_nothing() -> None:
    assert told(FAULTS + "      - {at: 1 s, do: kill}\n") == snapshot("""\
mine.yaml:8:9: `of` is missing
  - {at: 1 s, do: kill}
allowed: `of: …`\
""")


def test_a_timeline_that_does_not_ship() -> None:
    assert told(HEAD + "conditions:\n  - {faults: rejoins}\n") == snapshot("""\
mine.yaml:5:6: `rejoins` is no shipped timeline, and no `events` are given
  - {faults: rejoins}
allowed: did you mean `rejoin`? (late_joiner, rejoin, publisher_rejoin, broker_restart, router_restart, routing_manager_restart, pause, publisher_pause, link_outage, partition)\
""")


def test_a_mode_of_containers_on_bare_metal() -> None:
    assert told(HEAD + "conditions: {deployment: {deployment: bare_metal, ipc: host}}\n") == snapshot("""\
mine.yaml:4:51: `bare_metal` has no `ipc`
  conditions: {deployment: {deployment: bare_metal, ipc: host}}
allowed: single_container, multi_container\
""")


def test_a_container_on_a_bridge() -> None:
    assert told(HEAD + "conditions: {deployment: {deployment: multi_container, network: bridge}}\n") == snapshot("""\
mine.yaml:4:56: a container has no `bridge` of its own: a host has, and its containers have the host's network
  conditions: {deployment: {deployment: multi_container, network: bridge}}
allowed: host, none; an address of its own behind a bridge: `host`, on a host of `kind: netns`\
""")


def test_a_load_without_a_unit() -> None:
    assert told(HEAD + "conditions: {cpu_load: {level: 50, hosts: publishers}}\n") == snapshot("""\
mine.yaml:4:25: `50` has no unit
  conditions: {cpu_load: {level: 50, hosts: publishers}}
allowed: a share as `2 %` (units: %), 0 % to 100 %\
""")


def test_loaded_hosts_of_no_role() -> None:
    assert told(HEAD + "conditions: {cpu_load: {level: 50 %, hosts: senders}}\n") == snapshot("""\
mine.yaml:4:38: `senders` is none of the words
  conditions: {cpu_load: {level: 50 %, hosts: senders}}
allowed: all, publishers, subscribers\
""")


def told_of_link(link: str) -> str:
    return told(HEAD + f"conditions:\n  link: {link}\n")


def test_a_host_that_stands_and_moves() -> None:
    assert told_of_link("{mobility: {distance: 5 m, speed: 10 m/s}}") == snapshot("""\
mine.yaml:5:10: a host either stands at a distance or moves
  link: {mobility: {distance: 5 m, speed: 10 m/s}}
allowed: `distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`\
""")


def test_a_way_without_a_speed() -> None:
    assert told_of_link("{mobility: {farthest: 400 m}}") == snapshot("""\
mine.yaml:5:10: a host either stands at a distance or moves
  link: {mobility: {farthest: 400 m}}
allowed: `distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`\
""")


def test_a_way_that_leads_nowhere() -> None:
    assert told_of_link("{mobility: {farthest: 50 m, nearest: 50 m, speed: 1 m/s}}") == snapshot("""\
mine.yaml:5:10: the farthest place is not beyond the nearest
  link: {mobility: {farthest: 50 m, nearest: 50 m, speed: 1 m/s}}
allowed: more than 50 m\
""")


def test_an_exponent_of_a_ramp() -> None:
    assert told_of_link("{mobility: {farthest: 50 m, speed: 1 m/s, path_loss: ramp, exponent: 3}}") == snapshot("""\
mine.yaml:5:68: `ramp` has no `exponent`
  link: {mobility: {farthest: 50 m, speed: 1 m/s, path_loss: ramp, exponent: 3}}
allowed: ramp\
""")


def test_a_rate_beside_a_mobility() -> None:
    assert told_of_link("{rate: 1 Gbit/s, mobility: {distance: 5 m}}") == snapshot("""\
mine.yaml:5:10: `mobility` decides on `rate`
  link: {rate: 1 Gbit/s, mobility: {distance: 5 m}}
allowed: beside it: queue, duplication, reordering, corruption, mtu, offloads\
""")


def test_a_speed_in_another_unit() -> None:
    assert told_of_link("{mobility: {farthest: 50 m, speed: 1 km}}") == snapshot("""\
mine.yaml:5:37: `km` is no unit of a speed
  link: {mobility: {farthest: 50 m, speed: 1 km}}
allowed: a speed as `10 m/s` (units: m/s), 0.01 m/s to 1000 m/s\
""")


def test_points_of_a_trace_in_the_wrong_order() -> None:
    assert told_of_link("{trace: {points: [{at: 1 s}, {at: 1 s}]}}") == snapshot("""\
mine.yaml:5:38: a point is not after the one before it
  link: {trace: {points: [{at: 1 s}, {at: 1 s}]}}
allowed: growing `at`\
""")


def test_a_trace_of_nothing() -> None:
    assert told_of_link("{trace: {points: []}}") == snapshot("""\
mine.yaml:5:10: a trace is either a file or its points
  link: {trace: {points: []}}
allowed: `trace: walk.csv`, or `points: […]`\
""")
