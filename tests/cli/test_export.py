"""`middlemark export` leaves one percentile table for each distribution, with every valid trial in it."""

from pathlib import Path

from typer.testing import CliRunner

from middlemark.cli.main import app
from run_builder import Behaviour, build_run

SUITE = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"


def test_each_distribution_becomes_a_table_of_all_trials(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", SUITE, {"one": Behaviour()})
    answer = CliRunner().invoke(app, ["export", str(run.path)])
    assert answer.exit_code == 0, answer.output
    (latency,) = (run.path / "hgrm").glob("*.imu.latency_from_send.hgrm")
    text = latency.read_text(encoding="utf-8")
    assert "TotalCount     =      600.000" in text
    assert "#[Unit = ns, Trials = 3, Negative = 0]" in text
    assert f"{len(list((run.path / 'hgrm').iterdir()))} percentile tables" in answer.stdout
