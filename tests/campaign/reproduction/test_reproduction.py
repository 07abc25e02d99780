"""A paper's suites run with what is installed, one after another, and go on where they were cut off."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from middlemark.campaign import reproduction
from middlemark.campaign.campaign import run_new
from middlemark.campaign.reproduction import plan_paper, reproduce_new, resume_paper
from middlemark.errors import StoreError
from middlemark.plan import Valid
from middlemark.results.manifest import Reproduction
from middlemark.results.progress import Event, TrialFinished
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import ReproductionFolder, RunFolder
from middlemark.suite import Inventory, Machine
from middlemark.suite.papers import Extent, LoadedPaper, load_paper
from staged import own_machine
from staged_paper import stage_paper


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadedPaper:
    own_machine(tmp_path, monkeypatch)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    return load_paper(str(stage_paper(tmp_path / "paper")))


def stored(run: RunFolder) -> list[str]:
    return [each.id for each in run.stored_trials()]


def test_what_is_not_installed_is_left_out_with_the_reason(paper: LoadedPaper) -> None:
    planned = plan_paper(paper, Extent.FULL)
    assert list(planned.orders) == ["messages"]
    assert planned.not_run == {"elsewhere": "none of its middlewares is installed"}
    assert planned.not_installed.keys() == {"other"}
    assert {trial.experiment.middleware for trial in planned.trials} == {"fake"}
    assert len(planned.experiments("messages")) == 2
    assert planned.experiments("elsewhere") == ()
    assert len(planned.trials) == 8
    assert planned.duration_ns == planned.duration_of_ns("messages") > 0


def test_a_suite_without_its_machines_is_never_run(paper: LoadedPaper, tmp_path: Path) -> None:
    on_hosts = dict(paper.texts) | {"messages.yaml": paper.texts["messages.yaml"] + "topologies: [D1-1]\n"}
    inventory = Inventory(machines=(Machine(ssh="car"),))
    planned = plan_paper(replace(paper, texts=on_hosts), Extent.QUICK, inventory)
    assert planned.orders == {}
    assert planned.not_run["messages"] == "D1-1: it has 2 hosts, and the inventory has 1 machine"
    reproduce_new(tmp_path / "out", planned)
    assert ReproductionFolder(tmp_path / "out").read().machines == inventory.machines
    resume_paper(ReproductionFolder(tmp_path / "out"))
    assert not (tmp_path / "out/messages").exists()


def test_a_paper_runs_into_a_folder_and_goes_on_where_trials_are_missing(paper: LoadedPaper, tmp_path: Path) -> None:
    reproduce_new(tmp_path / "out", plan_paper(paper, Extent.QUICK))
    folder = ReproductionFolder(tmp_path / "out")
    stated = folder.read()
    assert stated.paper == paper
    assert stated.not_run.keys() == {"elsewhere"}
    run = folder.stored_runs(stated)["messages"]
    trials = stored(run)
    assert len(trials) == 3
    run.trial(trials[1]).record_path.unlink()
    resume_paper(folder)
    assert stored(run) == trials


def test_a_suite_that_had_not_begun_is_run_on_resume(paper: LoadedPaper, tmp_path: Path) -> None:
    stated = Reproduction(extent=Extent.QUICK, texts=dict(paper.texts), started_at="2026-01-31T12:00:00+00:00")
    folder = ReproductionFolder.created(tmp_path / "out", stated)
    assert folder.stored_runs(stated) == {}
    resume_paper(folder)
    assert len(stored(folder.stored_runs(stated)["messages"])) == 3


def test_a_folder_that_has_one_is_not_written_over(paper: LoadedPaper, tmp_path: Path) -> None:
    planned = plan_paper(paper, Extent.QUICK)
    reproduce_new(tmp_path / "out", planned)
    with pytest.raises(StoreError, match="already contains a reproduced paper"):
        reproduce_new(tmp_path / "out", planned)


@dataclass
class TimeLeft:
    """What an observer is told of the time left."""

    seconds: list[float] = field(default_factory=list)

    def observe(self, event: Event) -> None:
        if isinstance(event, TrialFinished):
            self.seconds.append(event.seconds_left)


def test_the_time_left_includes_the_suites_to_come(
    paper: LoadedPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan_paper(paper, Extent.QUICK)
    planned = replace(planned, orders=dict.fromkeys(("messages", "elsewhere"), planned.orders["messages"]))
    ended = TrialFinished(TrialRecord(trial=planned.trials[0], outcome=Valid()), None, 1.0, seconds_left=2.0)
    monkeypatch.setattr(reproduction, "run_new", lambda _path, _order, observer: observer.observe(ended))
    told = TimeLeft()
    reproduce_new(tmp_path / "out", planned, told)
    assert told.seconds == [2 + planned.duration_of_ns("elsewhere") / 1e9, 2]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("paper.yaml", "paper: x", "its paper can't be read"),
        ("paper.yaml", ": no YAML [", "its paper can't be read"),
        ("latency.csv", "nothing", "its paper can't be read"),
    ],
)
def test_a_hostile_folder_is_refused(paper: LoadedPaper, tmp_path: Path, name: str, text: str, problem: str) -> None:
    stated = Reproduction(extent=Extent.QUICK, texts=dict(paper.texts), started_at="2026-01-31T12:00:00+00:00")
    folder = ReproductionFolder.created(tmp_path / "out", stated)
    document = json.loads(folder.file_path.read_text())
    document["texts"][name] = text
    folder.file_path.write_text(json.dumps(document))
    with pytest.raises(StoreError, match=problem):
        folder.read()


def test_a_run_folder_is_no_reproduced_paper(paper: LoadedPaper, tmp_path: Path) -> None:
    run_new(tmp_path / "run", plan_paper(paper, Extent.QUICK).orders["messages"])
    with pytest.raises(StoreError, match="it is no reproduced paper"):
        ReproductionFolder(tmp_path / "run").read()
