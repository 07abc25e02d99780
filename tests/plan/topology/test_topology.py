"""A topology and its conditions become hosts, networks, links and faults, each figure in base units."""

import pytest

from middlemark.errors import UsageError
from middlemark.plan import expand
from middlemark.plan.experiment import Experiment
from middlemark.suite import Action, Direction, HostKind, parse_suite

APART = """
topologies:
  topology: apart
  hosts: [{name: far, kind: ssh, ssh: a@192.0.2.1}, {name: farther, kind: ssh, ssh: a@192.0.2.2}]
  networks: [{name: cable, hosts: [far, farther]}]
  applications:
    - {name: publisher_0, host: far, roles: [publisher]}
    - {name: subscriber_0, host: farther, roles: [subscriber]}
"""


def planned(text: str) -> Experiment:
    suite = parse_suite(
        f"suite: x\nmiddlewares: toy\nworkloads: {{workload: imu, rate: 200 Hz}}\n{text}", file="x.yaml"
    )
    (experiment,) = expand(suite, available=["toy"])
    return experiment


def test_a_distributed_topology_has_a_host_and_a_link_for_each_application() -> None:
    experiment = planned("topologies: D3-1")
    assert [host.kind for host in experiment.hosts] == [HostKind.NETNS] * 4
    assert [application.host for application in experiment.applications] == ["host_0", "host_1", "host_2", "host_3"]
    assert [(link.host, link.network, link.is_plain) for link in experiment.links] == [
        (f"host_{index}", "lan", True) for index in range(4)
    ]


def test_what_a_link_does_is_what_network_then_link_then_condition_say() -> None:
    experiment = planned("""
topologies:
  - topology: D1-1
    networks: [{name: lan, hosts: [host_0, host_1], link: {rate: 1 Gbit/s, delay: 1 ms}}]
    links: [{host: host_0, network: lan, delay: 2 ms, outgoing: {loss: 1 %}}]
conditions: {link: {rate: 100 Mbit/s}}
""")
    first, second = experiment.links
    assert first.outgoing == Direction(rate_bits_per_s=100_000_000, delay_ns=2_000_000, loss=0.01)
    assert first.incoming == Direction(rate_bits_per_s=100_000_000, delay_ns=2_000_000)
    assert second.incoming == Direction(rate_bits_per_s=100_000_000, delay_ns=1_000_000)
    assert not first.offloads


def test_a_host_may_have_half_a_core() -> None:
    experiment = planned("topologies: {topology: D1-1, hosts: [{name: host_1, cpu_quota: 50 %, memory: 64 MB}]}")
    assert [(host.cpu_quota, host.memory_bytes) for host in experiment.hosts] == [(None, None), (0.5, 64_000_000)]


def test_a_fault_after_a_count_happens_when_that_message_is_due() -> None:
    experiment = planned("""
topologies: D1-1
conditions:
  faults:
    timeline: cut
    events: [{after: 100, do: link_down, of: [host_0, host_1]}, {at: 100 ms, do: kill, of: publisher_0}]
""")
    assert [(event.at_ns, event.action, event.target) for event in experiment.timeline] == [
        (100_000_000, Action.KILL, "publisher_0"),
        (500_000_000, Action.LINK_DOWN, "host_0"),
        (500_000_000, Action.LINK_DOWN, "host_1"),
    ]
    assert experiment.factors["faults"] == "cut"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("conditions: {link: {delay: 1 ms}}", "no link for the condition"),
        ("conditions: {faults: {timeline: t, events: [{at: 1 s, do: kill, of: publisher_7}]}}", "`publisher_7`"),
        ("conditions: {faults: {timeline: t, events: [{at: 1 s, do: link_down, of: local}]}}", "no such link"),
    ],
)
def test_what_the_topology_does_not_have_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        planned(text)


def factors(text: str) -> dict[str, str]:
    return {name: value for name, value in planned(text).factors.items() if name.startswith(("link", "host", "faults"))}


