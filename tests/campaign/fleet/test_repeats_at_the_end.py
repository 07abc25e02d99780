"""What was disturbed is repeated once more at the end, on the test-bed that measured its block, and nowhere else."""

import threading
from pathlib import Path

import pytest

from fleets import PATIENCE_S, PATIENT, TestFleet, fleet, until
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.front import connected
from middlemark.campaign.progress import CampaignTrials
from middlemark.plan import Invalid, Trial, WarningKind
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from staged import placed, suite_text

pytestmark = PATIENT
STOLEN = suite_text(more="disturbance: {steal: 1 %, repeats: 1}", fault="reports_steal", faulty="subscriber_0")


def measured(folder: Path, beds: TestFleet, text: str = STOLEN) -> TrialRecord:
    """The only trial of a run over the fleet."""
    run_new(folder / "run", placed(text), None, lambda run: connected(beds.address, run, None))
    (record,) = [each.read_record() for each in RunFolder(folder / "run").stored_trials()]
    return record


def test_a_disturbed_trial_is_repeated_where_its_block_was_measured(tmp_path: Path) -> None:
    with fleet(tmp_path, "one", "two", "three") as beds:
        record = measured(tmp_path, beds)
    assert isinstance(record.outcome, Invalid)
    assert record.attempt == 3
    kinds = [each.kind for each in record.warnings]
    assert WarningKind.REPEATED in kinds
    assert WarningKind.ELSEWHERE not in kinds
    assert set(RunFolder(tmp_path / "run").read_manifest().testbeds) == {record.testbed}


def test_a_disturbed_trial_of_a_test_bed_that_has_gone_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_repeat = CampaignTrials.to_repeat
    lost: list[str] = []
    with fleet(tmp_path, "one", "two") as beds:

        def to_repeat_after_loss(trials: CampaignTrials, repeats: int) -> list[Trial]:
            (trial,) = to_repeat(trials, repeats)
            lost.append(str(trials.run_folder.trial(trial.id).read_record().testbed))
            beds.testbeds[lost[0]].terminate()
            beds.testbeds[lost[0]].join(PATIENCE_S)
            return [trial]

        monkeypatch.setattr(CampaignTrials, "to_repeat", to_repeat_after_loss)
        record = measured(tmp_path, beds)
    assert isinstance(record.outcome, Invalid)
    assert (record.attempt, [record.testbed]) == (2, lost)


def test_a_block_whose_test_beds_have_all_gone_is_measured_by_one_that_joins_later(tmp_path: Path) -> None:
    with fleet(tmp_path, "doomed") as beds:

        def replace() -> None:
            until(lambda: beds.measures("doomed"), "no block came to the test-bed")
            beds.testbeds["doomed"].kill()
            beds.testbeds["doomed"].join(PATIENCE_S)
            beds.join("later")

        replacer = threading.Thread(target=replace)
        replacer.start()
        record = measured(tmp_path, beds, suite_text())
        replacer.join()
    assert record.testbed == "later"
    assert WarningKind.ELSEWHERE in {each.kind for each in record.warnings}
