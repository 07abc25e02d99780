"""The charts and tables of a report as files of their own, for papers and slides.

`section` and `html` say which there are; each chart stands without the page: with its legend, its title and plain
colours. It computes nothing, and captions go into a file beside the charts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import tabulate
import vl_convert

from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings
from middlemark.report.conclusions.claims import claims_shown, claims_table
from middlemark.report.conclusions.heatmap import heat_maps, heat_table
from middlemark.report.conclusions.over_settings import standings
from middlemark.report.conclusions.precision import spread_table, stop_table
from middlemark.report.conclusions.recommendation import recommendation
from middlemark.report.elements.chart import INK, Chart, Spec
from middlemark.report.elements.formatting import NARROW_SPACE
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.elements.plain_text import csv_text, markdown_text
from middlemark.report.elements.tables import Table
from middlemark.report.internals.configuration import topology_table
from middlemark.report.internals.security import security_costs, security_tables
from middlemark.report.internals.wire import overhead_table
from middlemark.report.output.formats import ReportFormat
from middlemark.report.output.html import charts_of_run
from middlemark.report.output.section import Section, sections_of
from middlemark.report.traffic.capacity import capacity_table
from middlemark.report.traffic.growth import growth_tables
from middlemark.report.traffic.interop import pairs_over_settings
from middlemark.results.files import file_name, write_bytes, write_text

WIDTH = 560
"""Of a figure without its axis labels, in CSS pixels: a column of text, readable."""
PNG_SCALE = 2.5


def write_parts(findings: RunFindings, kind: ReportFormat, folder: Path) -> list[Path]:
    """Write every figure, or every table, of a run into a folder."""
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    if kind in DRAWN:
        return _write_figures(dict(figures(findings, series_of)), kind, folder)
    ending, as_text = WRITTEN[kind]
    return [
        write_text(folder / f"{file_name(name)}.{ending}", as_text(name, table))
        for name, table in tables(findings, series_of)
    ]


def figures(findings: RunFindings, series_of: Mapping[str, Series]) -> Iterator[tuple[str, Chart]]:
    """Every figure under the name of its file."""
    for section in sections_of(findings, series_of):
        yield from ((f"{section.id}-{chart.id}", chart) for chart in section.charts)
    for part, charts in charts_of_run(findings, series_of).items():
        yield from ((f"{part}-{chart.id}", chart) for chart in charts)


def tables(findings: RunFindings, series_of: Mapping[str, Series]) -> Iterator[tuple[str, Table]]:
    """Every table under the name of its file: of the whole run, then of each setting."""
    sections = sections_of(findings, series_of)
    yield from ((name, table) for name, table in _tables_of_run(findings, sections, series_of) if table is not None)
    for section in sections:
        for table in section.every_table:
            yield f"{section.id}-{table.name}", table


def _tables_of_run(
    findings: RunFindings, sections: Sequence[Section], series_of: Mapping[str, Series]
) -> Iterator[tuple[str, Table | None]]:
    advice = recommendation(findings)
    if advice is not None:
        yield "recommendation-fitting", advice.fitting
        yield "recommendation-groups", advice.groups
        yield "recommendation-requirements", advice.requirements
    over_all = standings(findings.comparisons, [section.answer for section in sections], series_of)
    yield "over_all_settings", over_all.table if over_all else None
    yield "pairs", pairs_over_settings(findings.comparisons, series_of)
    yield "claims", claims_table(claims_shown(judge_own_claims(findings)))
    for number, heat_map in enumerate(
        heat_maps(findings.comparisons, [section.id for section in sections], series_of), start=1
    ):
        yield f"overview-{number}", heat_table(heat_map)
    yield "capacity", capacity_table(findings.capacities, series_of)
    yield "spread-over-trials", spread_table(findings, series_of)
    yield "enough-trials", stop_table(findings, series_of)
    yield "wire-overhead", overhead_table(findings.experiments, series_of)
    for number, grown in enumerate(growth_tables(findings, series_of), start=1):
        yield f"growth-{number}", grown
    for number, cost in enumerate(security_tables(security_costs(findings, series_of)), start=1):
        yield f"security-{number}", cost
    yield "topologies", topology_table(findings)


# --- figures --------------------------------------------------------------------------------------------------------


def _write_figures(drawn: Mapping[str, Chart], kind: ReportFormat, folder: Path) -> list[Path]:
    written = [
        write_bytes(folder / f"{file_name(name)}.{kind}", DRAWN[kind](standing_alone(chart)))
        for name, chart in drawn.items()
    ]
    captions = "".join(
        f"## {name}\n\n{markdown_text(f'{chart.title}. {chart.caption}')}\n\n" for name, chart in drawn.items()
    )
    return [*written, write_text(folder / "captions.md", captions)]


DRAWN: dict[ReportFormat, Callable[[Spec], bytes]] = {
    ReportFormat.PNG: lambda spec: vl_convert.vegalite_to_png(spec, scale=PNG_SCALE),
    ReportFormat.SVG: lambda spec: vl_convert.vegalite_to_svg(spec).encode(),
    ReportFormat.PDF: vl_convert.vegalite_to_pdf,
}
"""What draws a figure in each form."""


def standing_alone(chart: Chart) -> Spec:
    """A chart's specification without the page around it."""
    spec: Spec = _plain(chart.spec, named=_names_on_axis(chart.spec))
    spec["background"] = "white"
    spec["autosize"] = {"type": "pad", "contains": "content"}
    spec["title"] = {"text": chart.title, "anchor": "start", "fontSize": 13, "offset": 10}
    return spec


