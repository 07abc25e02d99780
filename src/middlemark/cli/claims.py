"""`middlemark claims`: judges claims on a stored run, its suite's own or others.

It reads the claims; `analysis.decisions.claims` judges and `report.conclusions.claims` shows them. Claims affect the
exit code only with `--fail-if`.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.arguments import Trust, analysed
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from middlemark.analysis.decisions.claims import JudgedClaim
    from middlemark.suite import Claim


class FailIf(StrEnum):
    """What ends the program with exit code 1."""

    REFUTED = "refuted"
    UNDECIDED = "undecided"


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder, as printed by `middlemark run`.")],
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Claims to judge in place of the run's own: a list in YAML, or a suite."),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A claim to judge in place of the run's own; may be repeated."),
    ] = None,
    fail_if: Annotated[
        FailIf | None,
        typer.Option("--fail-if", help="Exit code 1 if a claim is refuted; with `undecided` also if one is undecided."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Judge claims on a stored run: each holds, is refuted, or is undecided."""
    from middlemark.analysis.decisions.claims import judge_claims, judge_own_claims
    from middlemark.report.conclusions.claims import READING, as_data, print_claims

    claims = _claims(file, claim or [])
    findings = analysed(run, trust=trust)
    judged = judge_claims(claims, findings.claimable) if claims else judge_own_claims(findings)
    _check_any(judged, run)
    if as_json:
        say(json.dumps({"claims": as_data(judged)}, indent=2))
    else:
        from rich.text import Text

        from middlemark.report.elements.plain_text import Screen

        console = Screen()
        print_claims(judged, console)
        console.print(Text(READING, "dim"))
    _check(judged, fail_if)


def _claims(file: str | None, texts: "Sequence[str]") -> "list[Claim]":
    from middlemark.suite import load_claims
    from middlemark.suite.load import parse_claims

    return [*(load_claims(file) if file is not None else ()), *parse_claims(texts)]


def _check_any(judged: "Sequence[JudgedClaim]", run: Path) -> None:
    from middlemark.errors import UsageError

    if not judged:
        raise UsageError(
            "the run's suite has no claims, and none is given",
            remedy=f"middlemark claims {run} --claim 'no loss[reliability=reliable]'",
        )


def _check(judged: "Sequence[JudgedClaim]", fail_if: FailIf | None) -> None:
    from middlemark.analysis.decisions.claims import decisive
    from middlemark.analysis.verdicts.judge import Judgement
    from middlemark.errors import ResultsNotAccepted
    from middlemark.report.conclusions.claims import headline

    refused = {
        None: set(),
        FailIf.REFUTED: {Judgement.REFUTED},
        FailIf.UNDECIDED: {Judgement.REFUTED, Judgement.UNDECIDED},
    }[fail_if]
    deciding = decisive(judged)
    if any(claim.judgement in refused for claim in deciding):
        raise ResultsNotAccepted(
            headline(deciding), remedy="more trials make the intervals narrower; the table has the effects"
        )
