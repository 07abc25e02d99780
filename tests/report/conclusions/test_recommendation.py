"""A recommendation names a winner only where the figures do, says why each other is out, and is the same everywhere."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan import NoCommunication, NotApplicable
from middlemark.plan.trial.outcome import MissingPath
from middlemark.report.conclusions.recommendation import Recommendation, recommendation
from middlemark.report.output.html import render
from middlemark.report.output.markup import marked
from middlemark.report.output.terminal import print_summary
from middlemark.suite import Delivery
from run_builder import build_demand_run, build_run

AMR = """\
application: amr
trials: 6
window: 1 s
processes: [drivers, control]
streams:
  - {topic: imu, publishers: drivers, subscribers: control, size: 320 B, rate: 200 Hz, deadline: 5 ms}
  - {topic: scan, publishers: drivers, subscribers: control, size: 4 kB, rate: 100 Hz, deadline: 20 ms, within: p90}
"""
MS = 1_000_000


def judged(path: Path, text: str = AMR, **behaviours: Behaviour) -> Recommendation:
    return recommended(analyse(build_demand_run(path, text, behaviours)))


def recommended(findings: RunFindings) -> Recommendation:
    found = recommendation(findings)
    assert found is not None
    return found


def reasons(found: Recommendation) -> dict[str, str]:
    return dict(found.others)


def test_the_one_with_the_most_to_spare_is_recommended_with_its_margin(tmp_path: Path) -> None:
    found = judged(tmp_path, slow=Behaviour(latency_ns=2 * MS), fast=Behaviour(latency_ns=0.5 * MS))
    assert found.headline == "fast meets all requirements with the most to spare"
    assert found.sentences[0].startswith("Its tightest stream is imu: 99 % of its messages take at most ")
    assert "of the 5 ms allowed" in found.sentences[0]
    assert found.fitting is not None
    assert [(row[0], row[2], row[4]) for row in found.fitting.lines] == [("fast", "1", "imu"), ("slow", "2", "imu")]


def test_equals_are_a_tie_and_never_a_winner(tmp_path: Path) -> None:
    found = judged(tmp_path, one=Behaviour(latency_ns=MS), other=Behaviour(latency_ns=MS))
    assert found.headline.endswith("meet all requirements with no significant difference in what they have to spare")
    assert found.fitting is not None
    assert {row[2] for row in found.fitting.lines} == {"1–2"}


def test_a_recommendation_says_where_deliveries_differ(tmp_path: Path) -> None:
    polling = Behaviour(latency_ns=0.5 * MS, delivery=Delivery.POLLING)
    found = judged(tmp_path, called=Behaviour(latency_ns=2 * MS), polling=polling)
    assert found.headline == "polling meets all requirements with the most to spare; deliveries differ"
    assert found.sentences[-1] == "Deliveries differ: library_thread (called); polling (polling)."
    for table in (found.fitting, found.requirements):
        assert table is not None
        assert {row[0]: row[1] for row in table.lines} == {"called": "library_thread", "polling": "polling"}


def test_a_baseline_is_no_recommendation_where_anything_else_fits(tmp_path: Path) -> None:
    found = judged(tmp_path, raw=Behaviour(latency_ns=0.1 * MS, library="none"), real=Behaviour(latency_ns=MS))
    assert found.headline == "real alone meets all requirements"
    assert any(each.startswith("The machine's own limit, raw, has ") for each in found.sentences)


def test_the_cheapest_of_those_that_fit_is_named(tmp_path: Path) -> None:
    found = judged(tmp_path, thrifty=Behaviour(cpu_share=0.05), greedy=Behaviour(cpu_share=0.4))
    assert "Of those that fit, thrifty takes 10.0 % of one core of CPU time" in " ".join(found.sentences) or (
        "Of those that fit, thrifty takes the least CPU time: 10.0 % of one core." in found.sentences
    )


def test_a_missed_deadline_is_told_with_its_stream_and_by_how_much(tmp_path: Path) -> None:
    found = judged(tmp_path, good=Behaviour(), **{"late": Behaviour(), "late/scan": Behaviour(latency_ns=60 * MS)})
    said = reasons(found)["late"]
    assert said.startswith("scan misses its deadline: 90 % of its messages take at most ")
    assert "of the 20 ms allowed, " in said
    assert found.headline == "good alone meets all requirements"


def test_loss_beyond_what_is_allowed_is_told_with_both(tmp_path: Path) -> None:
    found = judged(tmp_path, good=Behaviour(), lossy=Behaviour(loss=0.05))
    first, second = reasons(found)["lossy"].split("; ")
    assert (first.startswith("imu loses "), second.startswith("scan loses ")) == (True, True)
    assert second.endswith(" of its messages, 1 % is allowed")


def test_what_can_not_be_told_is_neither_in_nor_out(tmp_path: Path) -> None:
    near = Behaviour(latency_ns=2.7 * MS, drift=0.2)
    found = judged(tmp_path, near=near)
    assert (
        found.headline == "No candidate is shown to meet all requirements of amr; near misses none that could be judged"
    )
    assert reasons(found)["near"].startswith("undecided: imu: 99 % of its messages take at most ")


def test_one_trial_decides_no_deadline(tmp_path: Path) -> None:
    found = judged(tmp_path, AMR.replace("trials: 6", "trials: 1").replace("1 s", "10 s"), one=Behaviour())
    assert "(fewer than 3 trials)" in reasons(found)["one"]


def test_what_could_not_be_done_and_what_never_arrived_is_told(tmp_path: Path) -> None:
    missing = (MissingPath(stream="imu", publisher=0, subscriber=0),)
    found = judged(
        tmp_path,
        unable=Behaviour(outcome=NotApplicable(capability="size_bytes", reason="size_bytes 4000: too large")),
        silent=Behaviour(outcome=NoCommunication(missing=missing)),
    )
    assert reasons(found)["unable"] == "not applicable: size_bytes 4000: too large"
    assert reasons(found)["silent"].startswith("no communication in 6 of 6 trials: ")
    assert found.headline == "No candidate meets all requirements of amr"
    assert not found.has_fitting


def test_an_overload_misses_the_rate(tmp_path: Path) -> None:
    found = judged(tmp_path, good=Behaviour(), slow=Behaviour(slow_publisher=1.5))
    assert "imu: it could not be sent at its rate in 6 of 6 trials" in reasons(found)["slow"]


def test_where_all_messages_have_a_deadline_it_is_said_what_none_late_means(tmp_path: Path) -> None:
    found = judged(tmp_path, AMR.replace("deadline: 5 ms", "deadline: 5 ms, within: max"), good=Behaviour())
    said = " ".join(found.sentences)
    assert "None of 1\u202f200 messages of imu was late" in said
    assert "fewer than one in 400 would be" in said


def test_without_a_deadline_nothing_is_ranked(tmp_path: Path) -> None:
    text = AMR.replace(", deadline: 5 ms", "").replace(", deadline: 20 ms, within: p90", "")
    found = judged(tmp_path, text, one=Behaviour(), other=Behaviour())
    assert "without a required deadline they can't be ranked" in found.headline


def test_terminal_and_page_say_the_same(tmp_path: Path) -> None:
    findings = analyse(build_demand_run(tmp_path, AMR, {"fast": Behaviour(), "late": Behaviour(latency_ns=90 * MS)}))
    said = recommended(findings)
    console = Console(record=True, width=400, file=io.StringIO())
    print_summary(findings, console)
    printed, page = console.export_text(), render(findings)
    for words in (said.headline, *said.sentences, reasons(said)["late"]):
        assert words in printed
        assert words in page or marked(words) in page
    assert page.count("<caption>Those that meet all requirements") == 1


def test_what_would_decide_more_is_set_as_it_is_typed(tmp_path: Path) -> None:
    few = AMR.replace("trials: 6", "trials: 1")
    page = render(analyse(build_demand_run(tmp_path, few, {"one": Behaviour()})))
    assert "a longer <code>window</code> in the" in page
    assert "more trials (<code>--trials</code>)" in page


def test_a_suite_has_no_recommendation(tmp_path: Path) -> None:
    suite = "suite: s\ntrials: 2\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"
    assert recommendation(analyse(build_run(tmp_path, suite, {"udp": Behaviour()}))) is None


ASKING = (
    AMR
    + """\
