"""What is decided from results on a fleet is what one machine decides, and a search stays where it began."""

from pathlib import Path

from fleets import PATIENT, fleet
from middlemark.analysis.metrics.stored import read_result
from middlemark.analysis.search.stopping import next_trials
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.front import connected
from middlemark.campaign.order import Order, order_suite
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, Suite, parse_suite
from staged import install_worker_that_carries, suite_text

pytestmark = PATIENT
SEARCH = "{lowest: 20 Hz, highest: 200 Hz, precision: 50 %, latency: 1 s, confirm: 1}"
SEARCHED = suite_text().replace(
    "workloads: [", f"workloads: [{{workload: stream, pattern: capacity, size: 100 B, search: {SEARCH}}}, "
)
STOPPED = suite_text(more="stop: {relative_width: 0.1 %, max_trials: 8, figures: [first_message]}")


def ordered(text: str, trials: int) -> Order:
    suite = parse_suite(text, file="staged.yaml")
    return order_suite(LoadedSuite(file="staged.yaml", text=text, suite=suite), [], trials)


def test_a_search_on_a_fleet_takes_the_steps_of_one_machine(tmp_path: Path) -> None:
    install_worker_that_carries(50, tmp_path / "workers")
    order = ordered(SEARCHED, 2)
    run_new(tmp_path / "alone", order)
    with fleet(tmp_path, "one", "two") as beds:
        run_new(tmp_path / "run", order, None, lambda run: connected(beds.address, run, None))
    run, alone = RunFolder(tmp_path / "run"), RunFolder(tmp_path / "alone")
    manifest = run.read_manifest()
    assert manifest.trials == alone.read_manifest().trials
    records = [folder.read_record() for folder in run.stored_trials()]
    assert [record.trial for record in records] == list(manifest.trials)
    assert len({record.testbed for record in records if record.trial.step}) == 1
    assert len([record for record in records if record.trial.step]) > 2
    results = [read_result(folder) for folder in run.stored_trials()]
    assert isinstance(order.definition, Suite)
    decided = next_trials(order.definition, manifest.trials, results).trials
    assert not decided, "what is stored decides that it is at its end"


def test_what_a_stop_decided_on_a_fleet_can_be_decided_again_from_what_is_stored(tmp_path: Path) -> None:
    order = ordered(STOPPED, 6)
    with fleet(tmp_path, "one", "two") as beds:
        run_new(tmp_path / "run", order, None, lambda run: connected(beds.address, run, None))
    run = RunFolder(tmp_path / "run")
    manifest = run.read_manifest()
    results = {folder.id: read_result(folder) for folder in run.stored_trials()}
    assert list(results) == [trial.id for trial in manifest.trials]
    assert isinstance(order.definition, Suite)
    trials = manifest.trials[:6]
    while more := next_trials(order.definition, trials, [results[trial.id] for trial in trials]).trials:
        trials = (*trials, *more)
    assert trials == manifest.trials
    assert [trial.block for trial in trials] == list(range(1, 9))
    (width,) = manifest.widths
    assert (width.figure, width.n_trials, width.settled) == ("first_message", 8, False)
