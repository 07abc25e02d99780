"""What security costs stands in the page and in the terminal: ratios to none by load, and the levels that are lacking."""

from io import StringIO

import pytest
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import NotApplicable
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.internals.security import (
    SecurityCosts,
    lacking_levels,
    security_costs,
    security_summary,
    security_tables,
)
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from run_builder import build_run

SUITE = """
suite: levels
trials: 3
middlewares: all
conditions: [{security: none}, {security: authenticated}, {security: encrypted}]
workloads:
  - {workload: small, pattern: periodic, size: [64 B, 1 kB], rate: 100 Hz}
  - {workload: flood, pattern: unthrottled, size: 64 B, approach: 100 Hz}
windows: {window: 1 s}
"""
LACKING = Behaviour(outcome=NotApplicable(capability="security", reason="it has no such level"))


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    folder = tmp_path_factory.mktemp("levels") / "run"
    return analyse(build_run(folder, SUITE, {"one": Behaviour(), "other": Behaviour(), "lacking": LACKING}))


def who(findings: RunFindings) -> dict[str, Series]:
    return series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])


@pytest.fixture(scope="module")
def costs(findings: RunFindings) -> SecurityCosts:
    return security_costs(findings, who(findings))


def test_each_cost_has_a_row_a_level_and_a_column_a_load(costs: SecurityCosts) -> None:
    tables = {table.title: table for table in security_tables(costs)}
    latency = tables["Median latency with security"]
    assert latency.headings == ("middleware", "delivery", "security", "small, 64 B", "small, 1 kB")
    assert [(row[0], row[2]) for row in latency.lines] == [
        ("one", "authenticated"),
        ("one", "encrypted"),
        ("other", "authenticated"),
        ("other", "encrypted"),
    ]
    assert all(0.5 < float(str(cell.value)) < 2 and cell.interval for row in latency.rows for cell in row[3:])


def test_a_flood_shows_goodput_and_a_paced_load_the_time_of_cpus(costs: SecurityCosts) -> None:
    tables = {table.title: table.headings[3:] for table in security_tables(costs)}
    assert tables["Goodput with security"] == ("flood",)
    assert tables["CPU time with security"] == ("small, 64 B", "small, 1 kB")
    assert tables["Time to first message with security"] == ("flood", "small, 64 B", "small, 1 kB")


def test_one_table_has_all_costs_of_each_level_and_a_line_each_level_that_is_lacking(
    findings: RunFindings, costs: SecurityCosts
) -> None:
    (summary,) = security_summary(costs)
    assert {"time to first message", "median latency", "goodput", "CPU time"} <= set(summary.headings)
    assert [row[:2] for row in summary.lines] == [
        ("one", "authenticated"),
        ("one", "encrypted"),
        ("other", "authenticated"),
        ("other", "encrypted"),
    ]
    latency = summary.headings.index("median latency")
    assert all(0.5 < float(end) < 2 for row in summary.lines for end in row[latency].split(" to "))
    assert lacking_levels(findings, who(findings)) == [
        "lacking, authenticated: not applicable: it has no such level",
        "lacking, encrypted: not applicable: it has no such level",
    ]


def test_page_and_terminal_show_it(findings: RunFindings) -> None:
    page = render(findings)
    assert '<section id="security">' in page
    assert "<h2>What security costs</h2>" in page.partition('<section id="conditions">')[0]
    console = Console(file=StringIO(), record=True, width=160)
    print_summary(findings, console)
    assert "Median latency with security, to none" in console.export_text()


def test_where_security_does_not_vary_nothing_is_said_of_its_cost(tmp_path_factory: pytest.TempPathFactory) -> None:
    text = SUITE.replace("conditions: [{security: none}, {security: authenticated}, {security: encrypted}]\n", "")
    plain = analyse(build_run(tmp_path_factory.mktemp("plain") / "run", text, {"one": Behaviour()}))
    nothing = security_costs(plain, who(plain))
    assert security_tables(nothing) == security_summary(nothing) == []
    assert 'id="security"' not in render(plain)