def test_what_every_link_does_is_one_factor_in_words() -> None:
    assert factors("topologies: {topology: D1-1, link: {rate: 1 Gbit/s, delay: 10 ms, jitter: 1 ms, loss: 1 %}}") == {
        "link": "1 Gbit/s, 10 ms ± 1 ms, loss 1 %"
    }
    assert factors("topologies: D1-1\nconditions: {link: {loss: 0.1 %, outgoing: {rate: 6 Mbit/s}}}") == {
        "link": "loss 0.1 %, outgoing (6 Mbit/s)"
    }


def test_what_single_links_and_hosts_are_like_are_factors_of_their_own() -> None:
    text = """
topologies:
  - topology: brokered-2
    links: [{host: subscriber, network: far, delay: 200 ms}]
    hosts: [{name: broker, cpus: [0], cpu_quota: 50 %, memory: 64 MB}]
"""
    assert factors(text) == {"link.subscriber/far": "200 ms", "host.broker": "CPU 0, 50 % of a CPU, 64 MB"}


def test_a_plain_topology_has_no_such_factor() -> None:
    assert factors("topologies: routed-3") == {}


def test_a_condition_for_both_directions_holds_over_what_differed_in_one() -> None:
    link, _ = planned("""
topologies: {topology: D1-1, link: {outgoing: {delay: 5 ms, loss: 1 %}}}
conditions: {link: {delay: 1 ms, incoming: {delay: 2 ms}}}
""").links
    assert link.outgoing == Direction(delay_ns=1_000_000, loss=0.01)
    assert link.incoming == Direction(delay_ns=2_000_000)


def test_a_timeline_that_ships_is_named() -> None:
    experiment = planned("topologies: D1-2\nconditions: {faults: late_joiner}\nwindows: {window: 4 s}")
    assert [(event.at_ns, event.action, event.target) for event in experiment.timeline] == [
        (1_000_000_000, Action.START, "subscriber_1")
    ]
    assert experiment.factors["faults"] == "late_joiner"


def test_a_fault_after_the_window_is_refused() -> None:
    with pytest.raises(UsageError, match="1 s after the window's start, and the window lasts 1 s"):
        planned("topologies: D1-2\nconditions: {faults: late_joiner}\nwindows: {window: 1 s}")


def test_a_host_that_moves_has_a_link_that_changes_and_says_how() -> None:
    experiment = planned("""
topologies:
  - topology: brokered-2
    links: [{host: publisher, network: near, mobility: {farthest: 400 m, speed: 10 m/s}}]
windows: {window: 80 s}
""")
    moving, *others = experiment.links
    assert experiment.factors["link.publisher/near"] == "802.11n, 400 m and back at 10 m/s"
    assert (moving.outgoing.rate_bits_per_s, moving.outgoing) == (65_000_000, moving.trace[0].outgoing)
    assert {point.outgoing.rate_bits_per_s for point in moving.trace} >= {65_000_000, 26_000_000}
    assert all(link.is_plain for link in others)


