"""What a page carries packed is whole, small, and said once."""

import json
from pathlib import Path

import vl_convert

from behaviour import Behaviour
from known_suites import THIRTEEN_SIZES
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.packing import Folded, by_columns, packed
from middlemark.report.output.section import sections_of
from report_page import opened, specs
from run_builder import build_run
from shared_runs import SharedRuns

AUTOMOTIVE_TRIALS = 640
MOST_BYTES = 4_300_000


def test_every_chart_is_carried_whole(runs: SharedRuns) -> None:
    findings = runs.golden("run-format-1").findings
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    drawn = {
        f"{section.id}-{chart.id}": chart.spec for section in sections_of(findings, who) for chart in section.charts
    }
    carried = specs(render(findings))
    assert drawn
    for name, spec in drawn.items():
        assert json.dumps(carried[name], sort_keys=True) == json.dumps(spec, sort_keys=True)


def test_rows_that_differ_in_their_fields_stay_rows() -> None:
    assert by_columns([{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == {"a": [1, 3], "b": [2, 4]}
    assert by_columns([{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert by_columns([]) == []


def test_a_folded_part_is_found_again_under_its_name() -> None:
    folded = Folded()
    held = [folded.hold(kind, text) for kind, text in (("tables", "one"), ("bars", "two"), ("tables", "three"))]
    assert held == ["tables 0", "bars 0", "tables 1"]
    assert folded.parts == {"tables": ["one", "three"], "bars": ["two"]}


def test_a_page_of_many_settings_has_room_for_many_more(tmp_path: Path) -> None:
    names = [f"middleware_{number}" for number in range(8)]
    findings = analyse(build_run(tmp_path / "run", THIRTEEN_SIZES, dict.fromkeys(names, Behaviour(loss=0.01))))
    page = render(findings)
    library = len(packed(vl_convert.javascript_bundle()))  # type: ignore[call-arg] # its stub forgets the default
    of_trials = len(page.encode()) - library
    assert library + of_trials / findings.n_trials * AUTOMOTIVE_TRIALS < MOST_BYTES
    assert opened(page).count("<caption>Outliers") == 13
