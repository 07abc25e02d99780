"""Which runs are selected: by middleware, version, workload, machine, suite, tag and date, as people write them.

`library` finds the runs; nothing is read here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Self

from middlemark.analysis.catalogue.library import ListedRun, Shelf
from middlemark.analysis.compare.history import machine_of
from middlemark.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Selection:
    """The conditions that selected runs meet; what is empty is no condition."""

    middleware: str = ""
    """Its name."""
    version: str = ""
    """Of that middleware's library, or of any: `1.10` is that and 1.10.2, not 1.1 or 1.100."""
    workload: str = ""
    machine: str = ""
    """A part of its processor or its id, in small letters or capitals."""
    suite: str = ""
    tag: str = ""
    since: str = ""
    """The first day on which a run may have begun, as `2026-01-31` (UTC)."""
    until: str = ""
    """The last one."""

    def __post_init__(self) -> None:
        """Refuses what is no day."""
        for name in ("since", "until"):
            _day(getattr(self, name), name)

    @classmethod
    def of(cls, form: Mapping[str, str]) -> Self:
        """What fields of a form say; others are passed over."""
        return cls(**{field.name: form.get(field.name, "").strip() for field in fields(cls)})

    @property
    def conditions(self) -> dict[str, str]:
        """What is not empty, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name)}

    def of_shelf(self, shelf: Shelf) -> Shelf:
        """The runs that are selected."""
        return (
            Shelf(tuple(run for run in shelf.runs if self.matches(run)), shelf.unreadable) if self.conditions else shelf
        )

    def matches(self, run: ListedRun) -> bool:
        """Whether all that is said is true of a run."""
        head = run.head
        began = datetime.fromisoformat(head.started_at).date()
        since, until = _day(self.since, "since"), _day(self.until, "until")
        return (
            self._has_middleware(run)
            and self.workload in {"", *run.outline.workloads}
            and self.suite in {"", head.suite}
            and self.tag in {"", *head.tags}
            and self.machine.casefold() in machine_of(head).casefold()
            and (since is None or since <= began)
            and (until is None or began <= until)
        )

    def _has_middleware(self, run: ListedRun) -> bool:
        sides = (*run.head.middlewares.items(), *run.head.base.items())
        versions = [middleware.library.version for name, middleware in sides if self.middleware in {"", name}]
        if not self.version:
            return bool(versions) or not self.middleware
        return any(f"{version}.".startswith(f"{self.version}.") for version in versions)


def _day(text: str, name: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f"`{name}` is {text!r}, which is no day", remedy="write it as 2026-01-31") from error
