"""A published evaluation: what it was, its suites in two extents, its tables with their values, its findings as claims.

`paper.yaml` is one, with a file of comma-separated values for each table; `load` puts all files of a paper together.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from middlemark.errors import SuiteError, UsageError
from middlemark.suite.claims.claim import Selection
from middlemark.suite.claims.parser import ClaimText, bound_of
from middlemark.suite.metrics import Metric, metric_named
from middlemark.suite.yaml.model import Many, Model, Name, closest_first, refusal
from middlemark.suite.yaml.quantity import respelled

PaperName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Sentence = Annotated[str, Field(min_length=1)]


class Extent(StrEnum):
    """How much of a paper is measured."""

    QUICK = "quick"
    """A part of it in minutes, which leaves some findings undecided."""
    FULL = "full"
    """All of it."""


class Equipment(Model):
    """A part of the paper's hardware, and what stands in its place here."""

    theirs: Sentence
    here: Sentence


SuiteKeys = dict[str, Any]
"""Keys of a suite with their values: they replace those of the file, whole."""


class PaperSuite(Model):
    """One suite of a paper: `<suite>.yaml` beside it, and what each extent changes."""

    suite: Name
    quick: SuiteKeys = {}
    full: SuiteKeys = {}

    def keys_of(self, extent: Extent) -> SuiteKeys:
        """What an extent changes."""
        return self.quick if extent is Extent.QUICK else self.full


class PublishedTable(Model):
    """Values that the paper printed: `<table>.csv` beside it."""

    table: Name
    summary: Sentence
    """What it has, in our words."""
    source: Sentence
    """Where it stands in the paper."""
    suite: Name
    """The suite that measures the same cells."""
    series: Many[str] = ("middleware",)
    """The factors that distinguish what is compared in one cell."""


class Explanation(Model):
    """The one setting that a finding comes from, and the experiments that change nothing else."""

    setting: Sentence
    """The worker's option, with both values: `npdu_retention_ms, 0 in place of 5`."""
    says: Sentence
    """What the setting does, and what is no more without it."""
    suite: Name
    claims: Many[ClaimText]
    """It explains the finding where all hold."""


class Otherwise(Model):
    """The same finding in experiments that the paper did not make; they decide nothing of the finding itself."""

    how: Sentence
    """In two or three words: `as methods`, `tuned`."""
    says: Sentence
    """What is measured in place of what the paper measured."""
    suite: Name
    claims: Many[ClaimText]
    """What the finding comes to there."""


class Finding(Model):
    """What the paper concludes, in our words, and the claims that it comes to."""

    finding: Annotated[int, Field(ge=1, strict=True)]
    """Its number."""
    says: Sentence
    source: Sentence
    """Where it stands in the paper."""
    suite: Name | None = None
    """The suite whose results its claims are of."""
    claims: Many[ClaimText] | None = None
    """It holds where all hold, and is refuted where one is refuted."""
    decided_by: str = ""
    """What would decide it, where its claims don't, or where it has none."""
    explained: Explanation | None = None
    """Where it comes from, if one setting is known to make it."""
    otherwise: tuple[Otherwise, ...] = ()
    """Whether it is found otherwise too: as methods, with tuned middlewares."""

    @property
    def beside(self) -> tuple[Explanation | Otherwise, ...]:
        """What is judged beside it, each by claims of its own."""
        return (*([self.explained] if self.explained else []), *self.otherwise)

    @model_validator(mode="after")
    def _can_be_judged_or_says_why_not(self) -> Self:
        if self.claims is None and not self.decided_by:
            raise refusal(f"finding {self.finding} has no claims", allowed="`claims`, or `decided_by`", at=("claims",))
        if self.claims is not None and self.suite is None:
            raise refusal(f"finding {self.finding} has claims of no suite", allowed="`suite`", at=("suite",))
        return self


