"""The two sides that `compare` and `gate` are given: two runs, or one run and a factor. It only finds them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.analysis.pairing import Pairs


def check(command: str, first: Path, second: Path | None, by: str | None, base: str | None) -> None:
    """Refuses anything but two runs, or one run and a factor."""
    from middlemark.errors import UsageError

    if (second is None) == (by is None):
        raise UsageError(
            f"{command} takes two runs, or one run and `--by`",
            remedy=f"middlemark {command} {first} --by middleware, or middlemark {command} {first} OTHER_RUN",
        )
    if base is not None and by is None:
        raise UsageError(
            "`--base` names a value of the factor that `--by` names",
            remedy=f"middlemark {command} {first} --by middleware --base {base}; of two runs the first is the base",
        )


def pairs(first: Path, second: Path | None, by: str | None, base: str | None, only: Sequence[str]) -> "Pairs":
    """Read and analyse the runs, and pair their experiments."""
    from middlemark.analysis.pairing import of_two_runs, within_run
    from middlemark.analysis.run import analyse
    from middlemark.analysis.run_folder import RunFolder

    run = analyse(RunFolder(first), only)
    if second is not None:
        return of_two_runs(run, analyse(RunFolder(second), only))
    return within_run(run.experiments, by or "", base)
