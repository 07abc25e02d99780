"""Whether the experiments of a suite are there that its claims speak of.

Names that the suite itself writes out are checked as it is read; what only the expanded matrix knows is asked here,
before anything runs, and answered with the place in the suite's file.
"""

from __future__ import annotations

from collections.abc import Sequence

from middlemark.errors import SuiteError
from middlemark.plan import Experiment, is_selected
from middlemark.suite import ALL_MIDDLEWARES, LoadedSuite, Selection
from middlemark.suite.claim import STREAM
from middlemark.suite.document import read_document
from middlemark.suite.model import closest_first


def check(loaded: LoadedSuite, experiments: Sequence[Experiment]) -> None:
    """Refuses the first claim that speaks of what no experiment is."""
    every = any(choice.middleware == ALL_MIDDLEWARES for choice in loaded.suite.middlewares)
    for number, claim in enumerate(loaded.suite.claims):
        for selection in claim.selections:
            if every and "middleware" in dict(selection.factors):
                selection = _without_middleware(selection)  # noqa: PLW2901 - who has no worker here is left out, not wrong
            if not any(is_selected(each, selection) for each in experiments):
                raise _refusal(loaded, number, selection, experiments)


def _without_middleware(selection: Selection) -> Selection:
    return Selection(tuple(pair for pair in selection.factors if pair[0] != "middleware"))


def _refusal(loaded: LoadedSuite, number: int, selection: Selection, experiments: Sequence[Experiment]) -> SuiteError:
    document = read_document(loaded.text, file=loaded.file)
    for name, value in selection.factors:
        known = _values(name, experiments)
        if not known:
            factors = sorted({factor for each in experiments for factor in each.factors} | {STREAM})
            return document.error(f"no factor `{name}`", ("claims", number), closest_first(name, factors))
        if not any(is_selected(each, Selection(((name, value),))) for each in experiments):
            problem = f"no experiment of the suite has {name}={value}"
            return document.error(problem, ("claims", number), f"{name}: {closest_first(value, known)}")
    return document.error(
        f"no experiment of the suite has all of {selection}",
        ("claims", number),
        "a selection that an experiment has; `middlemark run --dry-run` shows them",
    )


def _values(name: str, experiments: Sequence[Experiment]) -> list[str]:
    if name == STREAM:
        return sorted({stream.name for each in experiments for stream in each.streams})
    return sorted({each.factors[name] for each in experiments if name in each.factors})
