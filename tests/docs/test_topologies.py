"""What the pages on suites, topologies and mobility show is true: their suites expand, their drawings are drawn so."""

import re
from pathlib import Path

import pytest

from middlemark.plan import expand
from middlemark.plan.mobility import MODULATIONS, channel, received_dbm
from middlemark.report.topology_text import drawn
from middlemark.suite import Mobility, load_topologies, parse_suite, shipped_suite_names

DOCS = Path(__file__).resolve().parents[2] / "docs"
BUILT = ["cyclonedds", "fastdds", "mqtt", "udp", "zenoh"]


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["suites", "topologies", "mobility"])
def test_every_suite_that_is_shown_expands(page: str) -> None:
    shown = blocks(page, "yaml")
    assert shown
    for example in shown:
        assert expand(parse_suite(example, file=f"{page}.md"), available=BUILT)


@pytest.mark.parametrize("name", ["D1-1", "routed-3"])
def test_a_drawing_that_is_shown_is_what_is_drawn(name: str) -> None:
    (topology,) = load_topologies(name)
    assert f"{drawn(topology).plain}\n" in blocks("topologies", "text")


def test_every_suite_that_ships_is_told_of() -> None:
    text = (DOCS / "suites.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in shipped_suite_names())


def test_each_modulation_ends_where_the_table_says() -> None:
    text = (DOCS / "mobility.md").read_text(encoding="utf-8")
    way = Mobility.model_validate({"distance": "1 m"})
    for rate, sensitivity_dbm in MODULATIONS:
        (row,) = re.findall(rf"\| {rate / 1e6:g} Mbit/s \| −{-sensitivity_dbm:g} dBm \| (.*) \|", text)
        if row.endswith(" m"):
            farthest = float(row.removesuffix(" m"))
            assert channel(received_dbm(way, farthest)).rate_bits_per_s == rate
            assert channel(received_dbm(way, farthest + 1)).rate_bits_per_s < rate
