"""`middlemark claims` judges on stored data, and its exit code tells of a claim only if asked."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from behaviour import Behaviour
from middlemark.cli.main import app
from middlemark.errors import ResultsNotAccepted, UsageError
from run_builder import build_run

SUITE = """
suite: claimed
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 500 ms}}
claims: [no loss]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    behaviours = {"one": Behaviour(), "two": Behaviour(loss=0.02)}
    return build_run(tmp_path_factory.mktemp("claimed") / "run", SUITE, behaviours).path


def judged(run: Path, *words: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, ["claims", str(run), *words, "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    found: list[dict[str, object]] = json.loads(result.stdout)["claims"]
    return found


def test_a_run_has_its_suites_claims(run: Path) -> None:
    assert [(each["claim"], each["judgement"]) for each in judged(run)] == [("no loss", "refuted")]


def test_other_claims_are_judged_anew(run: Path, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("- no loss[middleware=one]\n", encoding="utf-8")
    found = judged(run, str(tmp_path / "other.yaml"), "--claim", "loss[middleware=two] < 50 %")
    assert [each["judgement"] for each in found] == ["holds", "holds"]


@pytest.mark.parametrize(("claim", "fail_if"), [("no loss", "refuted"), ("p9999(latency) < 1 s", "undecided")])
def test_a_refuted_claim_changes_the_exit_code_only_with_fail_if(run: Path, claim: str, fail_if: str) -> None:
    assert CliRunner().invoke(app, ["claims", str(run), "--claim", claim]).exit_code == 0
    result = CliRunner().invoke(app, ["claims", str(run), "--claim", claim, "--fail-if", fail_if])
    assert isinstance(result.exception, ResultsNotAccepted)


def test_a_claim_that_can_not_be_read_is_a_mistake_of_usage(run: Path) -> None:
    result = CliRunner().invoke(app, ["claims", str(run), "--claim", "no lost"])
    assert isinstance(result.exception, UsageError)
