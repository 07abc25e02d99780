"""Trials that don't count stand before the figures wherever those are read: how many, whose, why, and the first's record."""

import json
import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH
from middlemark.analysis.run import RunFindings, analyse
from middlemark.cli.main import app
from middlemark.plan import Failed, Invalid, InvalidKind, InvalidReason, NotApplicable, Outcome, SearchStep, next_block
from middlemark.plan.schedule import at_step
from middlemark.report.conclusions.warnings import uncounted
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from run_builder import build_run, write_trial

SUITE = """
suite: uncounted
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 2 s}}
"""
STOLEN = Invalid(reasons=(InvalidReason(kind=InvalidKind.STEAL, text="the hypervisor took `half`"),))
REFUSED = NotApplicable(capability="reliable", reason="it has none")
ENDED = Failed(application="publisher_0", doing="sending", causes=("the broker closed the connection",))
SAID = "Invalid (steal) in 3 trials (busy 3)"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    """Of one whose machine was not its own, one that can't do what is asked, and one that counts."""
    behaviours = {"busy": Behaviour(outcome=STOLEN), "unable": Behaviour(outcome=REFUSED), "steady": Behaviour()}
    return analyse(build_run(tmp_path_factory.mktemp("uncounted") / "run", SUITE, behaviours))


def test_the_page_says_before_the_first_ranking_which_trials_do_not_count_and_why(findings: RunFindings) -> None:
    page = render(findings)
    opening = page[page.index('id="answer"') : page.index('id="conditions"')]
    assert SAID in opening
    first = next(each for each in findings.experiments if each.experiment.middleware == "busy").outcomes[0].trial
    assert f'<a href="trials/{first}/trial.json">' in opening
    assert "the hypervisor took <code>half</code>" in opening
    assert "unable 3" not in opening


def test_the_terminal_and_json_have_the_same_list(findings: RunFindings) -> None:
    console = Console(file=StringIO(), width=200)
    print_summary(findings, console)
    assert isinstance(console.file, StringIO)
    assert SAID.lower() in console.file.getvalue()
    answer = CliRunner().invoke(app, ["report", str(findings.folder.path), "--json"])
    (told,) = json.loads(answer.stdout)["not_counted"]
    assert (told["outcome"], told["reason"], told["n_trials"]) == ("invalid", "steal", {"busy": 3})


@pytest.mark.parametrize(("step", "outcome", "told"), [(0, ENDED, 1), (1, ENDED, 0), (1, STOLEN, 1)])
def test_what_a_search_came_for_counts(tmp_path: Path, step: int, outcome: Outcome, told: int) -> None:
    run = build_run(tmp_path / "run", CAPACITY_SEARCH, {"one": Behaviour(outcome=outcome)})
    (lowest,) = run.stored_trials()
    first = lowest.read_record().trial
    experiment = first.experiment
    assert experiment.search is not None
    moved = at_step(experiment, experiment.search, step)
    (trial,) = next_block([first], [moved], seed=1, steps={moved.id: SearchStep(search=1, step=step)})
    shutil.rmtree(lowest.path)
    run.write_manifest(run.read_manifest().model_copy(update={"trials": (trial,)}))
    write_trial(run, trial, Behaviour(outcome=outcome), np.random.default_rng(1))
    found = analyse(run)
    who = series_by_experiment(found.manifest, (each.experiment for each in found.experiments))
    assert len(uncounted(found, who)) == told
