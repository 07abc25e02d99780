"""What a run came to, in the terminal: rankings, conditions, claims, recommendations, and what to mind.

The words and values are the page's, from the same tables; it prints and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from middlemark.analysis.compare.comparison import Comparison
from middlemark.analysis.compare.metrics import OverSettings
from middlemark.analysis.decisions.claims import judge_own_claims
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan.trial.outcome import ACCEPTED
from middlemark.report.conclusions.claims import print_claims
from middlemark.report.conclusions.headline import Answer, answer, interval_words
from middlemark.report.conclusions.over_settings import CROWDED, Standings, means_table, standings
from middlemark.report.conclusions.precision import spread_lines, stop_lines
from middlemark.report.conclusions.ranking import CLOCKS, Ranking, Terminal, ranking_table
from middlemark.report.conclusions.recommendation import Recommendation, recommendation
from middlemark.report.conclusions.recommendation_tables import READING as MARGINS
from middlemark.report.conclusions.warnings import outcome_counts, uncounted, warned_of
from middlemark.report.elements.formatting import ABSENT
from middlemark.report.elements.labels import Series, distinguishing, series_by_experiment
from middlemark.report.elements.tables import value_cell
from middlemark.report.elements.terminal_tables import WIDE, cell_text, grid, heading_lines, print_table
from middlemark.report.internals.chains import lines_of_chain
from middlemark.report.internals.configuration import load_words
from middlemark.report.internals.machines import machine_lines
from middlemark.report.internals.message_path import message_lines
from middlemark.report.internals.observers import observed_lines, seen_by
from middlemark.report.internals.security import security_costs, security_tables
from middlemark.report.traffic.capacity import capacity_lines
from middlemark.report.traffic.faults import fault_table, flow_words, timeline_words
from middlemark.report.traffic.growth import growth_tables
from middlemark.report.traffic.interop import pair_cost_table, pair_table, pairs_over_settings
from middlemark.report.traffic.links import link_lines, route_lines
from middlemark.report.traffic.scaling import scaling_lines
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Observation
from middlemark.suite.yaml.quantity import plural

READING = (
    "Medians of trials with their confidence intervals below; *: pooled over all trials' samples. A rank is an "
    "interval, from the best to the worst rank that the trials allow; all ranks of a table hold together with 95 %. "
    "†: a baseline, the limit of the machine."
)


def print_summary(run: Path | RunFindings, console: Console) -> None:
    """Print what a run came to."""
    findings = run if isinstance(run, RunFindings) else analyse(RunFolder(run))
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    recommended = recommendation(findings)
    if recommended is None:
        _print_comparisons(findings, series_of, console)
    else:
        print_recommendation(recommended, console)
        console.print(Text(interval_words(findings), "dim"))
    _print_damage(findings, console)
    _print_cautions(findings, series_of, console)


def _print_comparisons(findings: RunFindings, series_of: Mapping[str, Series], console: Console) -> None:
    varying = distinguishing(findings.comparisons)
    answers = [answer(comparison, series_of, varying) for comparison in findings.comparisons]
    told: set[tuple[str, str]] = set()
    for comparison, conclusion in zip(findings.comparisons, answers, strict=True):
        _print_comparison(comparison, conclusion, series_of, told, console)
    _print_standings(standings(findings.comparisons, answers, series_of) if len(answers) > CROWDED else None, console)
    if (pairs := pairs_over_settings(findings.comparisons, series_of)) is not None:
        console.print(Text(f"\n{pairs.title}", "bold"))
        print_table(pairs, console)
    _print_lines("Capacity", capacity_lines(findings.capacities, series_of), console)
    _print_lines("How latency grows with size", scaling_lines(findings), console)
    costs = security_costs(findings, series_of)
    for table in (*growth_tables(findings, series_of), *security_tables(costs)):
        console.print(Text(f"\n{table.full_title}", "bold"))
        print_table(table, console)
    _print_lines("Spread over trials", spread_lines(findings, series_of), console)
    _print_lines("Enough trials", stop_lines(findings, series_of), console)
    if claims := judge_own_claims(findings):
        console.print(Text("\nClaims", "bold"))
        print_claims(claims, console)
    if findings.comparisons:
        console.print(Text(f"\n{READING} {interval_words(findings)}", "dim"))


def _print_standings(whole: Standings | None, console: Console) -> None:
    if whole is not None:
        console.print(Text(f"\n{whole.table.title}", "bold"))
        print_table(whole.table, console)
        console.print(Text(whole.sentence))


def print_recommendation(advice: Recommendation, console: Console) -> None:
    """Print what to take for an application."""
    console.print()
    console.print(Text.assemble((advice.application, "bold"), (f"  {advice.demand}", "dim")))
    if advice.fitting is not None:
        print_table(advice.fitting, console)
    for label, reason in advice.others:
        _print_line(Text.assemble((label, ""), (f": {reason}", "dim")), console)
    console.print(Text.assemble((f"{advice.headline}. ", "bold"), " ".join(advice.sentences)))
    console.print(Text(f"\n{MARGINS}", "dim"))


def print_over_settings(compared: Sequence[OverSettings], console: Console) -> None:
    """Print the geometric means; nothing where there are no two settings."""
    means = means_table(compared)
    if means.rows:
        console.print()
        console.print(Text(means.title, "bold"))
        print_table(means, console)
        console.print(Text(means.caption, "dim"))


def print_message_paths(findings: RunFindings, console: Console) -> None:
    """Print the paths of single messages, of all settings whose kernel path was observed."""
    series_of = series_by_experiment(findings.manifest, (candidate.experiment for candidate in findings.experiments))
    varying = distinguishing(findings.comparisons)
    for comparison in findings.comparisons:
        lines = list(message_lines(seen_by(comparison, Observation.KERNEL_PATH), series_of))
        if lines:
            conclusion = answer(comparison, series_of, varying)
            console.print()
            console.print(Text.assemble((conclusion.workload, "bold"), (f"  {conclusion.load}", "dim")))
        for line in lines:
            console.print(line)


def _print_comparison(
    comparison: Comparison,
    conclusion: Answer,
    series_of: Mapping[str, Series],
    told: set[tuple[str, str]],
    console: Console,
) -> None:
    console.print()
    console.print(Text.assemble((conclusion.workload, "bold"), (f"  {conclusion.load}", "dim")))
    ranking = ranking_table(comparison, series_of)
    _print_ranking(ranking, console)
    if ranking.between_clocks:
        _print_line(Text(CLOCKS, "dim"), console)
    _print_unranked(ranking, told, console)
    _print_outcomes(comparison, series_of, console)
    _print_conditions(comparison, series_of, console)
    _print_observed(comparison, series_of, console)
    console.print(Text.assemble((f"{conclusion.headline}. ", "bold"), " ".join(conclusion.sentences)))


def _print_unranked(ranking: Ranking, told: set[tuple[str, str]], console: Console) -> None:
    """Each reason for no rank once; `told` are the names with their reasons that were printed with tables before."""
    unranked = [(line.series.label, line.unranked) for line in ranking.lines if line.unranked]
    for label, reason in unranked:
        if (label, reason) not in told:
            _print_line(Text.assemble((label, ""), (f": {reason}", "dim")), console)
    again = [label for label, reason in unranked if (label, reason) in told]
    if again:
        _print_line(Text.assemble((", ".join(again), ""), (": no rank, for the reasons above", "dim")), console)
    told.update(unranked)


def _print_ranking(ranking: Ranking, console: Console) -> None:
    """The lines that have a rank; those that have none are printed below with the reason."""
    rows = _ranking_grid(ranking, {Terminal.NEVER})
    unbounded = console.options.update(max_width=10 * WIDE)
    if console.width < max(WIDE, Measurement.get(console, unbounded, rows).maximum):
        rows = _ranking_grid(ranking, {Terminal.NEVER, Terminal.WHERE_WIDE})
    if rows.row_count:
        console.print(rows)


def _ranking_grid(ranking: Ranking, left_out: set[Terminal]) -> Grid:
    columns = [column for column in ranking.columns if column.in_terminal not in left_out]
    rows = grid()
    rows.add_column("", justify="right", no_wrap=True)
    rows.add_column("middleware", min_width=14)
    for ranking_column in columns:
        rows.add_column(heading_lines(ranking_column.brief), justify="right", no_wrap=True)
    for line in ranking.lines:
        if not line.unranked:
            name = Text.assemble(line.series.label, ("†" if line.series.baseline else "", "dim"))
            cells = (
                cell_text(
                    value_cell(column.cell(line))
                    if column.in_terminal is Terminal.WITHOUT_INTERVAL
                    else column.cell(line),
                    "" if place else "bold",
                )
                for place, column in enumerate(columns)
            )
            rows.add_row(Text(line.rank, "bold"), name, *cells)
    return rows


def _print_conditions(comparison: Comparison, series_of: Mapping[str, Series], console: Console) -> None:
    """The split of a chain, faults, pairs, links, routes and CPU load, where the setting has any."""
    shown = [make(comparison, series_of) for make in (fault_table, pair_table, pair_cost_table)]
    for table in (*lines_of_chain(comparison, series_of), *filter(None, shown)):
        print_table(table, console, table.title.lower())
    links = (*link_lines(comparison), *route_lines(comparison))
    conditions = (*flow_words(comparison, series_of), *timeline_words(comparison), *links)
    for line in (*machine_lines(comparison, series_of), *conditions):
        _print_line(Text(line, "dim"), console)
    for candidate in comparison.experiments:
        words = load_words(candidate)
        if words:
            _print_line(Text(f"{series_of[candidate.experiment.id].label}: CPU load at {words}", "dim"), console)


def _print_observed(comparison: Comparison, series_of: Mapping[str, Series], console: Console) -> None:
    lines = observed_lines(comparison, series_of)
    if lines:
        console.print(Text("observed from outside", "dim"))
    for line in lines:
        _print_line(Text(line, "dim"), console)


def _print_outcomes(comparison: Comparison, series_of: Mapping[str, Series], console: Console) -> None:
    """Trials that don't count, but for those that are not applicable, which the line above says."""
    for candidate in comparison.experiments:
        kinds: dict[str, tuple[int, str]] = {}
        for (kind, why), n in sorted(outcome_counts(candidate).items()):
            count, first = kinds.get(kind, (0, why))
            kinds[kind] = (count + n, first)
        for kind, (count, why) in kinds.items():
            if kind not in ACCEPTED:
                words = f"{plural(count, 'trial')} {kind.replace('_', ' ')}, {why or ABSENT}"
                _print_line(Text(f"{series_of[candidate.experiment.id].label}: {words}", "yellow"), console)


