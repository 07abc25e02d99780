"""Every error that Middlemark raises on purpose, and the exit code each ends the program with.

Nothing here prints or exits: `cli.main` turns an error into one message and its exit code.
An outcome of a trial is no error: it is data, see `middlemark.plan.Outcome`.

MiddlemarkError
├── UsageError           2    the command line names something that does not exist
├── SuiteError           2    a suite file says what can't be: file, line, text, what is allowed
├── EnvironmentUnusable  3    what a run needs of the machine: what, and its remedy
│   ├── EnvironmentNotReady   it is missing
│   └── EnvironmentBroke      it was there, and broke while it was used
├── WorkerFailed         3    a worker failed outside a trial: exit, last log lines, path
├── StoreError           3    a run's folder can't be read or written: path, cause
├── ResultsNotAccepted   1    it ran, but a trial is invalid or a threshold was missed
├── Interrupted          130  the user ended it; the run can be resumed
└── InternalError        4    a mistake of Middlemark itself
"""

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import ClassVar


class ExitCode(IntEnum):
    """What the program tells its caller."""

    OK = 0
    NOT_ACCEPTED = 1
    USAGE = 2
    ENVIRONMENT = 3
    INTERNAL = 4
    INTERRUPTED = 130


class MiddlemarkError(Exception):
    """An error that is told to the user in one message: what was wrong, where, what to do."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(self, text: str, *, remedy: str | None = None) -> None:
        super().__init__(text if remedy is None else f"{text}\n{remedy}")
        self.text = text
        self.remedy = remedy


class UsageError(MiddlemarkError):
    """The command line names something that does not exist."""

    exit_code = ExitCode.USAGE


class SuiteError(MiddlemarkError):
    """A suite file can't be understood; lines and columns count from 1."""

    exit_code = ExitCode.USAGE

    def __init__(  # noqa: PLR0913 - one place in a file takes so many words
        self,
        problem: str,
        *,
        file: str,
        line: int | None = None,
        column: int | None = None,
        offending: str | None = None,
        allowed: str | None = None,
    ) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        quoted = "" if offending is None else f"\n  {offending}"
        super().__init__(f"{place}: {problem}{quoted}", remedy=None if allowed is None else f"allowed: {allowed}")
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.offending = offending
        self.allowed = allowed


class EnvironmentUnusable(MiddlemarkError):
    """Something that a run needs of this machine can't be used: it is missing, or it broke."""

    exit_code = ExitCode.ENVIRONMENT

    def __init__(self, missing: str, *, remedy: str) -> None:
        super().__init__(missing, remedy=remedy)
        self.missing = missing


class EnvironmentNotReady(EnvironmentUnusable):
    """It is missing on this machine."""


class EnvironmentBroke(EnvironmentUnusable):
    """It was there, and broke while it was used, as what somebody kills does: another time it may do."""


class WorkerFailed(MiddlemarkError):
    """A worker process ended or misbehaved where no trial could take it as its outcome."""

    exit_code = ExitCode.ENVIRONMENT

    def __init__(
        self, text: str, *, exit_status: int | None, last_log_lines: Sequence[str] = (), log: Path | None = None
    ) -> None:
        lines = "".join(f"\n  {line}" for line in last_log_lines)
        super().__init__(f"{text}{lines}", remedy=None if log is None else f"the whole log: {log}")
        self.exit_status = exit_status
        self.last_log_lines = tuple(last_log_lines)
        self.log = log


class StoreError(MiddlemarkError):
    """A run's folder can't be read or written."""

    exit_code = ExitCode.ENVIRONMENT

    def __init__(self, path: Path, problem: str, remedy: str | None = None) -> None:
        super().__init__(f"{path}: {problem}", remedy=remedy)
        self.path = path
        self.problem = problem


class ResultsNotAccepted(MiddlemarkError):
    """The campaign ran to its end, but a trial is invalid or a threshold was missed."""

    exit_code = ExitCode.NOT_ACCEPTED


class Interrupted(MiddlemarkError):
    """The user ended the campaign; what is stored stays valid."""

    exit_code = ExitCode.INTERRUPTED


class InternalError(MiddlemarkError):
    """A mistake of Middlemark itself."""

    exit_code = ExitCode.INTERNAL
