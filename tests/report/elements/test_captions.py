"""Every measured figure says what it stands on: its caption has n."""

import html
import re
from pathlib import Path

import pytest

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH, CHAIN_IN_TWO_CONDITIONS, PAUSED_SUBSCRIBERS
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.figures import figures
from middlemark.report.output.html import render
from middlemark.report.output.markup import marked
from report_page import opened
from run_builder import build_run
from shared_runs import SharedRuns

SIZES = """
suite: sizes
trials: 1
middlewares: all
observe: [wire, resources, kernel_path]
sizes: [1 kB, 10 kB, 100 kB]
workloads: [{workload: imu, windows: {window: 500 ms}}]
topologies: {topology: D1-1, links: [{host: host_0, network: lan, mobility: {farthest: 200 m, speed: 100 m/s}}]}
"""
PLANNED = "trace-"
"""Of what links were asked to do, and so of no trial."""


def without_n(findings: RunFindings) -> set[str]:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    drawn = dict(figures(findings, who))
    assert drawn
    silent = {
        name for name, chart in drawn.items() if PLANNED not in name and not re.search(r"\bn = \d", chart.caption)
    }
    page = opened(render(findings))
    captions = [_shown(re.sub(r"<details.*", "", each, flags=re.DOTALL)) for each in CAPTION.findall(page)]
    assert len(captions) == len(drawn)
    assert all(any(_shown(marked(chart.caption)) in caption for caption in captions) for chart in drawn.values())
    return silent


def _shown(markup: str) -> str:
    """What a reader sees of it."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.DOTALL)


@pytest.mark.parametrize("name", ["run-format-1", "run-format-1-observed"])
def test_each_figure_of_a_stored_run_has_n(runs: SharedRuns, name: str) -> None:
    assert without_n(runs.golden(name).findings) == set()


@pytest.mark.parametrize(
    ("suite", "drawn"),
    [
        (SIZES, {"overhead", "size0", "kernelpath", "memorycourse", "way0at50", "trace-distance"}),
        (CAPACITY_SEARCH.replace("64 B", "[64 B, 1 kB]"), {"load0"}),
        (CHAIN_IN_TWO_CONDITIONS, {"chain0", "chainway", "chainshares", "startup"}),
        (PAUSED_SUBSCRIBERS, {"arrivals", "overtime"}),
    ],
    ids=["sizes", "searched", "chained", "struck"],
)
def test_so_has_each_kind_of_figure(tmp_path: Path, suite: str, drawn: set[str]) -> None:
    behaviours = {"one": Behaviour(per_byte_ns=1), "two": Behaviour(latency_ns=90_000)}
    findings = analyse(build_run(tmp_path / "run", suite, behaviours))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    assert {chart.id for _, chart in figures(findings, who)} >= drawn
    assert without_n(findings) == set()
