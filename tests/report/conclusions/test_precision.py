"""Where trials scatter from is told in the terminal, on the page and in JSON, or why it can't be."""

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.precision import as_data, spread_table
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from run_builder import build_run

SUITE = """
suite: spread
trials: 12
middlewares: [even, apart]
workloads: {workload: imu, windows: {window: 4 s}}
"""


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    behaviours = {"even": Behaviour(drift=0.0), "apart": Behaviour(drift=0.3)}
    return analyse(build_run(tmp_path_factory.mktemp("spread") / "run", SUITE, behaviours))


def test_what_lies_between_trials_is_told_of_each(findings: RunFindings) -> None:
    shares = {str(each["experiment"]).split("-")[0]: each["levels"] for each in as_data(findings)}
    even, apart = shares["even"], shares["apart"]
    assert isinstance(even, dict)
    assert isinstance(apart, dict)
    assert even["low"] == 0
    assert apart["low"] > 0.9


def test_the_table_stands_folded_on_the_page_with_both(findings: RunFindings) -> None:
    table = spread_table(
        findings, series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    )
    assert table is not None
    assert {row[0] for row in table.lines} == {"even", "apart"}
    page = render(findings)
    assert '<section id="spread">' in page
    assert "Whether trials are independent" in page


def test_without_the_cost_of_a_trial_nothing_is_advised(findings: RunFindings) -> None:
    """The trials of a built run all begin at one instant."""
    assert findings.outside_window_ns is None
    assert all(each["advice"] == {"pays": None, "reason": REASON} for each in as_data(findings))


REASON = "too few trials ran in succession to know how long one takes besides its window"
