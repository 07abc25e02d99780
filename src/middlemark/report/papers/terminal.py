"""A reproduced paper in the terminal, and as data for a program to read."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from middlemark.analysis.compare.published import Correlation
from middlemark.analysis.reproduced import ReproducedPaper
from middlemark.report.conclusions.claims import STYLES, as_data
from middlemark.report.conclusions.comparison import json_values
from middlemark.report.papers.tables import agreement_words, came_to, headline, what_decides
from middlemark.suite.yaml.quantity import plural


def print_paper(reproduced: ReproducedPaper, console: Console) -> None:
    """A line a finding, and how far the values agree."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for heading in ("", "", "finding", "claims"):
        grid.add_column(heading, overflow="fold")
    for each in reproduced.findings:
        words = Text(each.finding.says)
        if why := what_decides(each):
            words.append(f"\n{why}", "dim")
        verdict = Text(each.judgement.value, STYLES[each.judgement])
        grid.add_row(Text(str(each.finding.finding)), verdict, words, Text(came_to(each)))
    console.print(grid)
    console.print(Text(headline(reproduced.findings), "bold"))
    for name, compared in reproduced.comparisons.items():
        console.print(Text(f"{name.replace('_', ' ')}: {agreement_words(compared)}"))
        for correlation in compared.correlations:
            if correlation.value is not None:
                console.print(Text(f"  {_words(correlation)}"))
    for name, reason in reproduced.reproduction.not_installed.items():
        console.print(Text(f"{name} is left out: {reason}", "yellow"))
    for name, reason in reproduced.reproduction.not_run.items():
        console.print(Text(f"suite {name} was not run: {reason}", "yellow"))


def _words(each: Correlation) -> str:
    span = "" if each.low is None or each.high is None else f" ({each.low:.2f} to {each.high:.2f})"
    return f"{each.metric.name}: rank correlation {each.value:.2f}{span}, {plural(each.n_cells, 'cell')}"


def reproduced_data(reproduced: ReproducedPaper) -> dict[str, object]:
    """Findings, claims and rank correlations."""
    return {
        "paper": reproduced.paper.paper,
        "extent": reproduced.reproduction.extent.value,
        "findings": [
            {
                "finding": each.finding.finding,
                "judgement": each.judgement.value,
                "open": what_decides(each) or None,
                "claims": as_data(each.claims),
            }
            for each in reproduced.findings
        ],
        "tables": {
            name: {
                "pairs": len(compared.ratios),
                "same_order": compared.n_agreeing,
                "rank_correlations": [
                    json_values(
                        {
                            "metric": each.metric.name,
                            "cells": each.n_cells,
                            "value": each.value,
                            "low": each.low,
                            "high": each.high,
                        }
                    )
                    for each in compared.correlations
                ],
            }
            for name, compared in reproduced.comparisons.items()
        },
        "not_installed": reproduced.reproduction.not_installed,
        "not_run": reproduced.reproduction.not_run,
    }
