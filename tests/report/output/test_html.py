"""The HTML report: complete, self-contained, and in agreement with the figures."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from markupsafe import Markup

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.errors import StoreError
from middlemark.plan import Failed, NotApplicable
from middlemark.report.elements.tables import Cell
from middlemark.report.output.html import render, write_report
from middlemark.report.output.markup import value_cell
from report_page import specs as page_specs
from shared_runs import SharedRuns

SUITE = """
suite: shown
trials: 3
middlewares: all
workloads:
  - {workload: imu, windows: {window: 1 s}}
  - {workload: ping_pong, windows: {window: 100 ms}}
"""
HOSTILE = "</script><img src=x onerror=alert(1)>"
BEHAVIOURS = {
    "floor": Behaviour(latency_ns=20_000, title="The floor", library="none"),
    "fast": Behaviour(latency_ns=40_000, title="Fast one"),
    "slow": Behaviour(latency_ns=400_000, title=HOSTILE, library="old", released="2016-05-01"),
    "unable": Behaviour(outcome=NotApplicable(capability="size_bytes", reason="too large by far"), title="Unable"),
    "broken": Behaviour(outcome=Failed(application="a", doing="starting", causes=("boom",)), title="Broken"),
}


class Page(HTMLParser):
    """What a browser would load, and how the page is structured."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.addresses += [found[name] or "" for name in ("src", "href", "action", "data") if name in found]
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)


@pytest.fixture(scope="module")
def text(runs: SharedRuns) -> str:
    return render(runs.findings(SUITE, BEHAVIOURS))


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_loads_nothing_from_anywhere(text: str, page: Page) -> None:
    loaded = [address for address in page.addresses if not address.startswith("#")]
    assert all(each.startswith("data:") or re.fullmatch(r"trials/[\w.-]+/trial\.json", each) for each in loaded), loaded
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text.split("</style>", maxsplit=1)[0])


def test_its_links_lead_to_parts_of_itself_and_ids_are_unique(page: Page) -> None:
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_it_has_one_first_heading_and_skips_no_level(page: Page) -> None:
    assert_outlined(page)


@pytest.mark.parametrize("name", ["run-format-1-capacity", "run-format-1-observers", "run-format-1-pipeline"])
def test_what_stands_on_several_settings_skips_no_level_either(runs: SharedRuns, name: str) -> None:
    assert_outlined(Page(render(runs.golden(name).findings)))


def assert_outlined(page: Page) -> None:
    levels = [int(heading[1]) for heading in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_names_from_outside_can_not_become_markup(text: str, page: Page) -> None:
    assert "img" not in page.tags
    assert "&lt;/script&gt;" in text
    assert text.count("<script") == text.count("</script>") == 4


def test_it_opens_with_the_answer_and_names_the_winner_that_is_no_baseline(text: str) -> None:
    opening = text[text.index('id="answer"') : text.index('class="workload"')]
    assert "Fast one has the lowest latency" in opening
    assert "Fast one has the shortest round trip" in opening
    assert "The floor" in opening


def test_a_system_library_is_shown_with_its_age_when_the_run_began(text: str) -> None:
    assert re.search(r"old 1\.2\.3 of 2016-05-01, \d+\.\d years old", text)
    assert "lib 1.2.3 <span" in text


def test_what_did_not_run_is_shown_with_its_reason(text: str) -> None:
    for words in ("too large by far", "no valid trial", "starting: boom", "its library is not on this machine"):
        assert words in text


def test_every_chart_has_its_place_and_its_specification(text: str, page: Page) -> None:
    specs = page_specs(text)
    assert {f"plot-{name}" for name in specs} <= set(page.ids)
    assert {name.split("-")[-1] for name in specs} == {
        "ecdf",
        "box",
        "percentiles",
        "overtime",
        "first",
        "cpu",
        "memory",
    }
    shown = {row["series"] for spec in specs.values() for rows in spec["datasets"].values() for row in rows}
    assert shown == {"The floor", "Fast one", HOSTILE}


def test_a_middleware_has_one_colour_throughout(text: str) -> None:
    specs = page_specs(text)
    colours: dict[str, set[str]] = {}
    for scale in re.finditer(r'"scale": ?({"domain": ?\[[^]]*\], ?"range": ?\["var[^]]*\]})', json.dumps(specs)):
        found = json.loads(scale[1])
        for name, colour in zip(found["domain"], found["range"], strict=True):
            colours.setdefault(name, set()).add(colour)
    assert len(colours) == 3
    assert all(len(each) == 1 for each in colours.values())
    assert len(set.union(*colours.values())) == 3


def test_the_configuration_and_the_path_of_each_are_shown(text: str) -> None:
    for words in ("congestion_control", "callback", "copied by the publish call", "lo: 123 kB in 900 packets"):
        assert words in text


def test_it_says_what_an_interval_over_three_trials_is_worth(text: str) -> None:
    assert "holds the true median in at most 75 % of cases" in text


def test_only_a_reason_takes_the_width_of_words() -> None:
    absent, reasoned = (
        str(value_cell(cell, "", Markup())) for cell in (Cell(None), Cell(None, reason="too few samples"))
    )
    assert 'class="value missing"' in absent
    assert 'class="value missing reason"' in reasoned


def test_too_few_samples_are_said_and_never_nan(text: str) -> None:
    body = text[: text.index('id="vega"')]
    assert "too few samples (n\u00a0=\u00a0" in body
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b", body)


def test_a_folder_that_can_not_be_written_is_named(runs: SharedRuns, tmp_path: Path) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"fast": Behaviour()})
    findings = analyse(folder)
    folder.report_path.mkdir()
    with pytest.raises(StoreError, match=r"report\.html"):
        write_report(findings)


def test_a_run_without_trials_still_has_a_page(runs: SharedRuns, tmp_path: Path) -> None:
    folder = runs.copy(tmp_path / "run", SUITE, {"fast": Behaviour()})
    for trial in list(folder.stored_trials()):
        trial.record_path.unlink()
    assert "6 planned trials not run" in write_report(folder.path).read_text(encoding="utf-8")
