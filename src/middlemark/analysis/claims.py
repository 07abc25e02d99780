"""What the measurements say of a claim: it holds, it is refuted, or that stays undecided.

A claim holds where the whole 95 % interval lies on the side that it names, and is refuted where all of it lies on the
other: of claims about equal sides 2.5 % seem to hold by chance. Over several experiments a claim holds where each of
its parts does, which needs no correction (an intersection-union test: Berger, Technometrics 24, 1982), and is refuted
by one part only at a level divided by their number (Bonferroni), so that many parts refute no true claim by chance.
Where base and head were run against each other, each has its own verdict, unless the claim itself names the side.
`claim_parts` finds the parts, `claim_judgement` decides each; this module puts them together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from middlemark.analysis.claim_part import Part
from middlemark.analysis.claim_parts import parts
from middlemark.analysis.experiment import ExperimentFindings
from middlemark.analysis.interval import CONFIDENCE
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdict.verdict import Judgement
from middlemark.plan import Side
from middlemark.plan.side import FACTOR
from middlemark.suite import Claim


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with what became of it."""

    claim: Claim
    judgement: Judgement
    parts: tuple[Part, ...]
    """One for each experiment or pair of experiments that it speaks of, and each of their streams."""
    reason: str = ""
    """Why it is undecided where it has no part that says so."""
    side: Side | None = None
    """Whose workers it is judged of; None where the run has no two sides, or the claim names them itself."""

    def count(self, judgement: Judgement) -> int:
        """How many of its parts came to this."""
        return Counter(part.judgement for part in self.parts)[judgement]


def judged(claims: Sequence[Claim], experiments: Sequence[ExperimentFindings]) -> tuple[JudgedClaim, ...]:
    """Every claim, judged on a run's experiments; on those of each side where it has two."""
    sides = {side: [each for each in experiments if each.experiment.side is side] for side in Side}
    return tuple(
        replace(judge(claim, own), side=side)
        for claim in claims
        for side, own in ({None: experiments} if _names_sides(claim) or not any(sides.values()) else sides).items()
    )


def _names_sides(claim: Claim) -> bool:
    return any(name == FACTOR for selection in claim.selections for name, _ in selection.factors)


def decisive(found: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Those that speak for the run: of two sides the head's, as the base is what it was."""
    return [each for each in found if each.side is not Side.BASE]


def own_claims(findings: RunFindings) -> tuple[JudgedClaim, ...]:
    """The claims of a run's suite."""
    return judged(findings.manifest.claims, findings.claimable)


def judge(claim: Claim, experiments: Sequence[ExperimentFindings]) -> JudgedClaim:
    """One claim."""
    found = parts(claim.statement, experiments, CONFIDENCE)
    if not found:
        return JudgedClaim(claim, Judgement.UNDECIDED, (), "the run has no experiment that it speaks of")
    if all(part.judgement is Judgement.HOLDS for part in found):
        return JudgedClaim(claim, Judgement.HOLDS, found)
    if not any(part.judgement is Judgement.REFUTED for part in found):
        return JudgedClaim(claim, Judgement.UNDECIDED, found)
    strictly = parts(claim.statement, experiments, 1 - (1 - CONFIDENCE) / len(found))
    if any(part.judgement is Judgement.REFUTED for part in strictly):
        return JudgedClaim(claim, Judgement.REFUTED, found)
    reason = f"no part is refuted so surely that it could not be chance among {len(found)}"
    return JudgedClaim(claim, Judgement.UNDECIDED, found, reason)
