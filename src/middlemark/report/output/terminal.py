"""The summary in the terminal: a ranking for each workload, what did not count, and what to mind.

The same words and figures as the HTML report's, from the same tables; it prints and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.conclusions.claims import print_claims
from middlemark.report.conclusions.digest import CROWDED, Digest, digest
from middlemark.report.conclusions.headline import Answer, answer, distinguishing, interval_words
from middlemark.report.conclusions.ranking import CLOCKS, Line, ranking_table
from middlemark.report.conclusions.recommendation import print_recommendation, recommendation
from middlemark.report.conclusions.warnings import uncounted, warned_of
from middlemark.report.elements import tables
from middlemark.report.elements.formatting import Shown, narrow, plural
from middlemark.report.elements.labels import Contender, contenders
from middlemark.report.elements.tables import outcome_table
from middlemark.report.internals.chains import lines_of_chain
from middlemark.report.internals.configuration import load_words
from middlemark.report.internals.message_path import message_lines
from middlemark.report.internals.observers import observed_lines, seen_by
from middlemark.report.traffic.capacity import capacity_lines, stop_lines
from middlemark.report.traffic.faults import fault_table, flow_words, timeline_words
from middlemark.report.traffic.links import link_lines, route_lines
from middlemark.report.traffic.scaling import scaling_lines
from middlemark.report.traffic.variance import spread_lines
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation

WIDE = 100
"""Columns of a terminal that has room for the percentile from the intended send; the page always has it."""
READING = (
    "Medians of trials with intervals below; *: of all trials' samples together. Ranks reach from the best to the "
    "worst that the trials leave open, and hold together with 95 %. †: a baseline, the machine's own limit."
)


def print_summary(run: Path | RunFindings, console: Console) -> None:
    """Print what a run came to."""
    findings = run if isinstance(run, RunFindings) else analyse(RunFolder(run))
    who = contenders(findings.manifest, (each.experiment for each in findings.experiments))
    recommended = recommendation(findings)
    if recommended is None:
        _print_comparisons(findings, who, console)
    else:
        print_recommendation(recommended, console)
        console.print(Text(interval_words(findings), "dim"))
    _print_damage(findings, console)
    _print_cautions(findings, who, console)


def _print_comparisons(findings: RunFindings, who: Mapping[str, Contender], console: Console) -> None:
    beside = distinguishing(findings.comparisons)
    answers = [answer(comparison, who, beside) for comparison in findings.comparisons]
    for comparison, said in zip(findings.comparisons, answers, strict=True):
        _print_comparison(comparison, said, who, console)
    _print_digest(digest(findings.comparisons, answers, who) if len(answers) > CROWDED else None, console)
    _print_lines("Capacity", capacity_lines(findings.capacities, who), console)
    _print_scaling(findings, console)
    _print_lines("Spread over trials", spread_lines(findings, who), console)
    _print_lines("Enough trials", stop_lines(findings, who), console)
    claims = judge_own_claims(findings)
    if claims:
        console.print("\n[bold]Claims[/]")
        print_claims(claims, console)
    if findings.comparisons:
        console.print(Text(f"\n{READING} {interval_words(findings)}", "dim"))


def _print_digest(whole: Digest | None, console: Console) -> None:
    if whole is not None:
        console.print(f"\n[bold]{whole.table.title}[/]")
        _print_table(whole.table, console)
        console.print(whole.sentence)


def print_message_paths(findings: RunFindings, console: Console) -> None:
    """Print the ways of single messages, of all settings whose kernel path was observed."""
    who = contenders(findings.manifest, (each.experiment for each in findings.experiments))
    beside = distinguishing(findings.comparisons)
    for comparison in findings.comparisons:
        lines = list(message_lines(seen_by(comparison, Observation.KERNEL_PATH), who))
        if lines:
            said = answer(comparison, who, beside)
            console.print()
            console.print(Text.assemble((said.workload, "bold"), (f"  {said.asked}", "dim")))
        for line in lines:
            console.print(line)


def _print_comparison(comparison: Comparison, said: Answer, who: Mapping[str, Contender], console: Console) -> None:
    console.print()
    console.print(Text.assemble((said.workload, "bold"), (f"  {said.asked}", "dim")))
    ranking = ranking_table(comparison, who)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("middleware", min_width=14)
    main = f"{ranking.main_heading}\n{ranking.main_unit}"
    lost = [] if comparison.faulty else ["loss\n%"]  # the table of faults has what is missing
    from_intended = ranking.from_intended and console.width >= WIDE
    tails = [f"99 %\n{ranking.tail_unit}", *([f"intended\n99 %, {ranking.tail_unit}"] if from_intended else [])]
    for heading in (main, *tails, *lost, "first\nms"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("CPU\n% core", justify="right", no_wrap=True)
    table.add_column("memory\nMiB", justify="right", no_wrap=True)
    for line in ranking.lines:
        if not line.unranked:
            table.add_row(*_cells(line, from_intended=from_intended, faulty=comparison.faulty))
    if table.row_count:
        console.print(table)
    if ranking.between_clocks:
        _print_line(Text(CLOCKS, "dim"), console)
    for line in ranking.lines:
        if line.unranked:
            _print_line(Text.assemble((line.who.label, ""), (f": {line.unranked}", "dim")), console)
    _print_outcomes(comparison, who, console)
    _print_surroundings(comparison, who, console)
    _print_observed(comparison, who, console)
    console.print(Text.assemble((f"{said.headline}. ", "bold"), " ".join(said.sentences)))


def _print_surroundings(comparison: Comparison, who: Mapping[str, Contender], console: Console) -> None:
    """The split of a chain, faults, links, routes and CPU load, where the setting has any."""
    for table in lines_of_chain(comparison, who):
        _print_table(table, console)
    faults = fault_table(comparison, who)
    if faults is not None:
        _print_table(faults, console)
    ways = (*link_lines(comparison), *route_lines(comparison))
    for line in (*flow_words(comparison, who), *timeline_words(comparison), *ways):
        _print_line(Text(line, "dim"), console)
    for each in comparison.experiments:
        words = load_words(each)
        if words:
            _print_line(Text(f"{who[each.experiment.id].label}: CPU load at {words}", "dim"), console)


def _print_observed(comparison: Comparison, who: Mapping[str, Contender], console: Console) -> None:
    lines = observed_lines(comparison, who)
    if lines:
        console.print(Text("seen from outside", "dim"))
    for line in lines:
        _print_line(Text(line, "dim"), console)


def _print_table(shown: tables.Table, console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for place, heading in enumerate(shown.headings):
        name = (heading or shown.title.lower()).replace(", ", "\n").replace(" after", "\nafter")
        table.add_column(name, justify="right" if place else "left", no_wrap=place > 0)
    for row in shown.rows:
        table.add_row(*(narrow(cell) for cell in row))
    console.print(table)


def _cells(line: Line, *, from_intended: bool, faulty: bool) -> tuple[Text, ...]:
    lost = () if faulty else (line.loss,)
    return (
        Text(line.rank, "bold"),
        Text.assemble(line.who.label, ("†" if line.who.baseline else "", "dim")),
        _text(line.main, "bold"),
        _text(line.tail),
        *([_text(line.tail_from_intended)] if from_intended else []),
        *(_text(replace(shown, interval="")) for shown in (*lost, line.first_message, line.cpu, line.memory)),
    )


def _text(shown: Shown, style: str = "") -> Text:
    if shown.missing:
        return Text(narrow(shown.text.replace(" samples (", "\n").replace(")", "")), "dim")
    quantile = "" if shown.note in {"", "pooled"} else f"{shown.note} "
    pooled = "*" if shown.note.endswith("pooled") else ""
    text = Text.assemble((quantile.replace(" pooled", ""), "dim"), (shown.text + pooled, style))
    for below in (shown.clocks, shown.interval):
        text.append(f"\n{below}" if below else "", "dim")
    return text


def _print_outcomes(comparison: Comparison, who: Mapping[str, Contender], console: Console) -> None:
    """Trials that don't count, but for those that could not be asked for, which the line above tells."""
    groups: dict[tuple[str, str], tuple[int, str]] = {}
    for name, kind, trials, why in outcome_table(comparison, who).rows:
        count, first = groups.get((name, kind), (0, why))
        groups[name, kind] = (count + int(trials), first)
    for (name, kind), (count, why) in groups.items():
        if kind not in {"valid", "not applicable"}:
            text = f"{name}: {plural(count, 'trial')} {kind}, {why}"
            _print_line(Text(text, "yellow"), console)


