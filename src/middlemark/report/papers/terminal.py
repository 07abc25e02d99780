"""A reproduced paper in the terminal, and as data for a program to read."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from middlemark.analysis.compare.published import Correlation
from middlemark.analysis.decisions.paper_findings import JudgedExplanation, JudgedOtherwise, ReproducedPaper
from middlemark.report.conclusions.claims import STYLES, as_data
from middlemark.report.conclusions.comparison import json_values
from middlemark.report.elements.terminal_tables import grid
from middlemark.report.papers.tables import BESIDE, agreement_words, beside, came_to, headline, what_decides, why
from middlemark.results.manifest import Reproduction
from middlemark.suite.yaml.quantity import plural


def print_paper(reproduced: ReproducedPaper, console: Console) -> None:
    """A line a finding, and how far the values agree."""
    has_beside = any(finding.finding.beside for finding in reproduced.findings)
    rows = grid("", "", "finding", "claims", *([BESIDE] if has_beside else []))
    for finding in reproduced.findings:
        words = Text(finding.finding.says)
        if reason := why(finding):
            words.append(f"\n{reason}", "dim")
        verdict = Text(finding.judgement.value, STYLES[finding.judgement])
        number, claims = Text(str(finding.finding.finding)), Text(came_to(finding))
        cells = (number, verdict, words, claims, Text(beside(finding)))
        rows.add_row(*cells[: len(rows.columns)])
    console.print(rows)
    console.print(Text(headline([finding.judgement for finding in reproduced.findings]), "bold"))
    for name, compared in reproduced.comparisons.items():
        console.print(Text(f"{name.replace('_', ' ')}: {agreement_words(compared)}"))
        for correlation in compared.correlations:
            if correlation.value is not None:
                console.print(Text(f"  {_words(correlation)}"))
    for line in _left_out(reproduced.reproduction):
        console.print(Text(line, "yellow"))


def _left_out(reproduction: Reproduction) -> Iterator[str]:
    """What of the paper was not measured, with the reason."""
    yield from (f"{name} is left out: {reason}" for name, reason in reproduction.not_installed.items())
    yield from (f"suite {name} was not run: {reason}" for name, reason in reproduction.not_run.items())
    for suite, reasons in reproduction.left_out.items():
        yield from (f"suite {suite}, topology {topology} is left out: {reason}" for topology, reason in reasons.items())


def _words(correlation: Correlation) -> str:
    span = (
        ""
        if correlation.low is None or correlation.high is None
        else f" ({correlation.low:.2f} to {correlation.high:.2f})"
    )
    value = f"{correlation.value:.2f}{span}"
    return f"{correlation.metric.name}: rank correlation {value}, {plural(correlation.n_cells, 'cell')}"


def reproduced_data(reproduced: ReproducedPaper) -> dict[str, object]:
    """Findings, claims and rank correlations."""
    return {
        "paper": reproduced.paper.paper,
        "extent": reproduced.reproduction.extent.value,
        "findings": [
            {
                "finding": finding.finding.finding,
                "judgement": finding.judgement.value,
                "open": what_decides(finding) or None,
                "claims": as_data(finding.claims),
                "explained": _explanation_data(finding.explained) if finding.explained else None,
                "otherwise": [_otherwise_data(other) for other in finding.otherwise],
            }
            for finding in reproduced.findings
        ],
        "tables": {
            name: {
                "pairs": len(compared.ratios),
                "same_order": compared.n_agreeing,
                "rank_correlations": [
                    json_values(
                        {
                            "metric": correlation.metric.name,
                            "cells": correlation.n_cells,
                            "value": correlation.value,
                            "low": correlation.low,
                            "high": correlation.high,
                        }
                    )
                    for correlation in compared.correlations
                ],
            }
            for name, compared in reproduced.comparisons.items()
        },
        "not_installed": reproduced.reproduction.not_installed,
        "not_run": reproduced.reproduction.not_run,
    }


def _explanation_data(judged: JudgedExplanation) -> dict[str, object]:
    return {
        "setting": judged.explanation.setting,
        "judgement": judged.judgement.value,
        "claims": as_data(judged.claims),
    }


def _otherwise_data(judged: JudgedOtherwise) -> dict[str, object]:
    return {"how": judged.otherwise.how, "judgement": judged.judgement.value, "claims": as_data(judged.claims)}
