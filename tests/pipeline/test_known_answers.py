"""A middleware with a known answer goes through everything, from the suite to the report's figures.

What is lost, doubled and overtaken must be found exactly; delays within 1 % and the timer's error, which the worker
measures by itself and which is therefore no part of what is tested.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from command_line import middlemark
from fate import Fate, Program, fate
from middlemark.plan import Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from middlemark.worker import executables

pytestmark = [
    pytest.mark.timed,
    pytest.mark.worker,
    pytest.mark.skipif("synthetic" not in executables.workers(), reason="the worker `synthetic` is not built"),
]

MESSAGES = 2000
MS = 1_000_000


@dataclass(frozen=True)
class Run:
    folder: TrialFolder
    record: TrialRecord
    received: pl.DataFrame
    published: pl.DataFrame
    estimates: dict[str, float]
    fates: list[Fate]

    @property
    def lateness_ns(self) -> dict[str, int]:
        """How late the worker's timer released messages, as the worker has seen it."""
        logs = "".join(path.read_text() for path in self.folder.logs_path.glob("subscriber*"))
        return {name: int(value) for name, value in re.findall(r"lateness_(\w+)_ns (\d+)", logs)}


def run(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    options = asdict(program) | {"release_spin_ns": 100 * MS}
    suite = {
        "suite": "known",
        "trials": 1,
        "middlewares": [{"middleware": "synthetic", "options": options}],
        "workloads": [{"workload": "imu", "rate": "1 kHz", "size": "100 B"}],
        "windows": {"warm_up": "50 ms", "window": "2 s", "drain": "1 s"},
        "disturbance": {"steal": "100 %"},
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    done = middlemark("run", tmp_path / "suite.yaml", "--out", tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    (trial,) = folder.stored_trials()
    record = trial.read_record()
    assert record.outcome == Valid(), (record.outcome, done.stderr)
    summary = pl.read_parquet(folder.summary_path)
    estimates = {row["metric"]: row["estimate"] for row in summary.iter_rows(named=True)}
    fates = [fate(program, sequence) for sequence in range(MESSAGES)]
    return Run(trial, record, trial.read_received(), trial.read_published(), estimates, fates)


@pytest.mark.parametrize(
    "program",
    [
        Program("fixed", delay_ns=10 * MS),
        Program("uniform", delay_ns=10 * MS, jitter_ns=10 * MS),
        Program("normal", delay_ns=20 * MS, jitter_ns=4 * MS),
        Program("exponential", delay_ns=5 * MS, jitter_ns=5 * MS),
        Program("bimodal", delay_ns=10 * MS, jitter_ns=20 * MS, second_mode_per_million=30_000),
    ],
    ids=lambda program: program.distribution,
)
def test_a_programmed_delay_is_found_in_the_figures(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(program, tmp_path, monkeypatch)
    delays_ns = np.array([each.delay_ns for each in found.fates])
    for level, share, error_ns in [
        ("p50", 0.5, found.lateness_ns["p99"]),
        ("p99", 0.99, found.lateness_ns["max"]),
    ]:
        programmed_ns = float(np.quantile(delays_ns, share, method="inverted_cdf"))
        measured_ns = found.estimates[f"latency_from_send_{level}_ns"]
        assert programmed_ns * 0.99 <= measured_ns <= programmed_ns * 1.01 + error_ns, level


def test_every_lost_message_is_known_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(Program(delay_ns=2 * MS, loss_per_million=50_000), tmp_path, monkeypatch)
    lost = {sequence for sequence, each in enumerate(found.fates) if each.lost}
    assert 60 < len(lost) < 140
    assert set(range(MESSAGES)) - set(found.received["sequence"]) == lost
    (counts,) = found.record.counts.subscribers
    assert (counts.received, counts.duplicates) == (MESSAGES - len(lost), 0)
    assert found.estimates["loss_share"] == pytest.approx(len(lost) / MESSAGES)


def test_every_duplicate_is_counted_and_none_is_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(Program(delay_ns=2 * MS, duplicate_per_million=100_000), tmp_path, monkeypatch)
    doubled = sum(each.duplicated for each in found.fates)
    assert not found.fates[-1].duplicated, "the drain may end before the last message's second release"
    (counts,) = found.record.counts.subscribers
    assert (counts.duplicates, counts.received, len(found.received)) == (doubled, MESSAGES, MESSAGES)
    assert counts.duplicates_received_ns is not None
    assert len(counts.duplicates_received_ns) == doubled, "it is kept when each of them came"


def test_every_overtaken_message_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(delay_ns=2 * MS, reorder_per_million=100_000, reorder_delay_ns=20 * MS)
    found = run(program, tmp_path, monkeypatch)
    held_back = {sequence for sequence, each in enumerate(found.fates) if each.delay_ns > program.delay_ns}
    assert max(held_back) < MESSAGES - 1, "the last message has none behind it that could overtake it"
    order = found.received["sequence"].to_numpy().astype(np.int64)
    overtaken = set(order[order < np.maximum.accumulate(order)].tolist())
    (counts,) = found.record.counts.subscribers
    assert overtaken == held_back
    assert counts.reordered == len(held_back) > 100


def test_the_first_messages_come_when_it_was_programmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link begins after T0 and before its application has said that all its endpoints exist."""
    program = Program(delay_ns=2 * MS, first_message_ns=1500 * MS, first_full_message_ns=700 * MS)
    found = run(program, tmp_path, monkeypatch)
    began_ns, late_ns = found.record.initialised_after_ns["subscriber_0"], found.lateness_ns["max"]
    (first,) = found.record.first_message
    assert program.first_message_ns <= first.after_ns <= began_ns + program.first_message_ns + late_ns
    assert first.full_after_ns is not None
    assert first.full_after_ns >= first.after_ns + program.first_full_message_ns
    (match,) = found.record.matched
    assert match.after_ns < first.after_ns
    assert found.estimates["matched_ns"] == match.after_ns
    assert found.estimates["first_message_ns"] == first.after_ns
    assert found.estimates["first_full_message_ns"] == first.full_after_ns
    (counts,) = found.record.counts.subscribers
    assert (counts.received, counts.duplicates) == (MESSAGES, 0), "greetings count for nothing"
