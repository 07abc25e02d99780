"""The answer in words: who wins, by how much, and when nothing can be told."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.plan import NotApplicable
from middlemark.report.conclusions.headline import Answer, answer, interval_words
from middlemark.report.elements.labels import distinguishing, series_by_experiment
from middlemark.suite import Delivery
from run_builder import build_run

SUITE = """
suite: told
trials: 4
middlewares: all
workloads: [{workload: imu, windows: {window: 1 s}}]
"""


def all_told(path: Path, suite: str = SUITE, **behaviours: Behaviour) -> list[Answer]:
    findings = analyse(build_run(path / "run", suite, behaviours))
    who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
    varying = distinguishing(findings.comparisons)
    return [answer(comparison, who, varying) for comparison in findings.comparisons]


def told(path: Path, suite: str = SUITE, **behaviours: Behaviour) -> Answer:
    (said,) = all_told(path, suite, **behaviours)
    return said


def test_the_winner_is_named_with_its_figure_its_lead_and_the_machines_limit(tmp_path: Path) -> None:
    said = told(
        tmp_path,
        floor=Behaviour(latency_ns=10_000, library="none"),
        fast=Behaviour(latency_ns=20_000),
        slow=Behaviour(latency_ns=80_000),
    )
    assert said.headline == "fast has the lowest latency"
    assert said.load == "1 kB at 200 Hz, periodic, best effort, C1-1"
    figure, lead, limit = said.sentences
    assert figure.startswith("Its median one-way latency is ")
    assert "over 4 trials" in figure
    assert lead.startswith("The next that is significantly different, slow, takes ")
    assert limit.startswith("It takes ")
    assert limit.endswith("as the best baseline, floor.")


def test_equals_tie_and_neither_wins(tmp_path: Path) -> None:
    said = told(tmp_path, one=Behaviour(), two=Behaviour())
    assert {who.label for who in said.winners} == {"one", "two"}
    assert said.headline.endswith("tie for the lowest latency")
    assert said.sentences[1] == "No other differs significantly from it."


def test_like_is_ranked_beside_like_and_each_delivery_has_an_answer_of_its_own(tmp_path: Path) -> None:
    answers = all_told(
        tmp_path,
        called=Behaviour(latency_ns=80_000),
        heard=Behaviour(latency_ns=40_000),
        floor=Behaviour(latency_ns=10_000, library="none", delivery=Delivery.POLLING),
        never=Behaviour(outcome=NotApplicable(capability="size_bytes", reason="too large")),
        polling=Behaviour(latency_ns=20_000, delivery=Delivery.POLLING),
    )
    assert {said.load.split(", ")[-1]: said.headline for said in answers} == {
        "delivery library thread": "heard has the lowest latency",
        "delivery polling": "Only polling could be ranked beside the baselines",
    }
    by_delivery = {said.load.split(", ")[-1]: " ".join(said.sentences) for said in answers}
    assert "floor" not in by_delivery["delivery library thread"]
    assert "as the best baseline, floor" in by_delivery["delivery polling"]


def test_who_alone_has_a_delivery_is_said_to_have_it(tmp_path: Path) -> None:
    polling = Behaviour(delivery=Delivery.POLLING)
    headlines = [said.headline for said in all_told(tmp_path, called=Behaviour(), polling=polling)]
    assert headlines == ["Only called has the delivery library_thread", "Only polling has the delivery polling"]


def test_a_single_candidate_has_the_lowest_of_nothing(tmp_path: Path) -> None:
    said = told(tmp_path, one=Behaviour())
    assert said.headline == "Only one was measured"
    assert len(said.sentences) == 1


def test_a_candidate_whose_others_could_not_be_ranked_beats_nobody(tmp_path: Path) -> None:
    said = told(tmp_path, one=Behaviour(), two=Behaviour(loss=0.9))
    assert said.headline == "Only one could be ranked"
    assert said.sentences[1] == "The table says why the others could not be ranked."


def test_baselines_alone_are_compared_with_each_other(tmp_path: Path) -> None:
    said = told(
        tmp_path, one=Behaviour(latency_ns=10_000, library="none"), two=Behaviour(latency_ns=90_000, library="none")
    )
    assert said.headline == "one has the lowest latency"


def test_where_nothing_is_ranked_there_is_no_answer(tmp_path: Path) -> None:
    said = told(tmp_path, one=Behaviour(loss=0.9))
    assert (said.headline, said.winners) == ("No answer", ())


def test_one_block_tells_nothing_apart(tmp_path: Path) -> None:
    suite = SUITE.replace("trials: 4", "trials: 1")
    said = told(tmp_path, suite, one=Behaviour(latency_ns=1_000), two=Behaviour(latency_ns=900_000))
    assert said.headline == "one has the lowest latency of 2, but 1 trial of each can't decide"
    assert said.sentences[0].endswith("(one trial).")


def test_what_an_interval_means_depends_on_how_many_trials_there_are(tmp_path: Path) -> None:
    few = analyse(build_run(tmp_path / "few", SUITE, {"one": Behaviour()}))
    many = analyse(build_run(tmp_path / "many", SUITE.replace("trials: 4", "trials: 7"), {"one": Behaviour()}))
    assert "at most 88 % of cases" in interval_words(few)
    assert interval_words(many) == "A confidence interval holds the true median in 95 % of cases."
