"""What is decided from results on a fleet is what one machine decides, and a search stays where it began."""

from pathlib import Path

import pytest

from fleets import fleet
from middlemark.analysis.metrics.stored import read_result
from middlemark.analysis.search.stopping import next_trials
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.front import connected
from middlemark.campaign.order import order_suite
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from staged import install_worker_that_carries, suite_text

SEARCH = "{lowest: 20 Hz, highest: 200 Hz, precision: 50 %, latency: 1 s, confirm: 1}"
TEXT = suite_text().replace(
    "workloads: [", f"workloads: [{{workload: stream, pattern: capacity, size: 100 B, search: {SEARCH}}}, "
)


@pytest.mark.timeout(300)  # a dozen trials after one another, each a campaign of its own
def test_a_search_on_a_fleet_takes_the_steps_of_one_machine(tmp_path: Path) -> None:
    install_worker_that_carries(50, tmp_path / "workers")
    suite = parse_suite(TEXT, file="staged.yaml")
    order = order_suite(LoadedSuite(file="staged.yaml", text=TEXT, suite=suite), [], 2)
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
    assert not next_trials(suite, manifest.trials, results).trials, "what is stored decides that it is at its end"
