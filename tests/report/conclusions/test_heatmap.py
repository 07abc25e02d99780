"""With many settings, a map of all figures comes before the sections."""

import re
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import MissingPath, NoCommunication, NotApplicable
from middlemark.report.conclusions.heatmap import HeatMap, heat_maps, heat_table
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import CROWDED, render
from middlemark.suite import Delivery
from shared_runs import SharedRuns

SUITE = """
suite: wide
trials: 1
middlewares: all
workloads: [{workload: imu, size: [1 kB, 2 kB], windows: {window: 300 ms}}]
qos: [{reliability: best_effort}, {reliability: reliable}]
topologies: [C1-1, C2-2, C1-3, {topology: D1-1, link: {rate: 1 Gbit/s}}]
"""
BEHAVIOURS = {
    "fast": Behaviour(latency_ns=20_000),
    "slow": Behaviour(latency_ns=200_000),
    "losing": Behaviour(latency_ns=30_000, loss=0.2),
    "unable": Behaviour(outcome=NotApplicable(capability="size_bytes", reason="too large by far")),
    "silent": Behaviour(outcome=NoCommunication(missing=(MissingPath(stream="imu", publisher=0, subscriber=0),))),
}


@pytest.fixture(scope="module")
def page(runs: SharedRuns) -> str:
    return render(runs.findings(SUITE, {"fast": BEHAVIOURS["fast"]}))


def maps(findings: RunFindings) -> list[HeatMap]:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    return heat_maps(findings.comparisons, [str(n) for n in range(len(findings.comparisons))], who)


def test_a_map_for_each_load_has_middlewares_down_and_topologies_across(runs: SharedRuns) -> None:
    found = maps(runs.findings(SUITE, BEHAVIOURS))
    assert [each.title for each in found] == [
        f"imu: {size} kB at 200 Hz, periodic, {reliability}"
        for size in (1, 2)
        for reliability in ("best effort", "reliable")
    ]
    assert all(set(each.columns) == {"C1-1", "C2-2", "C1-3", "D1-1"} for each in found)
    rows = {label: cells for label, _, cells in found[0].rows}
    assert all(cell is not None and cell.heat is not None and cell.heat < 0.2 for cell in rows["fast"])
    assert all(cell is not None and cell.heat is not None and cell.heat > 0.8 for cell in rows["slow"])
    assert {cell.text for cell in rows["unable"] if cell} == {"not applicable"}
    assert {cell.text for cell in rows["silent"] if cell} == {"no communication"}
    assert all(cell is not None and "loses" in cell.note for cell in rows["losing"])


def test_a_middleware_all_of_whose_trials_are_damaged_is_said_to_be(runs: SharedRuns, tmp_path: Path) -> None:
    run = runs.copy(tmp_path / "run", SUITE, {"fast": Behaviour(), "slow": Behaviour()})
    for trial in run.stored_trials():
        if "slow" in trial.id:
            trial.received_path.write_bytes(b"no table")
    rows = {label: cells for label, _, cells in maps(analyse(run))[0].rows}
    assert {cell.text for cell in rows["slow"] if cell} == {"damaged"}


def test_what_differs_in_a_column_beyond_the_load_has_rows_of_its_own(runs: SharedRuns) -> None:
    suite = SUITE.replace(
        "qos: [{reliability: best_effort}, {reliability: reliable}]", "conditions: [{}, {spin: 5 us}]"
    )
    found = maps(runs.findings(suite, {"one": Behaviour()}))
    assert sorted(label for label, _, _ in found[0].rows) == ["one", "one (5 µs)"]


def test_a_single_setting_has_no_map(runs: SharedRuns) -> None:
    suite = SUITE.replace("[1 kB, 2 kB]", "1 kB").replace("[{reliability: best_effort}, {reliability: reliable}]", "{}")
    suite = re.sub("topologies: .*", "topologies: C1-1", suite)
    assert maps(runs.findings(suite, {"one": Behaviour()})) == []


def test_many_sections_begin_closed_and_every_cell_links_to_one(page: str) -> None:
    sections = set(re.findall(r'<section id="([^"]+)" class="workload"[^>]*>', page))
    assert len(sections) == 16 > CROWDED
    assert page.count('<details class="body">') == 16
    heat = page[page.index('id="overview"') : page.index('class="workload"')]
    assert set(re.findall(r'href="#([^"]+)"', heat)) == sections


def test_sections_of_one_workload_are_told_apart_by_their_titles(page: str) -> None:
    titles = re.findall(r'class="workload"[^>]*>\s*<h2>(.*?)</h2>', page, re.DOTALL)
    assert len(set(titles)) == len(titles) == 16


def test_a_map_of_different_deliveries_says_whose_they_are(runs: SharedRuns) -> None:
    polling = Behaviour(delivery=Delivery.POLLING)
    findings = runs.findings(SUITE, {"called": Behaviour(), "heard": Behaviour(), "polling": polling})
    words = "Deliveries differ: polling (polling); all others library_thread."
    assert {each.deliveries for each in maps(findings)} == {words}
    assert heat_table(maps(findings)[0]).caption.startswith(words)
    assert f'<p class="caption">{words}</p>' in render(findings)
