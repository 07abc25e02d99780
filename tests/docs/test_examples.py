"""Every suite and every topology that a page shows is true: it loads, expands, and can be drawn."""

from pathlib import Path

import pytest

from middlemark.plan import expand, experiments_of
from middlemark.report.elements.topology_text import drawn
from middlemark.suite import load_inventory, load_topologies, parse_demand, parse_suite
from pages import PAGES, blocks, name

BUILT = ["cyclonedds", "fastdds", "mqtt", "udp", "zenoh"]
EXAMPLES = [pytest.param(each, id=f"{name(page)}-{n}") for page in PAGES for n, each in enumerate(blocks(page, "yaml"))]


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_shown_in_yaml_expands_or_can_be_drawn(example: str, tmp_path: Path) -> None:
    if example.startswith("application:"):
        assert experiments_of(parse_demand(example, file="example.yaml"), dict.fromkeys(BUILT, ("default",)))
        return
    if "suite:" in example:
        assert expand(parse_suite(example, file="example.yaml"), available=BUILT)
        return
    (tmp_path / "example.yaml").write_text(example, encoding="utf-8")
    if "machines:" in example:
        assert load_inventory(str(tmp_path / "example.yaml"))
        return
    for topology in load_topologies(str(tmp_path / "example.yaml")):
        assert topology.name in drawn(topology).plain