def test_a_condition_overrides_a_mobility_and_a_mobility_overrides_fixed_links() -> None:
    moves = "{topology: D1-1, link: {mobility: {distance: 5 m}}}"
    slow, _ = planned(f"topologies: {moves}\nconditions: {{link: {{rate: 1 Mbit/s}}}}").links
    assert (slow.outgoing, slow.mobility) == (Direction(rate_bits_per_s=1_000_000), None)
    fixed = "{topology: D1-1, link: {queue: 9, outgoing: {rate: 1 Mbit/s}}}"
    wireless, _ = planned(f"topologies: {fixed}\nconditions: {{link: {{mobility: {{distance: 5 m}}}}}}").links
    assert (wireless.outgoing.rate_bits_per_s, wireless.outgoing.queue_frames) == (65_000_000, 9)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("queue: 10", "the outgoing direction of the link of `host_0` to `lan` has a `queue` and no `rate`"),
        ("rate: 1 Mbit/s, incoming: {reordering: 1 %}", "the incoming direction .* has a `reordering` and no `delay`"),
        ("outgoing: {rate: 1 Mbit/s}, queue: 10", "the incoming direction .* has a `queue` and no `rate`"),
        ("reordering: 1 %, delay: 0 ms", "has a `reordering` and no `delay`"),
        ("delay: 1 ms, trace: {points: [{at: 0 s}, {at: 1 s, queue: 5}]}", "has a `queue` and no `rate`"),
    ],
)
def test_what_would_do_nothing_to_any_frame_is_refused(link: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        planned(f"topologies: {{topology: D1-1, link: {{{link}}}}}")


def test_what_has_an_effect_once_all_is_said_is_not_refused() -> None:
    first, _ = planned("""
topologies: {topology: D1-1, link: {queue: 10, reordering: 1 %}}
conditions: {link: {rate: 1 Mbit/s, trace: {points: [{at: 0 s}, {at: 1 s, delay: 10 ms}]}}}
""").links
    assert (first.outgoing.queue_frames, first.trace[-1].incoming.reordering) == (10, 0.01)


@pytest.mark.parametrize("way", ["distance: 5 m", "farthest: 400 m, speed: 100 m/s"])
def test_a_property_of_one_direction_holds_beside_a_mobility(way: str) -> None:
    asked = f"mobility: {{{way}}}, queue: 9, outgoing: {{duplication: 10 %}}, incoming: {{queue: 7}}"
    link, _ = planned(f"topologies: {{topology: D1-1, link: {{{asked}}}}}\nwindows: {{window: 8 s}}").links
    points = [(link.outgoing, link.incoming), *((point.outgoing, point.incoming) for point in link.trace)]
    assert {(outgoing.duplication, incoming.duplication) for outgoing, incoming in points} == {(0.1, 0)}
    assert {(outgoing.queue_frames, incoming.queue_frames) for outgoing, incoming in points} == {(9, 7)}
    assert all(outgoing.rate_bits_per_s == incoming.rate_bits_per_s for outgoing, incoming in points)


@pytest.mark.parametrize("fault", ["do: pause, of: publisher_0", "do: kill, of: publisher_0", "do: link_down, of: far"])
def test_what_only_reaches_processes_and_links_of_this_machine_is_refused_on_another(fault: str) -> None:
    with pytest.raises(UsageError, match="which is on another machine"):
        planned(APART + f"conditions: {{faults: {{timeline: t, events: [{{at: 100 ms, {fault}}}]}}}}")


def test_an_application_on_another_machine_can_be_started_again() -> None:
    faults = "conditions: {faults: {timeline: t, events: [{at: 100 ms, do: restart, of: publisher_0}]}}"
    assert [event.target for event in planned(APART + faults).timeline] == ["publisher_0"]


def test_what_another_machines_link_is_may_be_declared() -> None:
    experiment = planned(APART.replace("farther]}]", "farther], link: {rate: 1 Gbit/s, incoming: {delay: 1 ms}}}]"))
    for link in experiment.links:
        assert link.outgoing == Direction(rate_bits_per_s=10**9)
        assert link.incoming == Direction(rate_bits_per_s=10**9, delay_ns=1_000_000)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("mtu: 9 kB", "`mtu` can't be requested of the link of `far` to `cable`, which is ssh"),
        ("duplication: 1 %", "`duplication`"),
    ],
)
def test_what_cannot_be_measured_of_another_machines_link_is_refused(link: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        planned(APART.replace("farther]}]", f"farther], link: {{{link}}}}}]"))


def test_another_machines_link_cannot_be_changed_by_a_condition() -> None:
    with pytest.raises(UsageError, match="it is not a link of a netns host"):
        planned(APART + "conditions: {link: {rate: 1 Mbit/s}}\n")
