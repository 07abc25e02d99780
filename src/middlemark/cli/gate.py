"""`middlemark gate`: whether a change may go in, by conditions on what was measured before and after it.

`analysis.decisions.gate` decides and `report.conclusions.gate` shows; a failed condition ends the program with exit
code 1.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli import compare
from middlemark.cli.arguments import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.compare.pairing import Pairs
    from middlemark.analysis.decisions.gate import JudgedCondition


class Undecided(StrEnum):
    """What a condition that is not decided does to the exit code."""

    PASS = "pass"  # noqa: S105 - a word of the command line
    FAIL = "fail"


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="BASE... HEAD", help="The last runs of the base, three or more, and the head; or one run of both."
        ),
    ],
    fail_if: Annotated[
        list[str],
        typer.Option(
            "--fail-if",
            metavar="CONDITION",
            help="`p99(latency) > +5 %`: a change of head against base; without a sign a value; may be repeated.",
        ),
    ],
    by: Annotated[
        str | None, typer.Option(metavar="FACTOR", help="Base and head are values of this factor in one run.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="With --by: the value that is the base.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Only experiments with this factor; may be repeated.")
    ] = None,
    across_machines: Annotated[
        bool, typer.Option("--across-machines", help="Take runs of different machines for runs of one.")
    ] = False,
    undecided: Annotated[
        Undecided, typer.Option(help="What becomes of the gate where the trials decide nothing.")
    ] = Undecided.FAIL,
    junit_file: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary for a pull request.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Fail where a change made something measurably worse than it may be."""
    compare.check_sides("gate", runs, by, base, trust=trust)
    from middlemark.analysis.decisions.gate import judge_conditions, parse_condition
    from middlemark.report.conclusions.gate import as_data, junit, markdown, print_gated
    from middlemark.results.files import write_text

    conditions = [parse_condition(each) for each in fail_if]
    chosen = only or []
    pairs = (
        compare.pair_within(runs[0], by, base, chosen, trust=trust)
        if len(runs) == 1
        else compare.pair_with_bases(runs, chosen, across_machines=across_machines, trust=trust)
    )
    found = judge_conditions(pairs.pairs, conditions)
    if junit_file is not None:
        write_text(junit_file, junit(found, pairs))
    if markdown_file is not None:
        write_text(markdown_file, markdown(found, pairs, undecided_fails=undecided is Undecided.FAIL))
    if as_json:
        typer.echo(json.dumps({"conditions": as_data(found), "alone": pairs.alone}, indent=2))
    else:
        from rich.console import Console

        print_gated(found, Console())
        for each in pairs.alone:
            typer.echo(each)
    _check(found, fail_if, pairs, undecided_fails=undecided is Undecided.FAIL)


def _check(
    found: "Sequence[JudgedCondition]", fail_if: "Sequence[str]", pairs: "Pairs", *, undecided_fails: bool
) -> None:
    from middlemark.analysis.verdicts.across_runs import TOO_FEW_RUNS
    from middlemark.analysis.verdicts.judge import Judgement
    from middlemark.errors import ResultsNotAccepted, UsageError
    from middlemark.report.conclusions.gate import headline

    judged = {each.condition.text for each in found}
    idle = [each for each in fail_if if " ".join(each.split()) not in judged]
    if idle:
        raise UsageError(
            f"no stream of these runs has what `{idle[0]}` asks for",
            remedy="a latency is of messages, a round trip of ping-pongs; `middlemark report` shows what there is",
        )
    refused = {Judgement.REFUTED, *([Judgement.UNDECIDED] if undecided_fails else [])}
    if any(each.judged.judgement in refused for each in found):
        remedy = "more trials narrow the intervals; the table has the values"
        if any(pair.base_runs for pair in pairs.pairs):
            remedy = "more runs of the base narrow the intervals; the table has the values"
        if any(each.judged.reason == TOO_FEW_RUNS for each in found):
            remedy = "give the last three or more runs of the base before the head, or measure both in turns with "
            remedy += "`middlemark run --against`"
        if all(each.judged.judgement is not Judgement.REFUTED for each in found):
            remedy += "; with --undecided pass only what got significantly worse fails"
        raise ResultsNotAccepted(headline(found), remedy=remedy)
    if undecided_fails and pairs.gone:
        raise ResultsNotAccepted(
            f"head was not measured in all that the base was: {'; '.join(pairs.gone)}",
            remedy="run the whole suite on head too, or choose with --only what both have",
        )
