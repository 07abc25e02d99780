"""A mistake in a condition, a fault, a use of a shipped topology, or what changes a link is told with what is allowed."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.suite import parse_suite

HEAD = "suite: mine\nmiddlewares: all\nworkloads: [imu]\n"
FAULTS = HEAD + "conditions:\n  faults:\n    timeline: mine\n    events:\n"


def told(text: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(text, file="mine.yaml")
    return str(raised.value)


IN_CONDITIONS = {
    "a host that a shipped topology does not have": (
        HEAD + "topologies:\n  - topology: D1-1\n    hosts:\n      - {name: host_2, cpu_quota: 50 %}\n",
        snapshot("""\
mine.yaml:7:9: `D1-1` has no host `host_2`
  - {name: host_2, cpu_quota: 50 %}
allowed: host_0, host_1\
"""),
    ),
    "a placement of a distributed topology": (
        HEAD + "topologies: [{topology: D1-1, placement: same_process}]\n",
        snapshot("""\
mine.yaml:4:31: only applications on this machine can be one
  topologies: [{topology: D1-1, placement: same_process}]
allowed: C1-1, C2-2, …\
"""),
    ),
    "observed trials of nothing": (
        HEAD + "observed_trials: 2\n",
        snapshot("""\
mine.yaml:4:1: `observed_trials` says how often something is observed, and nothing is
  observed_trials: 2
allowed: an observation in `observe`\
"""),
    ),
    "a fault without a time": (
        FAULTS + "      - {do: kill, of: publisher_0}\n",
        snapshot("""\
mine.yaml:8:9: a fault has either `at`, a time, or `after`, a number of messages
  - {do: kill, of: publisher_0}
allowed: `at: 2 s` or `after: 100`\
"""),
    ),
    "a fault at two times": (
        FAULTS + "      - {at: 1 s, after: 3, do: kill, of: publisher_0}\n",
        snapshot("""\
mine.yaml:8:9: a fault has either `at`, a time, or `after`, a number of messages
  - {at: 1 s, after: 3, do: kill, of: publisher_0}
allowed: `at: 2 s` or `after: 100`\
"""),
    ),
    "a fault of a wrong kind": (
        FAULTS + "      - {at: 1 s, do: kil, of: publisher_0}\n",
        snapshot("""\
mine.yaml:8:19: `kil` is not an allowed word
  - {at: 1 s, do: kil, of: publisher_0}
allowed: did you mean `kill`? (stop, kill, restart, pause, resume, start, link_down, link_up, partition, heal)\
"""),
    ),
    "a fault of nothing": (
        FAULTS + "      - {at: 1 s, do: kill}\n",
        snapshot("""\
mine.yaml:8:9: `of` is missing
  - {at: 1 s, do: kill}
allowed: `of: …`\
"""),
    ),
    "a timeline that does not ship": (
        HEAD + "conditions:\n  - {faults: rejoins}\n",
        snapshot("""\
mine.yaml:5:6: `rejoins` is no shipped timeline, and no `events` are given
  - {faults: rejoins}
allowed: did you mean `rejoin`? (late_joiner, rejoin, publisher_rejoin, broker_restart, router_restart, routing_manager_restart, pause, publisher_pause, link_outage, partition)\
"""),
    ),
    "a mode of containers on bare metal": (
        HEAD + "conditions: {deployment: {deployment: bare_metal, ipc: host}}\n",
        snapshot("""\
mine.yaml:4:51: `bare_metal` has no `ipc`
  conditions: {deployment: {deployment: bare_metal, ipc: host}}
allowed: single_container, multi_container\
"""),
    ),
    "a container on a bridge": (
        HEAD + "conditions: {deployment: {deployment: multi_container, network: bridge}}\n",
        snapshot("""\
mine.yaml:4:56: `bridge` is a property of hosts, not of containers: containers use the network of their host
  conditions: {deployment: {deployment: multi_container, network: bridge}}
allowed: host, none; for an address of its own behind a bridge: `host`, on a host of `kind: netns`\
"""),
    ),
    "a load without a unit": (
        HEAD + "conditions: {cpu_load: {level: 50, hosts: publishers}}\n",
        snapshot("""\
