"""Of pairs a setting shows who understands whom, and what each pair costs beside each of the two alone."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import MissingPath, NoCommunication
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.section import sections_of
from middlemark.report.traffic.interop import pair_cost_table, pair_table, pairs_over_settings
from run_builder import build_run

SUITE = """
suite: told
trials: 6
middlewares: [one, two, {publishers: one, subscribers: two}, {publishers: two, subscribers: one}]
workloads: [{workload: imu, windows: {window: 1 s}}]
"""
SILENT = NoCommunication(
    missing=(MissingPath(stream="imu", publisher=0, subscriber=0),),
    reasons={"subscriber_0": ("met no writer",)},
)


def findings_of(tmp_path: Path) -> tuple[RunFindings, Comparison]:
    behaviours = {
        "one": Behaviour(latency_ns=100_000, drift=0.0),
        "two": Behaviour(latency_ns=200_000, drift=0.0),
        "one_to_two": Behaviour(latency_ns=400_000, drift=0.0),
        "two_to_one": Behaviour(outcome=SILENT),
    }
    findings = analyse(build_run(tmp_path / "run", SUITE, behaviours))
    return findings, findings.comparisons[0]


def test_a_matrix_has_those_who_publish_down_and_those_who_subscribe_across(tmp_path: Path) -> None:
    findings, comparison = findings_of(tmp_path)
    series_of = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    shown = pair_table(comparison, series_of)
    assert shown is not None
    rows = shown.lines
    assert shown.headings == ("publishers", "one", "two")
    assert [row[0] for row in rows] == ["one", "two"]
    medians = [float(cell.split()[0]) for cell in rows[0][1:]]
    assert [round(median / 100) for median in medians] == [1, 4]
    assert rows[1][1] == "no communication"
    assert "subscriber_0: met no writer" in shown.caption


def test_a_pair_is_set_beside_each_of_its_middlewares_alone(tmp_path: Path) -> None:
    findings, comparison = findings_of(tmp_path)
    series_of = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    shown = pair_cost_table(comparison, series_of)
    assert shown is not None
    by_pair = {row[0]: row[2:] for row in shown.lines}
    assert [round(float(cell.split()[0])) for cell in by_pair["one → two"]] == [4, 2]


def test_over_all_settings_it_is_counted_where_messages_came(tmp_path: Path) -> None:
    behaviours = {"two_to_one": Behaviour(outcome=SILENT)} | dict.fromkeys(("one", "two", "one_to_two"), Behaviour())
    suite = SUITE.replace("trials: 6", "trials: 2").replace("workload: imu,", "workload: imu, size: [100 B, 1 kB],")
    findings = analyse(build_run(tmp_path / "run", suite, behaviours))
    series_of = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    shown = pairs_over_settings(findings.comparisons, series_of)
    assert shown is not None
    assert shown.lines[0][1:] == ("2 of 2 (4 of 4 trials)", "2 of 2 (4 of 4 trials)")
    assert shown.lines[1][1:] == ("0 of 2 (0 of 4 trials)", "2 of 2 (4 of 4 trials)")
    assert pairs_over_settings(findings.comparisons[:1], series_of) is None


def test_a_setting_without_pairs_has_no_such_tables(tmp_path: Path) -> None:
    text = SUITE.replace(", {publishers: one, subscribers: two}, {publishers: two, subscribers: one}", "")
    findings = analyse(build_run(tmp_path / "run", text, {"one": Behaviour(), "two": Behaviour()}))
    series_of = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    (section,) = sections_of(findings, series_of)
    assert not {"Who understands whom", "Pairs beside each alone"} & {table.title for table in section.tables}
