"""A chain's latency is drawn and told in its parts, with deadline misses, what did not pass, and the start-up."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.elements.chart import Chart
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.elements.tables import Table
from middlemark.report.internals.chain_charts import chains_overview
from middlemark.report.internals.chains import ChainShown, chain_shown
from middlemark.report.output.figures import tables
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from run_builder import build_run

SUITE = """
suite: driving
trials: 3
middlewares: all
topologies: C1-1
conditions: {conditions}
workloads:
  - workload: drive
    pattern: pipeline
    qos: {{reliability: reliable}}
    windows: {{window: 2 s}}
    nodes:
      - {{node: camera, rate: 100 Hz, compute: 1 ms, outputs: [{{stream: image, size: 100 kB}}]}}
      - {{node: detect, inputs: [image], compute: 2 ms, outputs: [{{stream: objects, size: 4 kB}}]}}
      - {{node: plan, rate: 50 Hz, inputs: [objects], compute: 3 ms, outputs: [{{stream: command, size: 1 kB}}]}}
      - {{node: actuate, inputs: [command]}}
    chains:
      - {{chain: camera_to_actuator, path: [camera, detect, plan, actuate], deadline: 100 ms}}
      - {{chain: detection, path: [camera, detect, plan], deadline: 2 ms}}
"""
Findings = tuple[RunFindings, dict[str, Series]]


def run(path: Path, conditions: str) -> Findings:
    quick, slow = Behaviour(latency_ns=100_000, title="Quick"), Behaviour(latency_ns=1_000_000, title="Slow")
    findings = analyse(build_run(path, SUITE.format(conditions=conditions), {"quick": quick, "slow": slow}))
    return findings, series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return run(tmp_path_factory.mktemp("driven") / "run", "{cpus: spread}")


def shown(driven: Findings, chain: int = 0) -> ChainShown:
    findings, who = driven
    found = chain_shown(findings.comparisons[chain], who)
    assert found is not None
    return found


def by_name(table: Table) -> list[dict[str, str]]:
    return [dict(zip(table.headings, row, strict=True)) for row in table.lines]


def drawn_rows(chart: Chart) -> list[dict[str, Any]]:
    """The steps of a chart's bars."""
    return next(rows for rows in chart.spec["datasets"].values() if "order" in rows[0])


def test_the_split_is_told_with_the_share_of_each_part(driven: Findings) -> None:
    quick, *_ = by_name(shown(driven).split)
    assert (quick["middleware"], quick["path"]) == ("Quick", "typical")
    assert quick["computation, ms"].startswith("6.00")
    parts = ("communication, ms", "idle, ms", "computation, ms")
    assert sum(int(quick[part].split(", ")[-1].removesuffix(" %")) for part in parts) in {99, 100, 101}


def test_the_bar_has_every_step_in_the_order_of_the_way(driven: Findings) -> None:
    way, shares = shown(driven).charts
    rows = drawn_rows(way)
    quick = [(row["node"], row["part"]) for row in rows if row["series"] == "Quick"]
    assert quick == [
        ("camera", "computation"),
        ("detect", "communication"),
        ("detect", "computation"),
        ("plan", "communication"),
        ("plan", "idle"),
        ("plan", "computation"),
        ("actuate", "communication"),
    ]
    assert sum(row["share"] for row in rows if row["series"] == "Quick") == pytest.approx(1, abs=0.02)
    assert {row["node"] for row in drawn_rows(shares)} == {"all"}


def test_nodes_are_told_one_by_one(driven: Findings) -> None:
    places, nodes = by_name(shown(driven).tables[0]), by_name(shown(driven).tables[-1])
    plan = next(row for row in places if (row["middleware"], row["node"]) == ("Quick", "plan"))
    assert plan["computation, µs"] == "3\u202f000"
    assert plan["passed over, %"].startswith("50")
    assert [row["start-up, ms"] for row in nodes if row["middleware"] == "Quick"] == ["50.0", "100", "150", "200"]


@pytest.mark.parametrize(("chain", "share"), [(0, "0"), (1, "100")])
def test_deadline_misses_have_count_and_interval(driven: Findings, chain: int, share: str) -> None:
    row, *_ = by_name(shown(driven, chain).fates)
    count, of = row["missed"].split(" of ")
    assert int(count) == (0 if share == "0" else int(of))
    assert row["missed, %"].split(" ")[0] == share
    assert "–" in row["missed, %"]  # none of so many is not none
    assert row["start-up, ms"] == "200"


def test_settings_of_one_chain_are_drawn_beside_each_other(tmp_path: Path) -> None:
    findings, who = run(tmp_path, "[{cpus: spread}, {cpus: spread, keep_awake: true}]")
    one, other = chains_overview(findings.comparisons, who)
    assert one.title.startswith("drive, camera to actuator")
    assert other.title.startswith("drive, detection")
    assert {row["series"] for row in drawn_rows(one)} == {
        "Quick, keep awake",
        "Quick, not keep awake",
        "Slow, keep awake",
        "Slow, not keep awake",
    }


def test_one_setting_of_a_chain_needs_no_overview(driven: Findings) -> None:
    findings, who = driven
    assert chains_overview(findings.comparisons, who) == []


def test_page_and_terminal_tell_of_the_chain(driven: Findings) -> None:
    page = render(driven[0])
    assert "camera → detect → plan → actuate" in page
    assert "Quick has the lowest end-to-end latency of camera to actuator" in page
    console = Console(record=True, width=80, file=StringIO())
    print_summary(driven[0], console)
    said = console.export_text()
    assert "fates of paths" in said
    assert all(f"{name} " in said.split("fates of paths", 1)[1] for name in ("Quick", "Slow"))
    assert "median end to end" in said


def test_an_exported_ranking_names_the_units_of_its_columns(driven: Findings) -> None:
    rankings = [table for _, table in tables(*driven) if table.title.startswith("Ranking")]
    assert rankings
    assert {table.headings[2:4] for table in rankings} == {("median end to end, ms", "99 %, ms")}


def test_every_table_of_a_chain_is_exported(driven: Findings) -> None:
    way = shown(driven)
    titles = {table.title for _, table in tables(*driven)}
    assert {way.split.title, way.fates.title, *(table.title for table in way.tables if table.lines)} <= titles
