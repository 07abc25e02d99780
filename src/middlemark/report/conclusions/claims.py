"""Judged claims for the terminal, for the page, and as data.

A claim of one part has its effect beside it; one of several says in how many it holds, and each part has a line
(in the terminal those that do not hold). It judges nothing: `analysis.decisions.claims` did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from rich.console import Console
from rich.text import Text

from middlemark.analysis.decisions.claim_tests import ClaimPart, ClaimTest, Effect, Scale
from middlemark.analysis.decisions.claims import JudgedClaim
from middlemark.analysis.verdicts.difference import Test
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import varying_factors
from middlemark.plan.schedule import is_search
from middlemark.report.conclusions.comparison import UNITS, json_values, points
from middlemark.report.elements.formatting import PERCENT, times
from middlemark.report.elements.tables import Table, named, sentences, table, values
from middlemark.report.elements.terminal_tables import grid
from middlemark.suite import Dimension
from middlemark.suite.claims.claim import STREAM
from middlemark.suite.yaml.quantity import plural

STYLES = {Judgement.HOLDS: "bold green", Judgement.REFUTED: "bold red", Judgement.UNDECIDED: "yellow"}
READING = (
    "A claim holds where the whole 95 % confidence interval agrees with it, is refuted where the whole interval "
    "contradicts it, and is undecided otherwise. With several parts it holds where each part does; one part refutes "
    "it, at a level divided by the number of parts."
)


@dataclass(frozen=True)
class Line:
    """One claim, or one part of a claim, as it is shown."""

    judgement: Judgement
    text: str
    """The claim's text, or what tells the part from the others."""
    effect: str
    n: str
    test: str
    why: str


@dataclass(frozen=True)
class ClaimShown:
    """A claim with its parts, where it has several."""

    line: Line
    parts: tuple[Line, ...]

    @property
    def holding(self) -> tuple[Line, ...]:
        """The parts that hold, of which nobody reads fifty."""
        return tuple(part for part in self.parts if part.judgement is Judgement.HOLDS)

    @property
    def others(self) -> tuple[Line, ...]:
        """The parts that decide against the claim, or leave it undecided."""
        return tuple(part for part in self.parts if part.judgement is not Judgement.HOLDS)


def claims_shown(judged: Sequence[JudgedClaim]) -> list[ClaimShown]:
    """Every claim as it is shown."""
    return [_claim_shown(claim) for claim in judged]


def claims_table(claims: Sequence[ClaimShown]) -> Table | None:
    """Claims and their parts as rows; None where there are none."""
    rows = [
        (line.text, line.judgement.value, line.effect, line.n, line.test, line.why)
        for claim in claims
        for line in (claim.line, *claim.parts)
    ]
    columns = (sentences("claim"), *named("judgement"), *values("effect", "n"), sentences("test"), sentences("why"))
    return table("Claims", columns, rows, READING) if rows else None


def _claim_shown(claim: JudgedClaim) -> ClaimShown:
    if len(claim.parts) == 1:
        only = claim.parts[0]
        as_judged = replace(only, judgement=claim.judgement)  # among the claims of a finding more may be asked of it
        return ClaimShown(_line(as_judged, _text(claim), _why(claim, claim.reason or only.reason)), ())
    came_to = [f"{judgement.value} in {claim.count(judgement)}" for judgement in Judgement if claim.count(judgement)]
    effect = f"{', '.join(came_to)} of {plural(len(claim.parts), 'part')}" if claim.parts else ""
    tests = dict.fromkeys(part.test.value for part in claim.parts if part.test is not ClaimTest.NONE)
    line = Line(claim.judgement, _text(claim), effect, "", "; ".join(tests), _why(claim, claim.reason))
    settings = _settings(claim.parts)
    return ClaimShown(
        line, tuple(_line(part, setting, part.reason) for part, setting in zip(claim.parts, settings, strict=True))
    )


def _why(claim: JudgedClaim, reason: str) -> str:
    n = claim.n_not_applicable
    left_out = f"{plural(n, 'experiment')} that it selects {'is' if n == 1 else 'are'} not applicable" if n else ""
    return "; ".join(words for words in (reason, left_out) if words)


def _text(claim: JudgedClaim) -> str:
    return f"{claim.side}: {claim.claim.text}" if claim.side else claim.claim.text


