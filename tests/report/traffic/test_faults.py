"""What faults did is told apart from loss, in figures, in words and over time."""

import shutil
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from behaviour import BEGIN_NS, Behaviour
from known_suites import PAUSED_SUBSCRIBERS
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.terminal import print_summary
from middlemark.report.traffic.faults import fault_sentence, fault_table, flow_words, timeline_words
from middlemark.results.record import HappenedFault, TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder
from report_page import specs as page_specs
from run_builder import build_run

MS = 1_000_000


def strike(folder: TrialFolder, gap_ns: int) -> TrialRecord:
    """The faults happen 2 ms late, and nothing is received for a while after the first."""
    record, received = folder.read_record(), folder.read_received()
    faults = tuple(
        HappenedFault(
            action=event.action,
            target=event.target,
            asked_ns=event.at_ns,
            began_ns=BEGIN_NS + event.at_ns + 2 * MS,
            done_ns=BEGIN_NS + event.at_ns + 3 * MS,
        )
        for event in record.trial.experiment.timeline
    )
    since_ns = faults[0].began_ns
    kept = received.filter(~pl.col("received_ns").is_between(since_ns, since_ns + gap_ns))
    counts = record.counts.model_copy(
        update={
            "subscribers": tuple(
                each.model_copy(update={"received": len(kept.filter(pl.col("subscriber") == each.subscriber))})
                for each in record.counts.subscribers
            )
        }
    )
    folder.write_samples(kept, folder.read_published())
    struck = record.model_copy(
        update={"faults": faults, "counts": counts, "memory_growth_bytes": {"publisher_0": 3 << 20}}
    )
    folder.write_record(struck)
    return struck


@pytest.fixture(scope="module")
def struck(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = build_run(
        tmp_path_factory.mktemp("struck") / "run",
        PAUSED_SUBSCRIBERS,
        {"brief": Behaviour(), "lasting": Behaviour(latency_ns=90_000)},
    )
    for trial in folder.stored_trials():
        strike(trial, 1500 * MS if "lasting" in trial.id else 500 * MS)
    return folder


@pytest.fixture(scope="module")
def findings(struck: RunFolder) -> RunFindings:
    return analyse(struck)


@pytest.fixture
def run(struck: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy, to be struck once more."""
    return RunFolder(shutil.copytree(struck.path, tmp_path / "run"))


def test_missing_messages_gaps_recovery_and_growth_are_in_the_table(findings: RunFindings) -> None:
    (comparison,) = findings.comparisons
    table = fault_table(
        comparison, series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    )
    assert table is not None
    rows = {row[0]: row[2:] for row in table.lines}
    assert rows["brief"][0].startswith(("12", "13"))  # 500 ms of 4 s
    assert rows["lasting"][0].startswith(("37", "38"))
    assert float(rows["brief"][1].split()[0]) < 10  # it flowed again when the pause was over
    assert rows["lasting"][1].startswith("1\u202f00")
    assert rows["lasting"][2].startswith("1\u202f50")
    assert rows["brief"][4] == "3.00"


def test_a_flow_that_never_came_back_has_no_end_of_its_recovery(run: RunFolder) -> None:
    for trial in run.stored_trials():
        strike(trial, 1500 * MS if "lasting" in trial.id else 60_000 * MS)
    findings = analyse(run)
    (comparison,) = findings.comparisons
    table = fault_table(
        comparison, series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    )
    assert table is not None
    rows = {row[0]: row[2:] for row in table.lines}
    assert rows["brief"][1].startswith("over 2\u202f49")
    assert rows["lasting"][1].startswith("1\u202f00")
    (brief,) = [each for each in findings.experiments if each.experiment.middleware == "brief"]
    said = fault_sentence(brief, comparison, "brief")
    assert "some flows were still cut off when the window ended, 2\u202f498 ms after" in said


def test_a_middleware_that_lost_most_messages_to_a_fault_has_no_median(run: RunFolder) -> None:
    for trial in run.stored_trials():
        strike(trial, 1500 * MS if "lasting" in trial.id else 60_000 * MS)
    brief, lasting = analyse(run).experiments
    assert brief.experiment.middleware == "brief"
    median = [each.estimate("stream:imu", "latency_from_send_p50_ns") for each in (brief, lasting)]
    assert [None if each is None else each.value is None for each in median] == [True, False]


def test_each_flow_has_a_row_of_its_own_and_each_subscriber_its_recovery(run: RunFolder) -> None:
    for trial in run.stored_trials():
        record = strike(trial, 500 * MS)
        received = trial.read_received()
        # The third subscriber never gets a message again.
        cut_off = (pl.col("subscriber") == 2) & (pl.col("received_ns") >= record.faults[0].began_ns)
        counts = tuple(
            each.model_copy(update={"received": len(received.filter(~cut_off & (pl.col("subscriber") == 2)))})
            if each.subscriber == 2
            else each
            for each in record.counts.subscribers
        )
        trial.write_samples(received.filter(~cut_off), trial.read_published())
        trial.write_record(
            record.model_copy(update={"counts": record.counts.model_copy(update={"subscribers": counts})})
        )
    findings = analyse(run)
    (comparison,) = findings.comparisons
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    table = fault_table(comparison, who, by_flow=True)
    assert table is not None
    assert table.headings[1:5] == ("delivery", "flow", "missing, %", "flow again after, ms")
    rows = {row[2]: row[3:] for row in table.lines if row[0] == "brief"}
    assert list(rows) == ["all", *(f"publisher_0 → subscriber_{number}" for number in range(3))]
    assert float(rows["publisher_0 → subscriber_0"][1].split()[0]) < 10
    assert rows["publisher_0 → subscriber_2"][1] == rows["all"][1]
    assert rows["all"][1].startswith("over 2\u202f49")
    (words,) = (line for line in flow_words(comparison, who) if line.startswith("brief"))
    assert "subscriber_2 over 2\u202f49" in words
    assert "subscriber_0 over" not in words


def test_the_timeline_shows_each_requested_fault_and_its_delay(findings: RunFindings) -> None:
    first, second = timeline_words(findings.comparisons[0])
    assert first == "1.00 s: pause of subscriber_0; it began 2.00 ms late, at most 2.00 ms, and took 1.00 ms"
    assert second.startswith("1.50 s: resume of subscriber_0")


def test_what_the_faults_took_is_no_loss_and_keeps_no_one_from_being_ranked(findings: RunFindings) -> None:
    console = Console(file=StringIO(), width=80)
    print_summary(findings.folder.path, console)
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert "brief has the lowest latency" in text
    assert "of its messages were missing" in " ".join(text.split())
    assert "loses" not in text
    assert "loss" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "faults: pause" in text


def test_arrivals_are_drawn_over_time_with_the_faults_as_rules(findings: RunFindings) -> None:
    page = render(findings)
    specs = page_specs(page)
    spec = next(spec for name, spec in specs.items() if name.endswith("-arrivals"))
    rows = [row for rows in spec["datasets"].values() for row in rows]
    silent = [row["s"] for row in rows if row.get("series") == "brief" and row["high"] == row["low"]]
    assert min(silent) == pytest.approx(1.0, abs=0.07)
    assert max(silent) == pytest.approx(1.5, abs=0.07)
    assert {row["fault"] for row in rows if "fault" in row} == {"pause subscriber_0", "resume subscriber_0"}
    assert "loss</th>" not in page
    assert ">publisher_0 → subscriber_2</span>" in page
    assert ">missing<small>%</small>" in page
