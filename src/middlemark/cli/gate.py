"""`middlemark gate`: whether a change is accepted, by conditions on measurements before and after it.

`analysis.decisions.gate` decides and `report.conclusions.gate` shows the result; a failed or undecided condition gives
exit code 1.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import compare
from middlemark.cli.arguments import Trust
from middlemark.cli.boundary import say
from middlemark.cli.history import runs_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.compare.pairing import Pairs
    from middlemark.analysis.decisions.gate import JudgedCondition


class Undecided(StrEnum):
    """The effect of an undecided condition on the exit code."""

    PASS = "pass"  # noqa: S105 - a word of the command line
    FAIL = "fail"


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="The last runs of the base, three or more, then the head; or one run that has both.",
        ),
    ],
    fail_if: Annotated[
        list[str],
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="`p99(latency) > +5 %`: a change from base to head; `loss > 1 %`: a value of head; may be repeated.",
        ),
    ],
    by: Annotated[
        str | None, typer.Option(metavar="FACTOR", help="In one run: base and head are values of this factor.")
    ] = None,
    base: Annotated[str | None, typer.Option(metavar="VALUE", help="With --by: the value that is the base.")] = None,
    history_folder: Annotated[
        Path | None,
        typer.Option("--history", metavar="DIR", help="The base: earlier runs in DIR, of HEAD's suite and machine."),
    ] = None,
    last: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="With --history: how many of them, the newest.")
    ] = 10,
    only: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Only experiments with this factor value; may be repeated.")
    ] = None,
    across_machines: Annotated[
        bool, typer.Option("--across-machines", help="Accept base runs of different machines.")
    ] = False,
    undecided: Annotated[
        Undecided, typer.Option(help="Whether the gate passes or fails where a condition is undecided.")
    ] = Undecided.FAIL,
    junit_file: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary for a pull request.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Fail if a change made a metric significantly worse than allowed."""
    if history_folder is not None:
        _check_head(runs, by)
        runs = [*runs_before(runs[0], history_folder, last, across_machines=across_machines, trust=trust), *runs]
    compare.check_sides("gate", runs, by, base, trust=trust)
    from middlemark.analysis.decisions.gate import judge_conditions, parse_condition
    from middlemark.report.conclusions.gate import as_data, junit, markdown, print_gated
    from middlemark.results.files import write_text

    conditions = [parse_condition(text) for text in fail_if]
    chosen = only or []
    pairs = (
        compare.pair_within(runs[0], by, base, chosen, trust=trust)
        if len(runs) == 1
        else compare.pair_with_bases(runs, chosen, across_machines=across_machines, trust=trust)
    )
    judged = judge_conditions(pairs.pairs, conditions)
    if junit_file is not None:
        write_text(junit_file, junit(judged, pairs))
    if markdown_file is not None:
        write_text(markdown_file, markdown(judged, pairs, undecided_fails=undecided is Undecided.FAIL))
    if as_json:
        say(json.dumps({"conditions": as_data(judged), "alone": pairs.alone}, indent=2))
    else:
        from middlemark.report.elements.plain_text import Screen

        print_gated(judged, Screen())
        for name in pairs.alone:
            say(name)
    _check(judged, fail_if, pairs, undecided_fails=undecided is Undecided.FAIL)


def _check_head(runs: "Sequence[Path]", by: str | None) -> None:
    from middlemark.errors import UsageError

    if len(runs) > 1 or by is not None:
        raise UsageError(
            "--history finds the runs of the base, so that the head alone is named",
            remedy=f"middlemark gate {runs[-1]} --history runs --last 10",
        )


def _check(
    judged: "Sequence[JudgedCondition]", fail_if: "Sequence[str]", pairs: "Pairs", *, undecided_fails: bool
) -> None:
    from middlemark.analysis.verdicts.judge import Judgement
    from middlemark.errors import ResultsNotAccepted, UsageError
    from middlemark.report.conclusions.gate import headline

    texts = {condition.condition.text for condition in judged}
    idle = [text for text in fail_if if " ".join(text.split()) not in texts]
    if idle:
        raise UsageError(
            f"no stream of these runs has the metric of `{idle[0]}`",
            remedy="messages have a latency, ping-pongs a round trip; `middlemark report` shows all metrics",
        )
    refused = {Judgement.REFUTED, *([Judgement.UNDECIDED] if undecided_fails else [])}
    if any(condition.result.judgement in refused for condition in judged):
        remedy = _remedy(judged, of_runs=any(pair.base_runs for pair in pairs.pairs))
        if all(condition.result.judgement is not Judgement.REFUTED for condition in judged):
            remedy += "; with --undecided pass, only significantly worse metrics fail"
        raise ResultsNotAccepted(headline(judged), remedy=remedy)
    if undecided_fails and pairs.gone:
        raise ResultsNotAccepted(
            f"head was not measured in all experiments of the base: {'; '.join(pairs.gone)}",
            remedy="run the whole suite on head too, or select with --only what both have",
        )


def _remedy(judged: "Sequence[JudgedCondition]", *, of_runs: bool) -> str:
    from middlemark.analysis.verdicts.difference import Lacks

    lacking = {condition.lacks for condition in judged}
    if Lacks.RUNS in lacking:
        return (
            "give three or more runs of the base before the head, or measure both in alternation with "
            "`middlemark run --against`"
        )
    if Lacks.VALUES in lacking:
        return "the table says why there is no value; a longer `window` in the suite, or more trials, give more samples"
    more = "runs of the base" if of_runs else "trials"
    return f"more {more} make the intervals narrower; the table has the values"
