"""What a reader can choose between is what varies on the page."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.selection import selectable
from run_builder import build_run

SUITE = """
suite: varied
trials: 2
middlewares: [{middleware: one, profiles: [default, tuned]}, two]
workloads: [{workload: imu, size: [100 B, 1 kB], windows: {window: 200 ms}}]
"""


def test_middlewares_have_all_their_labels_and_factors_all_values_that_vary(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour()}))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    found = selectable(findings.comparisons, who.values())
    assert [set(each.labels) for each in found.middlewares] == [{"one (default)", "one (tuned)"}, {"two"}]
    assert [(name, set(values)) for name, values in found.factors] == [("size", {"100 B", "1 kB"})]
