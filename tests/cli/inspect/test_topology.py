"""`middlemark topology show` draws what a name or a file means."""

import json
from pathlib import Path

from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.errors import UsageError

RUNNER = CliRunner()


def shown(*arguments: str) -> str:
    answer = RUNNER.invoke(app, ["topology", "show", *arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_a_shipped_topology_is_drawn_by_its_name() -> None:
    text = shown("routed-3")
    assert all(part in text for part in ("routed-3", "router_near", "publisher_0", "service", "backbone", "●"))


def test_any_number_of_publishers_and_subscribers_has_a_name() -> None:
    assert "subscriber_4" in shown("D1-5")


def test_a_suite_shows_all_its_topologies() -> None:
    topologies = json.loads(shown("automotive", "--json"))
    assert [topology["name"] for topology in topologies][3:5] == ["C1-3", "D1-1"]
    assert topologies[4]["link"] == {"rate": "1 Gbit/s"}


def test_a_file_may_hold_a_topology_alone(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("topology: D1-1\nlink: {rate: 100 Mbit/s}\n", encoding="utf-8")
    assert shown(str(file)).count("100 Mbit/s") == 2


def test_the_drawing_goes_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "drawing.svg"
    assert shown("D1-1", "--svg", str(file)) == ""
    assert file.read_text(encoding="utf-8").startswith("<svg")


def test_an_unknown_topology_is_refused_with_the_known_names() -> None:
    answer = RUNNER.invoke(app, ["topology", "show", "routed-4"])
    assert isinstance(answer.exception, UsageError)
    assert "did you mean `routed-3`?" in (answer.exception.remedy or "")


def test_one_drawing_holds_one_topology(tmp_path: Path) -> None:
    answer = RUNNER.invoke(app, ["topology", "show", "automotive", "--svg", str(tmp_path / "all.svg")])
    assert isinstance(answer.exception, UsageError)
    assert not list(tmp_path.iterdir())
