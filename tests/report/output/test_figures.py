"""Figures and tables as files stand without the page: colours, legends, captions, and escapes are their own."""

import csv
import html
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from middlemark.analysis.run import RunFindings
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.elements.tables import Column, table, values
from middlemark.report.output.figures import (
    DRAWN,
    WRITTEN,
    as_csv,
    as_latex,
    as_markdown,
    figures,
    standing_alone,
    tables,
    write_parts,
)
from middlemark.report.output.formats import ReportFormat
from middlemark.report.output.html import render
from shared_runs import SharedRuns

AWKWARD = table(
    "Rates", (Column(""), Column("a_b & c")), [("x|y", "1\u202f000 −5")], "At most ≥ 10 % of $n$.", detail="50 %"
)


@pytest.fixture(scope="module")
def golden(runs: SharedRuns) -> RunFindings:
    return runs.golden("run-format-1").findings


def test_every_figure_is_an_svg_with_its_title_and_its_contenders(golden: RunFindings, tmp_path: Path) -> None:
    written = write_parts(golden, ReportFormat.SVG, tmp_path)
    drawings = [path for path in written if path.suffix == ".svg"]
    assert {"s1-imu-ecdf.svg", "s1-imu-box.svg", "s2-ping_pong-ecdf.svg"} <= {path.name for path in drawings}
    captions = (tmp_path / "captions.md").read_text(encoding="utf-8")
    for path in drawings:
        text = path.read_text(encoding="utf-8")
        said = "".join(ET.fromstring(text).itertext())  # noqa: S314 - made here
        assert "Alpha" in said or "Beta" in said, path
        assert "var(--" not in text
        assert "currentColor" not in text
        assert f"## {path.stem}\n" in captions


def test_only_figures_whose_axis_names_nobody_have_a_legend(golden: RunFindings) -> None:
    who = series_by_experiment(golden.manifest, (each.experiment for each in golden.experiments))
    drawn = dict(figures(golden, who))
    alone = str(standing_alone(drawn["s1-imu-ecdf"])).replace("'", '"')
    assert '"legend": {' in alone
    assert '"symbolType": "stroke"' in alone  # shows the dash
    assert '"legend": {' not in str(standing_alone(drawn["s1-imu-box"])).replace("'", '"')


@pytest.mark.parametrize(("kind", "magic"), [(ReportFormat.PNG, b"\x89PNG\r\n"), (ReportFormat.PDF, b"%PDF-")])
def test_charts_are_written_in_the_requested_format(
    golden: RunFindings, tmp_path: Path, kind: ReportFormat, magic: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = series_by_experiment(golden.manifest, (each.experiment for each in golden.experiments))
    first = next(iter(figures(golden, who)))
    monkeypatch.setattr("middlemark.report.output.figures.figures", lambda *_: [first])  # the others are drawn above
    (drawn, _) = write_parts(golden, kind, tmp_path)
    assert drawn.read_bytes().startswith(magic)


@pytest.mark.parametrize("name", ["run-format-1", "run-format-1-observed"])
def test_every_table_of_the_page_is_a_file_too(runs: SharedRuns, name: str) -> None:
    findings = runs.golden(name).findings
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    page = render(findings)
    said = {each.full_title for _, each in tables(findings, who)}
    on_page = {html.unescape(title).strip(". ") for title in re.findall(r"<caption>([^<]+)<", page)}
    assert on_page
    assert on_page - said == set()
    assert len([path for path, _ in tables(findings, who)]) == len({path for path, _ in tables(findings, who)})


def test_every_format_but_the_page_is_made_in_one_way() -> None:
    assert sorted([*DRAWN, *WRITTEN]) == sorted(each for each in ReportFormat if each is not ReportFormat.HTML)


def test_latex_escapes_what_has_a_meaning_there() -> None:
    text = as_latex("s1-rates", AWKWARD)
    assert r"\caption{Rates, 50 \%. At most $\geq$ 10 \% of \$n\$.}" in text
    assert r"\label{tab:s1-rates}" in text
    assert r"a\_b \& c" in text
    assert r"1\,000 $-$5" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1


def test_markdown_keeps_a_bar_within_its_cell() -> None:
    lines = as_markdown("rates", AWKWARD).splitlines()
    assert lines[0] == "**Rates, 50 %**"
    assert r"x\|y" in lines[4]
    assert lines[-1] == AWKWARD.caption


def test_csv_gives_back_every_cell() -> None:
    assert [tuple(row) for row in csv.reader(io.StringIO(as_csv("", AWKWARD)))] == [AWKWARD.headings, *AWKWARD.lines]


def test_csv_has_no_formula_and_its_numbers_are_numbers() -> None:
    foreign = table("Foreign", values("=1+1", "latency"), [["@SUM(A1)", "-1.5"]])
    assert as_csv("", foreign) == "'=1+1,latency\n'@SUM(A1),-1.5\n"


def test_every_table_of_the_page_has_a_name_of_its_own(golden: RunFindings) -> None:
    who = series_by_experiment(golden.manifest, (each.experiment for each in golden.experiments))
    names = [name for name, _ in tables(golden, who)]
    assert len(names) == len(set(names))
    ranking = dict(tables(golden, who))["s1-imu-ranking"]
    assert [row[0] for row in ranking.lines] == ["Beta", "Alpha", "Gamma"]
    assert "Alpha is not ranked: loses 5.5 % of its messages." in ranking.caption
