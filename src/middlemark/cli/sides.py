"""The sides that `compare` and `gate` are given: several runs, one run and a factor, or one run that has two sides.

It only finds them; `analysis.pairing` and `analysis.base_runs` pair their experiments.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.analysis.pairing import Pairs


def check(command: str, runs: Sequence[Path], by: str | None, base: str | None, *, trust: bool) -> None:
    """Refuses anything but several runs, or one run and a factor."""
    from middlemark.errors import UsageError

    one = len(runs) == 1
    if one is (by is None) and (not one or not _has_sides(runs[0], trust)):
        several = "two runs" if command == "compare" else "runs of the base and the head"
        others = f"{runs[0]} OTHER_RUN" if command == "compare" else f"BASE_1 BASE_2 BASE_3 {runs[-1]}"
        raise UsageError(
            f"{command} takes {several}, or one run and `--by`, or one that was run `--against` another",
            remedy=f"middlemark {command} {runs[0]} --by middleware, or middlemark {command} {others}",
        )
    if base is not None and by is None:
        raise UsageError(
            "`--base` names a value of the factor that `--by` names",
            remedy=f"middlemark {command} {runs[0]} --by middleware --base {base}; of runs the last is the head",
        )


def _has_sides(run: Path, trust: bool) -> bool:
    from middlemark.results.run_folder import RunFolder

    folder = RunFolder(run, is_trusted=trust)
    return folder.manifest_path.is_file() and bool(folder.read_manifest().against)


def of_two_runs(first: Path, second: Path, only: Sequence[str], *, trust: bool) -> "Pairs":
    """Read and analyse two runs, and pair their experiments."""
    from middlemark.analysis.pairing import of_two_runs as paired
    from middlemark.analysis.run import analyse
    from middlemark.results.run_folder import RunFolder

    return paired(*(analyse(RunFolder(each, is_trusted=trust), only) for each in (first, second)))


def within_run(run: Path, by: str | None, base: str | None, only: Sequence[str], *, trust: bool) -> "Pairs":
    """Read and analyse one run, and pair its experiments by a factor, or by the sides that it has."""
    from middlemark.analysis.pairing import within_run as paired
    from middlemark.analysis.run import analyse
    from middlemark.plan import Side
    from middlemark.plan.side import FACTOR
    from middlemark.results.run_folder import RunFolder

    return paired(analyse(RunFolder(run, is_trusted=trust), only).comparable, by or FACTOR, base if by else Side.BASE)


def of_base_runs(runs: Sequence[Path], only: Sequence[str], *, across_machines: bool, trust: bool) -> "Pairs":
    """Read and analyse runs of the base and, the last, the head, and pair their experiments."""
    from middlemark.analysis.base_runs import check_alike
    from middlemark.analysis.base_runs import of_base_runs as paired
    from middlemark.analysis.run import analyse
    from middlemark.results.run_folder import RunFolder

    folders = [RunFolder(each, is_trusted=trust) for each in runs]
    check_alike([(str(each.path), each.read_manifest()) for each in folders], across_machines=across_machines)
    *bases, head = (analyse(each, only) for each in folders)
    return paired(bases, head)
