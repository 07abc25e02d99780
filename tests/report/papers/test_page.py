"""The page of a reproduced paper has its findings with their verdicts and its values beside ours, and loads nothing."""

import base64
import io
import re

import pytest
from rich.console import Console

from middlemark.analysis.decisions.paper_findings import ReproducedPaper
from middlemark.report.papers.docs import index_page, paper_page
from middlemark.report.papers.outcome import PaperOutcome, outcome_of
from middlemark.report.papers.page import write_pages
from middlemark.report.papers.tables import agreement_table, findings_table, ratio_table, suites_table, value_tables
from middlemark.report.papers.terminal import print_paper, reproduced_data
from middlemark.results.manifest import Reproduction
from middlemark.results.run_folder import ReproductionFolder
from middlemark.suite.papers import Extent, load_paper, paper_of
from run_builder import Behaviour, build_run
from staged_paper import stage_paper

BEHAVIOURS = {"fake": Behaviour(latency_ns=50_000), "other": Behaviour(latency_ns=100_000)}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[ReproducedPaper, str]:
    folder = tmp_path_factory.mktemp("reproduced")
    paper = load_paper(str(stage_paper(folder / "paper")))
    reproduction = Reproduction(
        extent=Extent.FULL,
        texts=dict(paper.texts),
        started_at="2026-01-31T12:00:00+00:00",
        not_run={"elsewhere": "none of its middlewares is installed"},
    )
    stored = ReproductionFolder.created(folder / "out", reproduction)
    build_run(folder / "out" / "messages", paper.suite("messages", Extent.FULL).text, BEHAVIOURS)
    reproduced, page = write_pages(stored)
    assert page == folder / "out" / "report.html"
    return reproduced, page.read_text(encoding="utf-8")


def test_the_page_says_what_holds_and_shows_each_claim(written: tuple[ReproducedPaper, str]) -> None:
    _, page = written
    assert "<h2>2 of 3 findings hold, 0 are refuted, 1 undecided</h2>" in page
    assert "median(latency)[middleware=fake, workload=radar]" in page
    assert page.count('<span class="judgement holds">') >= 2 + 3
    assert "A study with people would decide it." in page
    assert "Judged on trials that differ in this setting alone: <code>workload, radar in place of imu</code>" in page
    assert 'Measured otherwise, backwards: Two in place of one. <span class="judgement refuted">refuted</span>' in page


def test_the_page_needs_nothing_but_itself(written: tuple[ReproducedPaper, str]) -> None:
    _, page = written
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert {each.partition(":")[0] for each in addresses if ":" in each} == {"data"}
    assert "messages/report.html" in addresses
    assert "a switch &lt;b&gt;" in page


def test_what_is_folded_is_printed(written: tuple[ReproducedPaper, str]) -> None:
    """The page has no script that could open it."""
    _, page = written
    printed = page[page.rindex("@media print") :]
    assert "details::details-content { content-visibility: visible; }" in printed[: printed.index("</style>")]