def _print_scaling(findings: RunFindings, console: Console) -> None:
    _print_lines("How latency grows with size", scaling_lines(findings.scalings), console)


def _print_lines(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(f"\n[bold]{title}[/]")
    for line in lines:
        _print_line(Text(line), console)


def _print_damage(findings: RunFindings, console: Console) -> None:
    if findings.missing:
        console.print(f"\n[yellow]{plural(len(findings.missing), 'planned trial')} not run[/]")
    for damage in findings.damaged:
        console.print(f"\n[red]trial {escape(damage.trial)} is left out:[/] {escape(damage.problem)}")


def _print_cautions(findings: RunFindings, who: Mapping[str, Contender], console: Console) -> None:
    """Trials that don't count, and the warnings of the machine and of the others."""
    of_trials = warned_of(findings, who)
    not_counted = uncounted(findings, who)
    if findings.manifest.warnings or of_trials or not_counted:
        console.print("\n[bold]Before you rely on these figures[/]")
    for way in not_counted:
        _print_line(Text(f"{way.kind} in {way.where}, first: {way.first.trial}, {way.first.detail}"), console)
    for caution in findings.manifest.warnings:
        _print_line(Text.assemble(caution.text, (f" → {caution.remedy}", "dim")), console)
    for each in of_trials:
        text = f"{each.kind} in {each.where}, first: {each.first.text}"
        _print_line(Text.assemble(text, (f" → {each.first.remedy}", "dim")), console)


def _print_line(text: Text, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, 2)))
