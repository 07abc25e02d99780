"""A reader sees the clocks' bound beside each one-way figure, and the true reason in the place of a refused one."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from behaviour import MS, Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.heatmap import heat_maps
from middlemark.report.conclusions.ranking import CLOCKS, ranking_table
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.internals.chains import ChainShown, chain_shown
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.report.traffic.setting_tables import quantile_table
from middlemark.report.traffic.timeseries import time_charts
from middlemark.suite.metrics import Distribution
from report_page import opened, specs
from run_builder import with_clocks
from shared_runs import SharedRuns

SUITE = """
suite: apart
trials: 3
middlewares: all
topologies: D1-1
windows: {window: 2 s}
workloads:
  - {workload: imu, rate: [100 Hz, 200 Hz]}
  - workload: drive
    pattern: pipeline
    nodes:
      - {node: camera, rate: 100 Hz, compute: 1 ms, outputs: [{stream: image, size: 1 kB}]}
      - {node: fuse, inputs: [image], compute: 2 ms}
    chains: [{chain: reaction, path: [camera, fuse], deadline: 40 ms}]
"""
REASON = "one-way: within the clocks' ± 50 ms"


def run(runs: SharedRuns, path: Path, bound_ns: int) -> RunFindings:
    behaviours = {"quick": Behaviour(latency_ns=60_000), "slow": Behaviour(latency_ns=90_000)}
    return analyse(with_clocks(runs.copy(path / "run", SUITE, behaviours), bound_ns))


@pytest.fixture(scope="module")
def wide(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return run(runs, tmp_path_factory.mktemp("wide"), 50 * MS)


@pytest.fixture(scope="module")
def narrow(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return run(runs, tmp_path_factory.mktemp("narrow"), 40_000)


@pytest.fixture(scope="module")
def page_of_narrow(narrow: RunFindings) -> str:
    return opened(render(narrow))


def drawn_on(page: str) -> set[str]:
    return {name.rsplit("-", 1)[1] for name in specs(page)}


def printed(findings: RunFindings) -> str:
    console = Console(file=StringIO(), width=120)
    print_summary(findings, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def chain_of(findings: RunFindings) -> ChainShown:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    return next(found for each in findings.comparisons if (found := chain_shown(each, who)))


def test_the_bound_stands_beside_each_one_way_figure_of_the_ranking(narrow: RunFindings, page_of_narrow: str) -> None:
    who = series_by_experiment(narrow.manifest, (each.experiment for each in narrow.experiments))
    for comparison in narrow.comparisons:
        bound = "± 0.04" if comparison.setting.of_chain else "± 40.0"
        for line in ranking_table(comparison, who).lines:
            assert (line.main.clocks, line.tail.clocks, line.first_message.clocks) == (bound, bound, "± 0.04")
    text = printed(narrow)
    assert text.count(CLOCKS) == page_of_narrow.count(CLOCKS) == len(narrow.comparisons)
    assert "± 40.0" in text
    assert '<span class="interval">± 40.0</span>' in page_of_narrow


def test_by_one_clock_nothing_is_said_of_clocks(runs: SharedRuns, tmp_path: Path) -> None:
    text = printed(run(runs, tmp_path, 0))
    assert "±" not in text


def test_a_refused_figure_has_its_reason_in_its_place_and_is_not_drawn(wide: RunFindings, page_of_narrow: str) -> None:
    text, page = printed(wide), opened(render(wide))
    assert f"quick: {REASON}" in text
    assert "nothing was received in time" not in text + page
    assert "no path ended" not in text + page
    assert REASON.replace("'", "&#39;") in page
    who = series_by_experiment(wide.manifest, (each.experiment for each in wide.experiments))
    assert [chart.id for each in wide.comparisons for chart in time_charts(each, who)] == []
    one_way = {"ecdf", "box", "percentiles", "overtime", "chainway", "chainshares"}
    assert drawn_on(page) & one_way == set()
    assert drawn_on(page_of_narrow) >= one_way
    (first, *_) = heat_maps(wide.comparisons, ["s"] * len(wide.comparisons), who)
    assert {cell.text for _, _, cells in first.rows for cell in cells if cell} == {"within clocks"}


def test_a_chain_s_tables_give_the_reason_and_what_one_clock_tells(wide: RunFindings) -> None:
    shown = chain_of(wide)
    (row, *_) = shown.split.lines
    assert row[3] == row[4] == REASON
    assert row[6].startswith("3.00")
    fate = dict(zip(shown.fates.headings, shown.fates.lines[0], strict=True))
    assert (fate["deadline, ms"], fate["missed, %"]) == ("40.0", REASON)


def test_a_chain_of_which_one_part_is_refused_has_no_bar(runs: SharedRuns, narrow: RunFindings, tmp_path: Path) -> None:
    """Its whole takes longer than the bound, its communication does not."""
    assert [chart.id for chart in chain_of(narrow).charts] == ["chainway", "chainshares"]
    shown = chain_of(run(runs, tmp_path, 200_000))
    assert shown.charts == ()
    assert "± 0.2" in shown.split.lines[0][3]
    assert shown.split.lines[0][4] == "one-way: within the clocks' ± 200 µs"


def test_the_table_of_quantiles_names_what_clocks_do_not_tell(wide: RunFindings, narrow: RunFindings) -> None:
    who = series_by_experiment(narrow.manifest, (each.experiment for each in narrow.experiments))
    kind = Distribution.LATENCY_FROM_SEND
    own, refused = (next(c for c in found.comparisons if not c.setting.of_chain) for found in (narrow, wide))
    table = quantile_table(own, who, kind)
    assert table is not None
    assert "± 40.0" in table.lines[0][3]
    assert quantile_table(refused, who, kind) is None
