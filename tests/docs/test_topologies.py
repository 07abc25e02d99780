"""What the pages on topologies, suites, faults and mobility say of what ships is true."""

import re

import pytest

from middlemark.plan.topology.wifi import MODULATIONS, channel, received_dbm
from middlemark.report.elements.topology_text import drawn
from middlemark.suite import Mobility, load_topologies, shipped_suite_names
from middlemark.suite.load import shipped_timelines, shipped_topologies
from pages import ROOT, blocks, text


@pytest.mark.parametrize("name", ["D1-1", "routed-3"])
def test_a_drawing_that_is_shown_is_what_is_drawn(name: str) -> None:
    (topology,) = load_topologies(name)
    assert f"{drawn(topology).plain}\n" in blocks(ROOT / "docs/guide/hosts/topologies.md", "text")


def test_every_topology_that_ships_is_told_of() -> None:
    assert all(f"`{name}`" in text("guide/hosts/topologies") for name in shipped_topologies())


def test_every_suite_that_ships_is_told_of() -> None:
    assert all(f"| `{name}` |" in text("guide/suites") for name in shipped_suite_names())


def test_every_timeline_that_ships_is_told_of() -> None:
    table = re.findall(r"^\| (`.*?) \|", text("guide/faults"), re.MULTILINE)
    assert set(shipped_timelines()) <= {name for cell in table for name in re.findall(r"`(\w+)`", cell)}


def test_each_modulation_ends_where_the_table_says() -> None:
    way = Mobility.model_validate({"distance": "1 m"})
    for rate, sensitivity_dbm in MODULATIONS:
        (row,) = re.findall(
            rf"\| {rate / 1e6:g} Mbit/s \| −{-sensitivity_dbm:g} dBm \| (.*) \|", text("guide/mobility")
        )
        if row.endswith(" m"):
            farthest = float(row.removesuffix(" m"))
            assert channel(received_dbm(way, farthest)).rate_bits_per_s == rate
            assert channel(received_dbm(way, farthest + 1)).rate_bits_per_s < rate
