"""A pipeline over a middleware with a known delay: the time from end to end splits into what was asked for, with no rest."""

import json
import subprocess
import sys

import polars as pl
import pytest

from middlemark.plan import Valid
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.worker import executables

pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif("synthetic" not in executables.workers(), reason="the worker `synthetic` is not built"),
]

MS = 1_000_000
DELAY_NS = 10 * MS
MIDDLEMARK = [sys.executable, "-c", "from middlemark.cli.main import main; main()"]
NODES = [
    {"node": "sense", "rate": "50 Hz", "compute": "1 ms", "outputs": [{"stream": "raw", "size": "1 kB"}]},
    {"node": "refine", "inputs": ["raw"], "compute": "3 ms", "outputs": [{"stream": "fine", "size": "1 kB"}]},
    {"node": "decide", "rate": "20 Hz", "inputs": ["fine"], "compute": "2 ms"},
]
CHAINS = [{"chain": "whole", "path": ["sense", "refine", "decide"], "deadline": "100 ms"}]


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> TrialFolder:
    folder = tmp_path_factory.mktemp("nodes")
    suite = {
        "suite": "nodes",
        "trials": 1,
        "middlewares": [{"middleware": "synthetic", "options": {"distribution": "fixed", "delay_ns": DELAY_NS}}],
        "workloads": [{"workload": "stack", "pattern": "pipeline", "nodes": NODES, "chains": CHAINS}],
        "windows": {"warm_up": "50 ms", "window": "1 s", "drain": "500 ms"},
        "disturbance": {"steal": "100 %"},
    }
    (folder / "suite.yaml").write_text(json.dumps(suite))
    command = [*MIDDLEMARK, "run", str(folder / "suite.yaml"), "--out", str(folder / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    (trial,) = RunFolder(folder / "run").stored_trials()
    assert trial.read_record().outcome == Valid(), (trial.read_record().outcome, done.stderr)
    return trial


def chain(trial: TrialFolder) -> pl.DataFrame:
    """Each row a message of the source that came to the end, with all instants on its way."""
    executions, outputs = trial.read_executions(), trial.read_outputs()
    rows = executions.filter(pl.col("node") == 0).select("execution", started_0="started_ns")
    for stream in (0, 1):
        sent = outputs.filter(pl.col("stream") == stream).select("execution", "sequence", sent="sent_ns")
        taken = trial.read_inputs().filter(pl.col("stream") == stream)
        rows = rows.join(sent, on="execution").drop("execution").rename({"sent": f"sent_{stream}"})
        received = taken.select("sequence", "execution", "sent_ns", received="received_ns")
        rows = rows.join(received, on="sequence").rename({"received": f"received_{stream}"})
        assert (rows["sent_ns"] == rows[f"sent_{stream}"]).all()
        own = executions.filter(pl.col("node") == stream + 1)
        columns = {f"started_{stream + 1}": "started_ns", f"computed_{stream + 1}": "computed_ns"}
        rows = rows.drop("sequence", "sent_ns").join(own.select("execution", **columns), on="execution")
    return rows


def test_every_node_ran_as_often_as_its_trigger_says(trial: TrialFolder) -> None:
    nodes = {each.node: each for each in trial.read_record().nodes}
    assert list(nodes) == ["sense", "refine", "decide"]
    assert nodes["sense"].executions == pytest.approx(50, abs=1)
    assert nodes["refine"].executions == pytest.approx(50, abs=2)
    assert nodes["decide"].executions + nodes["decide"].skipped == 20
    assert all(each.first_execution_after_ns is not None and each.unrecorded == 0 for each in nodes.values())
    triggers = trial.read_executions().group_by("node", maintain_order=True).agg(pl.col("trigger").unique())
    assert dict(triggers.iter_rows()) == {0: ["source"], 1: ["message"], 2: ["timer"]}


def test_what_a_timer_did_not_take_is_accounted_for(trial: TrialFolder) -> None:
    decide = next(each for each in trial.read_record().nodes if each.node == "decide")
    (fine,) = decide.inputs
    received = trial.read_received().filter(pl.col("stream") == 1)
    within = received.filter(pl.col("received_ns") < (trial.read_record().window or pytest.fail("no window")).end_ns)
    # The last of them may still wait, and so may one that came before the window, which is not of its messages.
    assert len(within) - 2 <= fine.taken + fine.passed_over <= len(within)
    assert fine.taken == len(trial.read_inputs().filter(pl.col("stream") == 1))
    assert fine.overflowed == 0


def test_end_to_end_time_is_delay_computation_and_wait_for_the_timer(trial: TrialFolder) -> None:
    rows = chain(trial)
    assert len(rows) >= 15
    for stream in (0, 1):
        communication = rows[f"received_{stream}"] - rows[f"sent_{stream}"]
        assert DELAY_NS <= communication.min() < DELAY_NS + 2 * MS
    first, second, last = (
        rows["sent_0"] - rows["started_0"],
        rows["sent_1"] - rows["started_1"],
        rows["computed_2"] - rows["started_2"],
    )
    for spent, asked_ms in ((first, 1), (second, 3), (last, 2)):
        # Never less than asked for; how much more is a matter of who else wants the CPUs.
        assert asked_ms * MS <= spent.min() < (asked_ms + 1) * MS
    waits = (rows["started_1"] - rows["received_0"], rows["started_2"] - rows["received_1"])
    assert all(wait.min() >= 0 for wait in waits)
    # Of the messages that come between two of the timer's instants only the newest is taken.
    assert waits[1].median() < 30 * MS
