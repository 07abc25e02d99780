"""A run of many settings is told in one table: who leads where, and by how much."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.conclusions.headline import answer
from middlemark.report.conclusions.over_settings import Standings, standings
from middlemark.report.elements.labels import series_by_experiment
from middlemark.suite import Delivery
from run_builder import build_run

SUITE = """
suite: told
trials: 6
middlewares: all
workloads: {workload: imu, size: [1 kB, 2 kB], windows: {window: 1 s}}
"""


def told(path: Path, **behaviours: Behaviour) -> Standings | None:
    findings = analyse(build_run(path / "run", SUITE, behaviours))
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    return standings(findings.comparisons, [answer(each, who) for each in findings.comparisons], who)


def test_who_leads_in_every_setting_is_told_with_how_far_behind_the_others_are(tmp_path: Path) -> None:
    whole = told(
        tmp_path,
        floor=Behaviour(latency_ns=10_000, library="none"),
        fast=Behaviour(latency_ns=20_000),
        slow=Behaviour(latency_ns=80_000),
    )
    assert whole is not None
    assert whole.sentence == "Of 2 settings: in 2 one leads significantly."
    rows = {row[0]: row[2:] for row in whole.table.lines}
    assert rows.keys() == {"fast", "slow"}  # baselines don't count
    assert rows["fast"] == ("2", "0", "0", "0", "0", "1.00\u202f×")
    assert rows["slow"][:5] == ("0", "0", "2", "0", "0")
    assert 3.5 < float(rows["slow"][5].split("\u202f")[0]) < 4.5


def test_what_cannot_be_told_apart_ties_and_what_loses_is_not_ranked(tmp_path: Path) -> None:
    whole = told(
        tmp_path,
        one=Behaviour(latency_ns=20_000),
        other=Behaviour(latency_ns=20_000),
        leaky=Behaviour(latency_ns=5_000, loss=0.2),
    )
    assert whole is not None
    rows = {row[0]: row[2:] for row in whole.table.lines}
    assert rows["leaky"] == ("0", "0", "0", "0", "2", "–")
    assert int(rows["one"][1]) + int(rows["one"][2]) + int(rows["one"][0]) == 2
    assert whole.sentence.startswith("Of 2 settings: in ")


def test_the_delivery_of_each_is_told(tmp_path: Path) -> None:
    whole = told(tmp_path, called=Behaviour(), polling=Behaviour(delivery=Delivery.POLLING))
    assert whole is not None
    assert {row[0]: row[1] for row in whole.table.lines} == {"called": "library_thread", "polling": "polling"}


def test_a_run_of_baselines_alone_has_none(tmp_path: Path) -> None:
    assert told(tmp_path, floor=Behaviour(library="none")) is None
