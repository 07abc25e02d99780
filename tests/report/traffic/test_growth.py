"""How discovery grows stands in the page and in the terminal: each cost with its places, and the fitted curve in words."""

from io import StringIO

import pytest
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.compare.scaling import Coefficient, Fit, Shape
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import NotApplicable
from middlemark.report.elements.formatting import MICROSECONDS
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.report.traffic.growth import growth_charts, growth_summary, growth_tables, growth_words
from run_builder import build_run

SUITE = """
suite: grows
trials: 3
middlewares: all
topologies: D4-4
workloads: [{workload: endpoints, pattern: periodic, size: 64 B, rate: 20 Hz, topics: [4, 8, 16, 32]}]
windows: {window: 1 s}
"""
UNABLE = Behaviour(outcome=NotApplicable(capability="size_bytes", reason="no"))


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    folder = tmp_path_factory.mktemp("grows") / "run"
    return analyse(build_run(folder, SUITE, {"one": Behaviour(), "other": Behaviour(), "unable": UNABLE}))


def test_each_cost_has_a_row_a_candidate_and_a_column_a_place(findings: RunFindings) -> None:
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    first, *_ = growth_tables(findings, who)
    assert first.title.startswith("Time to first message over endpoints: endpoints, 64 B at 20 Hz")
    assert first.headings[2:6] == tuple(f"{place} endpoints, ms" for place in (8, 16, 32, 64))
    assert [row[0] for row in first.lines] == ["one", "other"]
    assert all("participant" not in row[-1] for row in first.lines)


def test_the_report_begins_with_all_costs_at_the_largest_number(findings: RunFindings) -> None:
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    (summary,) = growth_summary(findings, who)
    assert summary.title.startswith("At 64 endpoints: endpoints, 64 B at 20 Hz")
    assert summary.headings[:2] == ("middleware", "time to first message, ms")
    assert {row[0] for row in summary.lines} == {"one", "other"}
    assert summary.headings[-1] == "growth"
    assert summary.title in render(findings)


def test_what_was_fitted_is_drawn_with_its_trials(findings: RunFindings) -> None:
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    chart, *_ = growth_charts(findings, who)
    assert {row["series"] for row in chart.spec["datasets"]["curves"]} == {"one", "other"}
    assert len(chart.spec["datasets"]["points"]) == 8
    assert "n = 3 trials." in chart.caption


def test_page_and_terminal_show_it(findings: RunFindings) -> None:
    assert '<section id="growth">' in render(findings)
    console = Console(file=StringIO(), record=True, width=160)
    print_summary(findings, console)
    assert "Time to first message over endpoints" in console.export_text()


def test_a_curve_is_said_with_its_intervals() -> None:
    slope, curvature = Coefficient(40_000, 38_000, 42_000), Coefficient(900, 500, 1300)
    line = Fit(Shape.LINEAR, 0.0, slope, None)
    assert growth_words(line, "endpoint", MICROSECONDS) == "linear: 40.0 µs (38.0–42.0) an endpoint"
    parabola = Fit(Shape.QUADRATIC, 0.0, slope, curvature)
    assert growth_words(parabola, "participant", MICROSECONDS) == (
        "quadratic: 40.0 µs (38.0–42.0) a participant and 0.9 µs (0.5–1.30) a participant squared"
    )