def test_a_chart_names_whose_points_it_has(written: tuple[ReproducedPaper, str]) -> None:
    _, page = written
    (drawing,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    svg = base64.b64decode(drawing).decode()
    symbols = re.findall(r'<g class="mark-symbol role-legend-symbol"[^>]*>(.*?)</g>', svg)
    assert len(symbols) == len(BEHAVIOURS)
    assert all("stroke=" in symbol for symbol in symbols)


def test_every_suite_has_its_own_report(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    assert reproduced.runs["messages"].folder.report_path.is_file()
    rows = suites_table(reproduced).lines
    assert rows[0][:5] == ("messages", "report", "4", "16", "0")
    assert rows[1][-1] == "none of its middlewares is installed"


def test_values_stand_beside_the_published_ones(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    compared = reproduced.comparisons["latency"]
    (values,) = value_tables("Latency", compared)
    assert values.headings[:3] == ("workload", "fake, paper, ms", "fake, here, ms")
    assert values.headings[-2:] == ("order in the paper", "order here")
    imu, radar = values.lines
    assert (imu[0], imu[1], imu[3]) == ("imu", "0.1", "0.3")
    assert imu[-2:] == ("fake, other", "fake, other")
    assert radar[3] == "nothing received"
    assert radar[-2:] == ("–", "–")


def test_ratios_and_agreement_are_told(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    compared = reproduced.comparisons["latency"]
    ratios = ratio_table("Latency", compared)
    assert ratios is not None
    assert ratios.lines[0][2] == "fake / other"
    assert ratios.lines[0][-1] == "same"
    assert agreement_table("Latency", compared).lines == (("median(latency)", "3", "too few cells", "1 of 1 pair"),)


def test_findings_are_a_table_for_every_writer(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    assert [row[:2] for row in findings_table(reproduced.findings).lines] == [
        ("1", "holds"),
        ("2", "holds"),
        ("3", "undecided"),
    ]
    assert [row[-2] for row in findings_table(reproduced.findings).lines] == [
        "backwards: refuted",
        "workload, radar in place of imu: holds",
        "",
    ]


def test_the_terminal_and_the_data_say_the_same(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    out = io.StringIO()
    print_paper(reproduced, Console(file=out, width=120))
    assert "2 of 3 findings hold" in out.getvalue()
    assert "the order of two candidates is the same in 1 of 1 pair" in out.getvalue()
    assert "suite elsewhere was not run" in out.getvalue()
    data = reproduced_data(reproduced)
    assert [each["judgement"] for each in data["findings"]] == ["holds", "holds", "undecided"]  # type: ignore[attr-defined]
    assert [len(each["otherwise"]) for each in data["findings"]] == [1, 0, 0]  # type: ignore[attr-defined]
    assert "backwards: refuted" in out.getvalue()


def test_the_documentation_says_what_a_run_came_to(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    loaded = reproduced.reproduction.paper
    outcome = PaperOutcome.model_validate_json(outcome_of(reproduced).model_dump_json())
    words = "Measured again 2026-01-31, full, 16 trials, on "
    page, index = paper_page(loaded, outcome), index_page([loaded], {"staged": outcome})
    assert words in page
    assert "2 of 3 findings hold, 0 are refuted, 1 undecided." in page
    assert "(page 3) **holds**" in page
    assert re.search(r"1. `median\(latency\)\[workload=imu\] < 1 s`: holds, \S", page)
    assert "`workload, radar in place of imu` (**holds**)" in page
    assert "Measured otherwise, backwards: Two in place of one. (**refuted**)" in page
    assert re.search(r"- `median\(latency\)\[middleware=other, workload=imu\] < .*`: refuted, \S", page)
    assert "backwards: refuted" in index
    assert f"SHA-256 `{outcome.run_digest}`" in page
    assert "| 3         | undecided | Two is easier to use." in index
    assert "no verdict here" not in page + index


def test_a_verdict_stands_only_as_long_as_its_claims(written: tuple[ReproducedPaper, str]) -> None:
    reproduced, _ = written
    loaded, outcome = reproduced.reproduction.paper, outcome_of(reproduced)

    def with_changed(was: str, becomes: str) -> tuple[str, str]:
        assert was in loaded.texts["paper.yaml"]
        text = loaded.texts["paper.yaml"].replace(was, becomes)
        changed = paper_of(dict(loaded.texts) | {"paper.yaml": text})
        return paper_page(changed, outcome), index_page([changed], {"staged": outcome})

    page, index = with_changed("[workload=imu] < 1 s", "[workload=imu] < 2 s")
    told = "1 of 2 findings holds, 0 are refuted, 1 undecided; 1 finding changed since, without a verdict."
    assert told in page
    assert told in index
    assert page.count("**holds**") == 1
    assert "| 2         | –         | Nobody needs a second." in index
    page, index = with_changed("claims: median(latency)[middleware=fake, workload=radar] < 1 s", "claims: no loss")
    assert "2 of 3 findings hold" in page
    assert "workload, radar in place of imu: not measured yet" in index
    assert "backwards: refuted" in index
    page, index = with_changed(
        "claims: median(latency)[middleware=other, workload=imu]",
        "claims: max(latency)[middleware=other, workload=imu]",
    )
    assert "2 of 3 findings hold" in page
    assert "backwards: not measured yet" in index
    page, _ = with_changed("Nobody needs a second.", "A second is too long.")
    assert page.count("**holds**") == 3
