"""`middlemark recommend`: from an application's file, or a recording, to a recommendation and an exit code."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from behaviour import Behaviour
from middlemark import load
from middlemark.cli.main import app
from middlemark.cli.measure import run
from middlemark.errors import ResultsNotAccepted, UsageError
from middlemark.worker import executables
from run_builder import build_demand_run

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(
        not {"udp", "synthetic"} <= set(executables.workers()), reason="the workers `udp` and `synthetic` are not built"
    ),
]
APPLICATION = """\
application: small
trials: 3
window: 1 s
windows: {warm_up: 50 ms, drain: 500 ms}
disturbance: {steal: 100 %}
observe: []
middlewares: [udp, {middleware: synthetic, options: {delay_ns: 80000000}}]
profiles: default
processes: [sensor, control]
streams:
  - {topic: imu, publishers: sensor, subscribers: control, size: 320 B, rate: 200 Hz, deadline: 50 ms, within: p50, loss: 10 %}
  - {topic: scan, publishers: sensor, subscribers: control, size: 4 kB, rate: 50 Hz, deadline: 40 ms, within: p50, loss: 10 %}
  - {topic: cmd, publishers: control, subscribers: sensor, size: 64 B, rate: 20 Hz, loss: 10 %}
"""


def recommend(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["recommend", *map(str, arguments)], env={"COLUMNS": "160"})


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "small.yaml"
    file.write_text(APPLICATION)
    return file


@pytest.fixture
def known_answer(application: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the campaign measures is known: how well this machine keeps time at that moment is no part of it."""
    behaviours = {"udp": Behaviour(), "synthetic": Behaviour(latency_ns=8e7)}

    def known(folder: Path, *_: object) -> None:
        text = application.read_text()
        build_demand_run(folder, text, {name: own for name, own in behaviours.items() if f"{name}," in text})

    monkeypatch.setattr(run, "carry_out", known)


@pytest.mark.usefixtures("known_answer")
def test_what_meets_all_requirements_is_recommended(application: Path, tmp_path: Path) -> None:
    answer = recommend(application, "--out", tmp_path / "run", "--json")
    assert answer.exit_code == 0, answer.output
    said = json.loads(answer.stdout)["recommendation"]
    assert said["headline"] == "udp alone meets all requirements"
    assert [row[0] for row in said["fitting"]["rows"]] == ["udp"]
    assert [label for label, _ in said["others"]] == ["synthetic"]


def test_a_dry_run_shows_the_candidates_and_runs_none(application: Path, tmp_path: Path) -> None:
    answer = recommend(application, "--dry-run", "--trials", 3, "--out", tmp_path / "run")
    assert answer.exit_code == 0, answer.output
    assert "2 experiments × 3 trials = 6 trials" in answer.stdout
    assert not (tmp_path / "run").exists()


def test_a_dry_run_counts_many_streams_and_lists_few(application: Path) -> None:
    assert "stream.imu 320 B at 200 Hz" in recommend(application, "--dry-run").stdout
    more = "  - {topic: t%d, publishers: sensor, subscribers: control, size: 64 B, rate: 1 Hz}\n"
    application.write_text(APPLICATION + "".join(more % number for number in range(10)))
    shown = recommend(application, "--dry-run").stdout
    assert "13 streams as the file has them" in shown
    assert "stream.imu" not in shown


def test_what_a_recording_would_overwrite_is_refused(application: Path) -> None:
    answer = recommend(application, "--from", application.with_suffix(".mcap"))
    assert isinstance(answer.exception, UsageError)
    assert "exists already" in str(answer.exception)
    assert application.read_text() == APPLICATION


def test_an_option_that_no_worker_has_is_told_with_its_place(application: Path) -> None:
    application.write_text(APPLICATION.replace("delay_ns", "dealy_ns"))
    answer = recommend(application, "--dry-run")
    assert "small.yaml:7" in str(answer.exception)
    assert "did you mean `delay_ns`?" in str(answer.exception)


@pytest.mark.usefixtures("known_answer")
def test_what_misses_its_deadline_is_named_with_by_how_much(application: Path, tmp_path: Path) -> None:
    application.write_text(APPLICATION.replace("[udp, {", "[{"))
    answer = recommend(application, "--out", tmp_path / "run", "--json")
    assert isinstance(answer.exception, ResultsNotAccepted)
    ((label, reason),) = json.loads(answer.stdout)["recommendation"]["others"]
    assert label == "synthetic"
    assert "misses its deadline: half of its messages take at most 79" in reason
    assert "of the 40 ms allowed" in reason
    assert (tmp_path / "run" / "report.html").stat().st_size > 100_000


def test_what_is_programmed_to_be_late_is_never_recommended(application: Path, tmp_path: Path) -> None:
    """On a busy machine its messages come even later, or its trials don't count: the reason is then another."""
    application.write_text(APPLICATION.replace("[udp, {", "[{"))
    answer = recommend(application, "--out", tmp_path / "run", "--json")
    assert isinstance(answer.exception, ResultsNotAccepted)
    said = json.loads(answer.stdout)["recommendation"]
    assert said["fitting"] is None
    assert [label for label, _ in said["others"]] == ["Synthetic †"]


SERVICE = """\
services:
  - {service: route, clients: control, servers: sensor, size: 64 B, response: 1 kB, rate: 50 Hz, deadline: 10 s, unanswered: 10 %}
"""


def test_a_service_is_measured_beside_streams_where_there_is_any_means(application: Path, tmp_path: Path) -> None:
    application.write_text(
        application.read_text().replace("80000000", "1000000").replace("trials: 3", "trials: 1") + SERVICE
    )
    answer = recommend(application, "--out", tmp_path / "run", "--json")
    said = json.loads(answer.stdout)["recommendation"]
    assert dict(said["others"])["UDP sockets †"].startswith("not applicable: ")
    run_folder = load(tmp_path / "run")
    of_route = run_folder.metrics.filter(subject="stream:route")
    assert of_route.filter(metric="round_trip_from_intended_p50_ns")["value"].item() >= 2_000_000
