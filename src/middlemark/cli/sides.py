"""The two sides that `compare` and `gate` are given: two runs, one run and a factor, or one run that has two sides.

It only finds them; `analysis.pairing` pairs their experiments.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.analysis.pairing import Pairs


def check(command: str, first: Path, second: Path | None, by: str | None, base: str | None, *, trust: bool) -> None:  # noqa: PLR0913 - the whole command line
    """Refuses anything but two runs, or one run and a factor."""
    from middlemark.errors import UsageError

    if (second is None) == (by is None) and (second is not None or not _has_sides(first, trust)):
        raise UsageError(
            f"{command} takes two runs, or one run and `--by`, or one that was run `--against` another",
            remedy=f"middlemark {command} {first} --by middleware, or middlemark {command} {first} OTHER_RUN",
        )
    if base is not None and by is None:
        raise UsageError(
            "`--base` names a value of the factor that `--by` names",
            remedy=f"middlemark {command} {first} --by middleware --base {base}; of two runs the first is the base",
        )


def _has_sides(run: Path, trust: bool) -> bool:
    from middlemark.results.run_folder import RunFolder

    folder = RunFolder(run, is_trusted=trust)
    return folder.manifest_path.is_file() and bool(folder.read_manifest().against)


def pairs(  # noqa: PLR0913 - the whole command line
    first: Path, second: Path | None, by: str | None, base: str | None, only: Sequence[str], *, trust: bool
) -> "Pairs":
    """Read and analyse the runs, and pair their experiments."""
    from middlemark.analysis.pairing import of_two_runs, within_run
    from middlemark.analysis.run import analyse
    from middlemark.plan import Side
    from middlemark.plan.side import FACTOR
    from middlemark.results.run_folder import RunFolder

    run = analyse(RunFolder(first, is_trusted=trust), only)
    if second is not None:
        return of_two_runs(run, analyse(RunFolder(second, is_trusted=trust), only))
    return within_run(run.comparable, by or FACTOR, base if by else Side.BASE)