def _names_on_axis(part: object) -> bool:
    """Whether an axis says which middleware is which, so that there need be no legend."""
    if isinstance(part, dict):
        y = part.get("y")
        return (isinstance(y, dict) and y.get("field") == "series") or any(map(_names_on_axis, part.values()))
    return isinstance(part, list) and any(map(_names_on_axis, part))


def _plain(part: Any, *, named: bool, key: str = "", within: str = "") -> Any:  # noqa: ANN401 - JSON is anything
    """The same with plain colours, a width, and legends where the page had its own."""
    if isinstance(part, dict):
        return {name: _plain(value, named=named, key=name, within=key) for name, value in part.items()}
    if isinstance(part, list):
        return [_plain(item, named=named) for item in part]
    if part == "container":
        return WIDTH
    if key == "legend" and part is None and not named:
        return LEGEND | (OF_LINES if within in {"color", "strokeDash"} else {})
    if key == "font":
        return "sans-serif"
    return _colours().get(part, part) if isinstance(part, str) else part


LEGEND = {"title": None, "orient": "bottom", "columns": 4, "symbolSize": 300, "labelLimit": 240}
OF_LINES = {"symbolType": "stroke", "symbolSize": 900, "symbolStrokeWidth": 2.5}
"""A piece of each line, as long as its dash needs."""


@cache
def _colours() -> dict[str, str]:
    """The style sheet's colours for paper, by the words that charts use for them."""
    style = resources.files("middlemark.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]+);", style.split("@media", maxsplit=1)[0]))
    return {f"var(--{name})": value for name, value in light.items()} | {INK: light["ink"]}


# --- tables ---------------------------------------------------------------------------------------------------------


def as_latex(name: str, table: Table) -> str:
    """A floating table with booktabs' rules and a label."""
    body = tabulate.tabulate(table.lines, table.headings, tablefmt="latex_booktabs", disable_numparse=True)
    caption = _latex_text(f"{table.full_title}. {table.caption}" if table.caption else table.full_title)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{caption}}}\n\\label{{tab:{name}}}\n{_in_latex(body)}\n\\end{{table}}\n"
    )


def _latex_text(text: str) -> str:
    return _in_latex("".join(tabulate.LATEX_ESCAPE_RULES.get(name, name) for name in text))


def _in_latex(text: str) -> str:
    """The characters that pdfLaTeX's usual fonts have no place for, as commands."""
    for plain, command in {NARROW_SPACE: r"\,", "−": "$-$", "≥": r"$\geq$", "→": r"$\to$", "–": "--"}.items():
        text = text.replace(plain, command)
    return text


def as_markdown(_name: str, table: Table) -> str:
    """A table with its title above and its caption below."""
    headings, *rows = [list(map(markdown_text, row)) for row in (table.headings, *table.lines)]
    body = tabulate.tabulate(rows, headings, tablefmt="pipe", disable_numparse=True)
    caption = f"\n{markdown_text(table.caption)}\n" if table.caption else ""
    return f"**{markdown_text(table.full_title)}**\n\n{body}\n{caption}"


def as_csv(_name: str, table: Table) -> str:
    """The rows under their headings; numbers for computing are in `middlemark export`."""
    out = io.StringIO()
    rows = ([csv_text(cell) for cell in row] for row in (table.headings, *table.lines))
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


WRITTEN: dict[ReportFormat, tuple[str, Callable[[str, Table], str]]] = {
    ReportFormat.LATEX: ("tex", as_latex),
    ReportFormat.MARKDOWN: ("md", as_markdown),
    ReportFormat.CSV: ("csv", as_csv),
}
"""The ending of each form of a table, and what writes one."""