mine.yaml:4:25: `50` has no unit
  conditions: {cpu_load: {level: 50, hosts: publishers}}
allowed: a share, such as `2 %` (units: %), 0 % to 100 %\
"""),
    ),
    "loaded hosts of no role": (
        HEAD + "conditions: {cpu_load: {level: 50 %, hosts: senders}}\n",
        snapshot("""\
mine.yaml:4:38: `senders` is not an allowed word
  conditions: {cpu_load: {level: 50 %, hosts: senders}}
allowed: all, publishers, subscribers\
"""),
    ),
    "a level of security that there is not": (
        HEAD + "conditions: {security: signed}\n",
        snapshot("""\
mine.yaml:4:14: `signed` is not an allowed word
  conditions: {security: signed}
allowed: none, authenticated, encrypted\
"""),
    ),
}


@pytest.mark.parametrize(("text", "said"), IN_CONDITIONS.values(), ids=IN_CONDITIONS)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(text: str, said: str) -> None:
    assert told(text) == said


def told_of_link(link: str) -> str:
    return told(HEAD + f"conditions:\n  link: {link}\n")


IN_LINKS = {
    "a host that stands and moves": (
        "{mobility: {distance: 5 m, speed: 10 m/s}}",
        snapshot("""\
mine.yaml:5:10: a host is either at a fixed distance or moves
  link: {mobility: {distance: 5 m, speed: 10 m/s}}
allowed: `distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`\
"""),
    ),
    "a way without a speed": (
        "{mobility: {farthest: 400 m}}",
        snapshot("""\
mine.yaml:5:10: a host is either at a fixed distance or moves
  link: {mobility: {farthest: 400 m}}
allowed: `distance: 5 m`, or `farthest: 400 m` with `speed: 10 m/s`\
"""),
    ),
    "a way that leads nowhere": (
        "{mobility: {farthest: 50 m, nearest: 50 m, speed: 1 m/s}}",
        snapshot("""\
mine.yaml:5:10: `farthest` is not more than `nearest`
  link: {mobility: {farthest: 50 m, nearest: 50 m, speed: 1 m/s}}
allowed: more than 50 m\
"""),
    ),
    "an exponent of a ramp": (
        "{mobility: {farthest: 50 m, speed: 1 m/s, path_loss: ramp, exponent: 3}}",
        snapshot("""\
mine.yaml:5:68: `ramp` has no `exponent`
  link: {mobility: {farthest: 50 m, speed: 1 m/s, path_loss: ramp, exponent: 3}}
allowed: ramp\
"""),
    ),
    "a rate beside a mobility": (
        "{rate: 1 Gbit/s, mobility: {distance: 5 m}}",
        snapshot("""\
mine.yaml:5:10: `mobility` sets `rate` itself
  link: {rate: 1 Gbit/s, mobility: {distance: 5 m}}
allowed: beside it: queue, duplication, reordering, corruption, mtu, offloads\
"""),
    ),
    "a speed in another unit": (
        "{mobility: {farthest: 50 m, speed: 1 km}}",
        snapshot("""\
mine.yaml:5:37: `km` is not a unit of a speed
  link: {mobility: {farthest: 50 m, speed: 1 km}}
allowed: a speed, such as `10 m/s` (units: m/s), 0.01 m/s to 1000 m/s\
"""),
    ),
    "points of a trace in the wrong order": (
        "{trace: {points: [{at: 1 s}, {at: 1 s}]}}",
        snapshot("""\
mine.yaml:5:38: a point is not later than the one before it
  link: {trace: {points: [{at: 1 s}, {at: 1 s}]}}
allowed: growing `at`\
"""),
    ),
    "a trace of nothing": (
        "{trace: {points: []}}",
        snapshot("""\
mine.yaml:5:10: a trace is either a file or a list of points
  link: {trace: {points: []}}
allowed: `trace: walk.csv`, or `points: […]`\
"""),
    ),
}


@pytest.mark.parametrize(("link", "said"), IN_LINKS.values(), ids=IN_LINKS)
def test_so_is_one_in_what_changes_a_link_over_time(link: str, said: str) -> None:
    assert told_of_link(link) == said
