"""Every figure leads to the trials that it stands on, those of a setting and those of several."""

import re
from pathlib import Path

import pytest

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH, CHAIN_IN_TWO_CONDITIONS
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.heatmap import heat_maps
from middlemark.report.elements.labels import Trials, series_by_experiment
from middlemark.report.output.html import charts_of_run, render
from report_page import opened
from run_builder import build_run

SUITE = """
suite: sizes
trials: 2
middlewares: all
observe: wire
sizes: [1 kB, 10 kB, 100 kB]
workloads: [{workload: imu, windows: {window: 200 ms}}]
topologies: D1-1
"""
BOTH = {"one": Behaviour(), "two": Behaviour(latency_ns=90_000)}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(build_run(tmp_path_factory.mktemp("trials") / "run", SUITE, BOTH))


def behind(findings: RunFindings, part: str) -> Trials:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (chart,) = charts_of_run(findings, who)[part]
    return chart.trials


def names(trials: Trials) -> dict[str, set[str]]:
    return {name: {outcome.trial for outcome in outcomes} for name, outcomes in trials}


def planned(findings: RunFindings, middleware: str, *, observed: bool) -> set[str]:
    return {
        trial.id
        for trial in findings.manifest.trials
        if trial.experiment.middleware == middleware and (trial.observation is not None) is observed
    }


def test_latency_over_size_stands_on_the_trials_of_all_sizes(findings: RunFindings) -> None:
    assert names(behind(findings, "scaling")) == {name: planned(findings, name, observed=False) for name in BOTH}


def test_the_overhead_on_the_wire_stands_on_observed_trials(findings: RunFindings) -> None:
    found = names(behind(findings, "wire"))
    assert found == {f"{name}, D1-1": planned(findings, name, observed=True) for name in BOTH}


def test_a_heat_map_stands_on_the_trials_of_its_cells(findings: RunFindings) -> None:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (found,) = heat_maps(findings.comparisons, ["s1", "s2", "s3"], who)
    assert names(found.trials) == {name: planned(findings, name, observed=False) for name in BOTH}


@pytest.mark.parametrize(
    ("suite", "part", "told"), [(CAPACITY_SEARCH, "capacity", 2), (CHAIN_IN_TWO_CONDITIONS, "chains", 4)]
)
def test_curves_of_load_and_chains_stand_on_theirs(tmp_path: Path, suite: str, part: str, told: int) -> None:
    run = analyse(build_run(tmp_path / "run", suite, BOTH))
    found = names(behind(run, part))
    assert len(found) == told
    assert set.union(*found.values()) == {trial.id for trial in run.manifest.trials}


def test_every_figure_of_the_page_has_a_way_to_records_that_are_there(findings: RunFindings) -> None:
    page = opened(render(findings))
    figures = re.findall(r"<figure.*?</figure>", page, re.DOTALL)
    maps = re.findall(r'<div class="map">.*?</details>', page, re.DOTALL)
    assert len(figures) >= 20
    assert len(maps) == 1
    for each in [*figures, *maps]:
        link = re.search(r'<a href="#(s\d[^"]*-trials)">Trials</a>', each)
        shown = re.findall(r'id="' + link[1] + r'".*?</details>', page, re.DOTALL)[0] if link else each
        records = re.findall(r'href="(trials/[^"]+/trial\.json)"', shown)
        assert records
        assert all((findings.folder.path / record).is_file() for record in records)
