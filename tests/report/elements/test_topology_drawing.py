"""A topology's drawing shows every host, application, network and link once, and no two of them meet."""

from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from middlemark.report.elements.topology_drawing import laid_out, svg
from middlemark.report.elements.topology_text import drawn
from middlemark.suite import Application, Host, Network, Role, Topology, load_topologies
from middlemark.suite.topology.link import LinkSettings

HOSTS = ["a", "b", "c", "d", "e"]


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    hosts = HOSTS[: draw(st.integers(2, len(HOSTS)))]
    some = st.lists(st.sampled_from(hosts), min_size=2, unique=True)
    further = draw(st.lists(some, max_size=3))
    ends = ((hosts[0], Role.PUBLISHER), (hosts[-1], Role.SUBSCRIBER))
    return Topology(
        name="any",
        hosts=tuple(Host(name=name) for name in hosts),
        networks=tuple(
            Network(name=f"network_{number}", hosts=tuple(on)) for number, on in enumerate([hosts, *further])
        ),
        applications=tuple(Application(name=f"at_{host}", host=host, roles=(role,)) for host, role in ends),
    )


@given(topologies())
def test_every_link_is_drawn_once_and_lines_of_one_lane_never_meet(topology: Topology) -> None:
    drawing = laid_out(topology)
    ports = [port for box in drawing.boxes for port in box.ports]
    drawn_links = {(box.name, port.network) for box in drawing.boxes for port in box.ports}
    assert drawn_links == set(topology.links_under())
    assert len({port.row for port in ports}) == len(ports)
    for one, other in combinations(drawing.lines, 2):
        assert one.lane != other.lane or one.last < other.first or other.last < one.first
    for box in drawing.boxes:
        assert all(box.row < port.row <= box.row + box.rows for port in box.ports)


def test_the_terminal_shows_boxes_lines_limits_and_figures() -> None:
    (topology,) = load_topologies("brokered-2")
    slow = {"delay": "200 ms", "loss": "1 %"}
    far = Network(name="far", hosts=("broker", "subscriber"), link=LinkSettings.model_validate(slow))
    broker = Host.model_validate({"name": "broker", "cpu_quota": "50 %"})
    changed = topology.model_copy(
        update={
            "networks": (topology.networks[0], far),
            "hosts": (topology.hosts[0], broker, topology.hosts[2]),
        }
    )
    assert drawn(changed).plain == snapshot("""\
brokered-2  the broker or router joins two networks, the publisher's and the subscriber's
┌─ publisher ──────────┐
│ netns                │
│ publisher_0          ├──────────────────────● near
└──────────────────────┘                      │
┌─ broker ─────────────┐                      │
│ netns, 50 % of a CPU ├──────────────────────●
│ service              ├── 200 ms, loss 1 % ──● far
└──────────────────────┘                      │
┌─ subscriber ─────────┐                      │
│ netns                │                      │
│ subscriber_0         ├── 200 ms, loss 1 % ──●
└──────────────────────┘\
""")


def test_lines_that_cross_are_told_from_lines_that_meet() -> None:
    ring = Topology(
        name="ring",
        hosts=tuple(Host(name=name) for name in "abc"),
        networks=(
            Network(name="one", hosts=("a", "c")),
            Network(name="two", hosts=("a", "b")),
            Network(name="three", hosts=("b", "c")),
        ),
        applications=(
            Application(name="both", host="a", roles=(Role.PUBLISHER, Role.SUBSCRIBER)),
            Application(name="subscriber_0", host="c", roles=(Role.SUBSCRIBER,)),
        ),
    )
    assert drawn(ring).plain == snapshot("""\
ring
┌─ a ─────────────────────────┐
│ netns                       ├────● one
│ both: publisher, subscriber ├────┼──────● two
└─────────────────────────────┘    │      │
┌─ b ─────────────────────────┐    │      │
│ netns                       ├────┼──────●
│                             ├────┼──────● three
└─────────────────────────────┘    │      │
┌─ c ─────────────────────────┐    │      │
│ netns                       ├────●      │
│ subscriber_0                ├───────────●
└─────────────────────────────┘\
""")


@pytest.mark.parametrize("name", ["C1-1", "D2-2", "routed-3"])
def test_the_svg_is_whole_needs_nothing_beside_itself_and_names_everything(name: str) -> None:
    (topology,) = load_topologies(name)
    text = svg(topology)
    root = ET.fromstring(text)  # noqa: S314 - drawn here
    shown = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    for part in (*topology.hosts, *topology.networks, *topology.applications):
        assert part.name in shown
    assert text.count('class="junction"') == len(topology.links_under())
    assert "href" not in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text


def test_what_a_user_wrote_is_no_markup() -> None:
    (topology,) = load_topologies("C1-1")
    assert "<b>" not in svg(topology.model_copy(update={"summary": "<b>bold</b> & more"}))