def _print_lines(title: str, lines: Sequence[str], console: Console) -> None:
    if lines:
        console.print(Text(f"\n{title}", "bold"))
    for line in lines:
        _print_line(Text(line), console)


def _print_damage(findings: RunFindings, console: Console) -> None:
    if findings.missing:
        console.print(Text(f"\n{plural(len(findings.missing), 'planned trial')} not run", "yellow"))
    for damage in findings.damaged:
        console.print(Text.assemble((f"\ntrial {damage.trial} is left out:", "red"), f" {damage.problem}"))


def _print_cautions(findings: RunFindings, series_of: Mapping[str, Series], console: Console) -> None:
    """Trials that don't count, and the warnings of the machine and of the others."""
    of_trials = warned_of(findings, series_of)
    not_counted = uncounted(findings, series_of)
    if findings.manifest.warnings or of_trials or not_counted:
        console.print(Text("\nBefore you rely on these results", "bold"))
    for outcome in not_counted:
        words = f"{outcome.kind} in {outcome.where}, first: {outcome.first.trial}, {outcome.first.detail}"
        _print_line(Text(words), console)
    for caution in findings.manifest.warnings:
        _print_line(Text.assemble(caution.text, (f" → {caution.remedy}", "dim")), console)
    for warned in of_trials:
        text = f"{warned.kind} in {warned.where}, first: {warned.first.text}"
        _print_line(Text.assemble(text, (f" → {warned.first.remedy}", "dim")), console)


def _print_line(text: Text, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, 2)))
