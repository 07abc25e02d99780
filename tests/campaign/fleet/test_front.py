"""A campaign over a fleet: each block whole on one test-bed, whatever is lost on the way."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from distributed import Client, Future

import prepared
from command_line import middlemark
from fleets import PATIENCE_S, PATIENT, TestFleet, connections, fleet, until
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.campaign.fleet import testbed
from middlemark.campaign.fleet.front import connected
from middlemark.errors import EnvironmentNotReady
from middlemark.plan import WarningKind
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from staged import placed, suite_text

pytestmark = PATIENT
Task = Callable[..., object]
BLOCKS = suite_text(topology="[C1-1, C1-2]").replace("trials: 1", "trials: 4")


def measured(folder: Path, beds: TestFleet) -> list[TrialRecord]:
    run_new(folder / "run", placed(BLOCKS), None, lambda run: connected(beds.address, run, None))
    return [each.read_record() for each in RunFolder(folder / "run").stored_trials()]


def names_by_block(records: list[TrialRecord]) -> dict[int, set[str | None]]:
    found = defaultdict(set)
    for record in records:
        found[record.trial.block].add(record.testbed)
    return found


def test_each_block_is_measured_as_a_whole_on_one_test_bed(tmp_path: Path) -> None:
    with fleet(tmp_path, "one", "two") as beds:
        records = measured(tmp_path, beds)
        until(lambda: not list(tmp_path.glob("tmp-*/*/block.tar")), "a test-bed keeps what the front has")
    assert [record.outcome.kind for record in records] == ["valid"] * 8
    by_block = names_by_block(records)
    assert [len(names) for names in by_block.values()] == [1] * 4
    assert set().union(*by_block.values()) == {"one", "two"}
    assert set(RunFolder(tmp_path / "run").read_manifest().testbeds) == {"one", "two"}
    assert not list((tmp_path / "run").glob("arriving"))
    for name in beds.testbeds:
        assert not list(beds.place(name).glob("middlemark-block-*")), "a test-bed that has left keeps no block"


def test_a_killed_test_bed_loses_nothing_as_its_block_begins_anew(tmp_path: Path) -> None:
    with fleet(tmp_path, "one", "doomed") as beds:

        def kill() -> None:
            until(lambda: beds.measures("doomed"), "no block came to the test-bed")
            beds.testbeds["doomed"].kill()

        killer = threading.Thread(target=kill)
        killer.start()
        records = measured(tmp_path, beds)
        killer.join()
    assert [record.outcome.kind for record in records] == ["valid"] * 8
    again = [record for record in records if WarningKind.ELSEWHERE in {each.kind for each in record.warnings}]
    assert {record.testbed for record in again} == {"one"}
    assert len({record.trial.block for record in again}) == 1


def test_a_test_bed_that_hangs_loses_nothing_and_counts_for_nothing_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "10s")
    with fleet(tmp_path, "one", "hung") as beds:

        def hang() -> None:
            until(lambda: beds.measures("hung"), "no block came to the test-bed")
            os.kill(beds.testbeds["hung"].pid, signal.SIGSTOP)

        hanger = threading.Thread(target=hang)
        hanger.start()
        try:
            records = measured(tmp_path, beds)
            hanger.join()
        finally:
            os.kill(beds.testbeds["hung"].pid, signal.SIGCONT)
        beds.testbeds["hung"].join(PATIENCE_S)
        assert beds.testbeds["hung"].exitcode == 0, "its scheduler knows it no more"
    assert [record.outcome.kind for record in records] == ["valid"] * 8
    again = [record for record in records if WarningKind.ELSEWHERE in {each.kind for each in record.warnings}]
    assert again
    assert {record.testbed for record in again} == {"one"}
    assert [len(names) for names in names_by_block(records).values()] == [1] * 4


def test_test_beds_that_go_while_their_block_is_fetched_end_no_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit, names = Client.submit, ["a", "b", "c", "stays"]
    lost: list[str] = []
    with fleet(tmp_path, *names) as beds:

        def submit_after_loss(
            client: Client, task: Task, *arguments: object, workers: list[str], **options: object
        ) -> Future[object]:
            if task is testbed.piece and len(lost) < 3:
                lost.append(beds.kill_at(workers[0]))
            return submit(client, task, *arguments, workers=workers, **options)

        monkeypatch.setattr(Client, "submit", submit_after_loss)
        run_new(tmp_path / "run", placed(suite_text()), None, lambda run: connected(beds.address, run, None))
    (record,) = [each.read_record() for each in RunFolder(tmp_path / "run").stored_trials()]
    assert len(set(lost)) == 3
    assert {record.testbed} == set(names) - set(lost)
    assert WarningKind.ELSEWHERE in {each.kind for each in record.warnings}


def test_a_test_bed_listens_for_its_fleet_and_for_nobody_else(tmp_path: Path) -> None:
    with fleet(tmp_path, "one") as beds:
        sockets = connections(beds.testbeds["one"].pid)
    assert len({socket.laddr.port for socket in sockets if socket.status == psutil.CONN_LISTEN}) == 1


def test_a_front_that_was_killed_is_resumed_with_whole_blocks(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BLOCKS)
    with fleet(tmp_path, "one", "two") as beds:
        words = ("run", tmp_path / "suite.yaml", "--out", tmp_path / "run", "--fleet", beds.address)
        front = prepared.start(prepared.FRONT, words, tmp_path / "front.log")
        until(lambda: any(RunFolder(tmp_path / "run").stored_trials()), "no block came back")
        front.kill()
        front.join()
        before = [folder.id for folder in RunFolder(tmp_path / "run").stored_trials()]
        resume_run(tmp_path / "run", connect=lambda run: connected(beds.address, run, None))
    records = [each.read_record() for each in RunFolder(tmp_path / "run").stored_trials()]
    assert 0 < len(before) < len(records) == 8
    assert [len(names) for names in names_by_block(records).values()] == [1] * 4


def test_a_front_may_leave_and_another_brings_in_what_was_measured_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BLOCKS)
    run, options = tmp_path / "run", ("--json", "--fleet")
    with fleet(tmp_path, "one", "two") as beds:
        left = middlemark("run", tmp_path / "suite.yaml", "--out", run, "--detach", *options, beds.address)
        assert json.loads(left.stdout) == {"run": str(run), "blocks": 4}
        assert not list(RunFolder(run).stored_trials())
        until(lambda: len(list(tmp_path.glob("tmp-*/*/block.tar"))) == 4, "nobody measures without a front")
        assert middlemark("run", "--attach", run, *options, beds.address).returncode == 0
        until(lambda: not list(tmp_path.glob("tmp-*/*/block.tar")), "a test-bed keeps what the front has")
    records = [each.read_record() for each in RunFolder(run).stored_trials()]
    assert [record.outcome.kind for record in records] == ["valid"] * 8
    again = [record for record in records if WarningKind.ELSEWHERE in {each.kind for each in record.warnings}]
    assert not again, "a block was measured once"


def test_what_a_lost_test_bed_had_measured_for_nobody_is_measured_anew(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BLOCKS)
    run = tmp_path / "run"
    with fleet(tmp_path, "doomed") as beds:
        left = middlemark("run", tmp_path / "suite.yaml", "--out", run, "--detach", "--fleet", beds.address)
        assert f"middlemark run --attach {run} --fleet" in left.stdout
        until(lambda: any(tmp_path.glob("tmp-doomed/*/block.tar")), "nobody measures without a front")
        beds.testbeds["doomed"].kill()
        beds.testbeds["doomed"].join()
        beds.join("other")
        resume_run(run, connect=lambda run: connected(beds.address, run, None))
    records = [each.read_record() for each in RunFolder(run).stored_trials()]
    assert [record.outcome.kind for record in records] == ["valid"] * 8
    assert {record.testbed for record in records} == {"other"}


def test_a_run_is_left_to_a_fleet_alone(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BLOCKS)
    ended = middlemark("run", tmp_path / "suite.yaml", "--detach")
    assert (ended.returncode, "--fleet ADDRESS" in ended.stderr) == (2, True)


def test_a_test_bed_of_another_build_measures_nothing(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    worker = Path(os.environ["MIDDLEMARK_WORKERS"], "middlemark-worker-fake")
    (other / worker.name).write_text(worker.read_text() + "\n# of another day\n")
    (other / worker.name).chmod(0o755)
    (other / f"{worker.name}.lib").symlink_to(worker.with_name(f"{worker.name}.lib"))
    with fleet(tmp_path, "one") as beds:
        beds.join("old", MIDDLEMARK_WORKERS=str(other))
        records = measured(tmp_path, beds)
    assert {record.testbed for record in records} == {"one"}


def test_a_scheduler_without_test_beds_says_how_one_joins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.campaign.fleet.roster.JOINED_WITHIN_S", 1.0)
    with fleet(tmp_path) as beds, pytest.raises(EnvironmentNotReady, match="middlemark testbed join tcp://"):
        measured(tmp_path, beds)


def test_where_no_scheduler_answers_it_says_so(tmp_path: Path) -> None:
    words = ("testbed", "join", "tcp://127.0.0.1:9", "--death-timeout", 1)
    testbed = prepared.start(prepared.FRONT, words, tmp_path / "log")
    testbed.join(PATIENCE_S)
    assert testbed.exitcode == 3
    told = (tmp_path / "log").read_text()
    assert "tcp://127.0.0.1:9" in told
    assert "Traceback" not in told


def test_without_a_fleet_nothing_of_dask_is_loaded() -> None:
    text = "import sys, middlemark.cli.main, middlemark.campaign.campaign; sys.exit('dask' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", text), check=False).returncode == 0