def _line(part: ClaimPart, words: str, why: str) -> Line:
    noun = "block" if part.test in {Test.SIGNED_RANKS, Test.PAIRED_T, ClaimTest.STEPS} else "trial"
    if any(is_search(subject.experiment) for subject in part.subjects):
        noun = "search"
    n = plural(part.n_trials, noun) if part.n_trials else ""
    test = "" if part.test is ClaimTest.NONE else part.test.value
    return Line(part.judgement, words, effect_words(part.effect), n, test, why)


def effect_words(effect: Effect | None) -> str:
    """`0.43 × (0.40 to 0.47)`, `412 µs (398 to 431)`."""
    match effect:
        case None:
            return ""
        case Effect(Scale.TIMES):
            return times(effect)
        case Effect(Scale.DIFFERENCE):
            return points(effect)
        case Effect(Scale.TRIALS):
            return f"{_span(effect, Dimension.SHARE)} of trials"
        case _:
            return _span(effect, effect.dimension or Dimension.TIME)


def _span(effect: Effect, dimension: Dimension) -> str:
    unit = PERCENT if dimension is Dimension.SHARE else UNITS[dimension]
    value, low, high = (unit.write(number) for number in (effect.value, effect.low, effect.high))
    return f"{value} {unit.name} ({low} to {high})"


def _settings(parts: Sequence[ClaimPart]) -> list[str]:
    """What tells each part from the others: the fewest factors that do, and the stream where it takes one."""
    names = [*varying_factors([subject.experiment for part in parts for subject in part.subjects]), STREAM]
    n_told_apart = _n_told_apart(parts, names)
    # From the end: a workload says more than the size and the rate that come with it.
    for name in reversed(names):
        rest = [other for other in names if other != name]
        if rest and _n_told_apart(parts, rest) == n_told_apart:
            names = rest
    return [" ".join(f"{name}={value}" for name in names if (value := _value(part, name))) for part in parts]


def _n_told_apart(parts: Sequence[ClaimPart], names: Sequence[str]) -> int:
    return len({tuple(_value(part, name) for name in names) for part in parts})


def _value(part: ClaimPart, name: str) -> str:
    if name == STREAM:
        return part.stream or ""
    values = list(dict.fromkeys(subject.experiment.factors.get(name, "none") for subject in part.subjects))
    return " against ".join(values) if len(values) < 3 else f"{values[0]} … {values[-1]}"


def headline(judged: Sequence[JudgedClaim]) -> str:
    """`2 of 3 claims hold, 1 refuted, 0 undecided`."""
    count = {kind: sum(claim.judgement is kind for claim in judged) for kind in Judgement}
    holds = "holds" if len(judged) == 1 else "hold"
    return (
        f"{count[Judgement.HOLDS]} of {plural(len(judged), 'claim')} {holds}, {count[Judgement.REFUTED]} refuted, "
        f"{count[Judgement.UNDECIDED]} undecided"
    )


def print_claims(judged: Sequence[JudgedClaim], console: Console) -> None:
    """A line a claim, and under it those of its several parts that do not hold."""
    table = grid("", "claim", "effect (95 %)", "n")
    for shown in claims_shown(judged):
        for line, style in ((shown.line, "bold"), *((part, "dim") for part in shown.others)):
            words = Text(line.text, style if shown.parts else "")
            if line.why:
                words.append(f"\n{line.why}", "dim")
            table.add_row(Text(line.judgement.value, STYLES[line.judgement]), words, Text(line.effect), Text(line.n))
    console.print(table)
    console.print(Text(headline(judged), "bold"))


def as_data(judged: Sequence[JudgedClaim]) -> list[dict[str, object]]:
    """Every claim for a program to read; values in the units that the metrics' names end in."""
    return [
        {
            "claim": claim.claim.text,
            "side": claim.side,
            "judgement": claim.judgement.value,
            "reason": claim.reason or None,
            "not_applicable": claim.n_not_applicable,
            "parts": [
                {
                    "experiments": [subject.experiment.id for subject in part.subjects],
                    "stream": part.stream,
                    "judgement": part.judgement.value,
                    "test": part.test.value,
                    "effect": None if part.effect is None else json_values(asdict(part.effect)),
                    "n": part.n_trials,
                    "reason": part.reason or None,
                }
                for part in claim.parts
            ],
        }
        for claim in judged
    ]