class Feature(Model):
    """What the paper says that a middleware has or lacks, and what its worker describes."""

    feature: Sentence
    middleware: Name
    theirs: Sentence
    """What the paper says."""
    capability: Name
    """The list of capabilities that `middlemark describe` shows."""
    has: tuple[Name, ...] = ()
    """What is in that list."""
    lacks: tuple[Name, ...] = ()
    """What is not in it."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.has and not self.lacks:
            raise refusal(f"of `{self.feature}` nothing can be checked", allowed="`has` or `lacks`", at=("has",))
        return self

    @property
    def here(self) -> str:
        """What the worker describes, in words: `transports: udp; not tcp`."""
        words = [", ".join(self.has), f"not {', '.join(self.lacks)}" if self.lacks else ""]
        return f"{self.capability}: {'; '.join(word for word in words if word)}".replace("_", " ")


class Change(Model):
    """A claim that was changed after it had been committed."""

    date: date
    finding: Annotated[int, Field(ge=1, strict=True)]
    change: Sentence
    reason: Sentence


class Paper(Model):
    """A published evaluation."""

    paper: PaperName
    title: Sentence
    published: Sentence
    """Where and when."""
    summary: Sentence
    """The question that it answered, in one sentence."""
    equipment: Many[Equipment]
    features: tuple[Feature, ...] = ()
    """Its comparison of what middlewares offer."""
    suites: Many[PaperSuite]
    tables: tuple[PublishedTable, ...] = ()
    findings: Many[Finding]
    changes: tuple[Change, ...] = ()

    @model_validator(mode="after")
    def _names_its_own_suites(self) -> Self:
        names = [suite.suite for suite in self.suites]
        named: Mapping[tuple[str | int, ...], str | None] = {
            **{("tables", number): table.suite for number, table in enumerate(self.tables)},
            **{("findings", number): finding.suite for number, finding in enumerate(self.findings)},
            **{
                ("findings", number, "explained"): finding.explained.suite
                for number, finding in enumerate(self.findings)
                if finding.explained
            },
            **{
                ("findings", number, "otherwise", place): otherwise.suite
                for number, finding in enumerate(self.findings)
                for place, otherwise in enumerate(finding.otherwise)
            },
        }
        for place, suite in named.items():
            if suite is not None and suite not in names:
                allowed = closest_first(suite, names)
                raise refusal(f"the paper has no suite `{suite}`", allowed=allowed, at=(*place, "suite"))
        return self

    @model_validator(mode="after")
    def _numbers_each_finding_once(self) -> Self:
        numbers = [finding.finding for finding in self.findings]
        if len(set(numbers)) < len(numbers):
            raise refusal("a finding has the number of another", allowed="each number once", at=("findings",))
        unknown = [change.finding for change in self.changes if change.finding not in numbers]
        if unknown:
            raise refusal(f"there is no finding {unknown[0]}", allowed=", ".join(map(str, numbers)), at=("changes",))
        return self


METRIC, VALUE, UNIT = "metric", "value", "unit"
OWN_COLUMNS = (METRIC, VALUE, UNIT)


@dataclass(frozen=True)
class PublishedValue:
    """One value of a table."""

    metric: Metric
    selection: Selection
    """The experiments that it is of."""
    value: float | None
    """In the unit at the end of the metric's stored name; None where nothing was received."""


def read_values(text: str, *, file: str) -> tuple[PublishedValue, ...]:
    """All values of a CSV file; refuses what is no metric, value or unit, with its line."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in OWN_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise SuiteError(
            f"the table has no column `{missing[0]}`",
            file=file,
            line=1,
            allowed=f"{', '.join(OWN_COLUMNS)} and factors",
        )
    return tuple(_value(row, file, line) for line, row in enumerate(reader, start=2))


def _value(row: Mapping[str | None, str | None], file: str, line: int) -> PublishedValue:
    if None in row or None in row.values():
        raise SuiteError("the row has not as many cells as there are columns", file=file, line=line)
    cells = {str(name): str(cell) for name, cell in row.items()}
    try:
        metric = metric_named(cells[METRIC])
    except UsageError as error:
        raise SuiteError(error.text, file=file, line=line, allowed=error.remedy) from error
    factors = tuple((name, respelled(name, cell)) for name, cell in cells.items() if cell and name not in OWN_COLUMNS)
    return PublishedValue(metric, Selection(factors), _magnitude(metric, cells, file, line))


def _magnitude(metric: Metric, cells: Mapping[str, str], file: str, line: int) -> float | None:
    if not cells[VALUE]:
        return None
    written = f"{cells[VALUE]} {cells[UNIT]}"
    value = bound_of(metric.dimension, written)
    if value is None or not math.isfinite(value):
        example = metric.dimension.example
        raise SuiteError(
            f"`{written}` is no value of {metric.name}", file=file, line=line, allowed=f"such as {example}"
        )
    return value