services:
  - {service: route, clients: control, servers: drivers, size: 64 B, response: 4 kB, rate: 100 Hz, deadline: 20 ms, within: p90}
"""
)


def test_a_service_is_judged_by_its_responses(tmp_path: Path) -> None:
    found = judged(
        tmp_path, ASKING, good=Behaviour(), **{"late": Behaviour(), "late/route": Behaviour(latency_ns=60 * MS)}
    )
    assert found.demand == "2 streams and 1 service between 2 processes on this machine"
    assert found.headline == "good alone meets all requirements"
    assert reasons(found)["late"].startswith("route misses its deadline: 90 % of its responses take at most ")
    headings = [column for column in found.requirements.headings if column.startswith("route")]
    assert headings == ["route, 90 % within 20 ms, unanswered ≤ 1 %"]


def test_requests_without_a_response_are_told_as_such(tmp_path: Path) -> None:
    found = judged(tmp_path, ASKING, good=Behaviour(), **{"lossy": Behaviour(), "lossy/route": Behaviour(loss=0.05)})
    said = reasons(found)["lossy"]
    assert said.startswith("route leaves ")
    assert said.endswith(" of its requests unanswered, 1 % is allowed")


def test_the_tightest_may_be_a_service(tmp_path: Path) -> None:
    found = judged(tmp_path, ASKING, good=Behaviour(), **{"good/route": Behaviour(latency_ns=5 * MS)})
    assert found.sentences[0].startswith("Its tightest service is route: 90 % of its responses take at most ")


MANY = """\
application: many
trials: 6
window: 1 s
processes: [drivers, control]
streams:
"""
TOPICS = [f"t{number}" for number in range(13)]
LATE = {"t3": 30, "t5": 60, "t7": 40, "t9": 50}
"""In ms, of 20 allowed."""


def many_streams() -> str:
    stream = "publishers: drivers, subscribers: control, size: 64 B, rate: 100 Hz, deadline: 20 ms, within: p90"
    return MANY + "".join(f"  - {{topic: {topic}, {stream}}}\n" for topic in TOPICS)


def behaviours_of_many() -> dict[str, Behaviour]:
    late = {f"late/{topic}": Behaviour(latency_ns=ms * MS) for topic, ms in LATE.items()}
    return {"good": Behaviour(), "late": Behaviour(), **late}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    return analyse(build_demand_run(tmp_path_factory.mktemp("many"), many_streams(), behaviours_of_many()))


def test_of_many_reasons_the_worst_are_told_with_the_number_of_all(many: RunFindings) -> None:
    said = reasons(recommended(many))["late"]
    assert said.startswith("4 requirements missed, the worst: t5 misses its deadline: ")
    assert [said.index(f"{topic} misses") for topic in ("t5", "t9", "t7")] == sorted(
        said.index(f"{topic} misses") for topic in ("t5", "t9", "t7")
    )
    assert said.endswith(" and 1 other requirement")
    assert "t3" not in said


def test_of_many_streams_each_has_a_row_and_the_worst_comes_first(many: RunFindings) -> None:
    table = recommended(many).requirements
    assert table.headings == ("stream", "required", "result", "good", "late")
    assert [row[0] for row in table.lines[:4]] == ["t5", "t9", "t7", "t3"]
    assert [row[2] for row in table.lines[:5]] == ["missed by 1 of 2"] * 4 + ["met by all"]
    assert len(table.rows) == 13
    assert table.lines[0][1] == "90 % within 20 ms, loss ≤ 1 %"
    assert (table.lines[0][3].endswith("✓"), table.lines[0][4].endswith("✗")) == (True, True)


def test_of_many_streams_those_of_each_process_are_counted_the_worst_first(tmp_path: Path) -> None:
    text = many_streams().replace("[drivers, control]", "[drivers, planner, safety, control]")
    for topic, process in (("t5", "planner"), ("t1", "safety")):
        text = text.replace(f"topic: {topic}, publishers: drivers", f"topic: {topic}, publishers: {process}")
    findings = analyse(build_demand_run(tmp_path, text, behaviours_of_many()))
    found = recommended(findings)
    assert found.groups is not None
    assert found.groups.headings == ("published by", "streams", "good", "late")
    assert found.groups.lines == (
        ("drivers", "11", "11 ✓", "3 ✗ 8 ✓"),
        ("planner", "1", "1 ✓", "1 ✗"),
        ("safety", "1", "1 ✓", "1 ✓"),
    )
    page = render(findings)
    assert page.index("Streams by process") < page.index("Each requirement")


def test_few_streams_or_those_of_one_process_are_no_groups(tmp_path: Path, many: RunFindings) -> None:
    assert recommended(many).groups is None
    assert judged(tmp_path, good=Behaviour()).groups is None


def test_what_a_page_of_many_streams_selects_by_does_not_grow_with_them(many: RunFindings) -> None:
    page = render(many)
    assert page.count('class="search"') == 1
    assert "stream.t5" not in page.partition('<section id="answer"')[2].partition("<script")[0]
