"""Whatever a run folder holds, reading it ends with a report, with damaged trials named, or with one error that says where."""

import random
from pathlib import Path
from unittest.mock import patch

import pytest

from hostile_runs import damaged
from middlemark.analysis.catalogue.library import RunLibrary
from middlemark.analysis.dataframes import load
from middlemark.analysis.run import analyse
from middlemark.campaign.campaign import Campaign  # noqa: F401 - that it comes up beside the rest
from middlemark.errors import MiddlemarkError
from middlemark.plan import replanned
from middlemark.report.output.data import export
from middlemark.report.output.formats import ExportFormat
from middlemark.report.output.html import render
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_given
from shared_runs import GOLDEN

RUNS = sorted(path for path in GOLDEN.iterdir() if (path / "manifest.json").is_file())


def read_in_every_way(run: Path, out: Path, *, whole: bool) -> None:
    """As `report`, `export`, `serve` and `run --resume` read it."""
    for read in (_reported if whole else _analysed, _resumed, lambda path: _exported(path, out)):
        try:
            read(run)
        except MiddlemarkError as error:
            assert str(error)  # noqa: PT017 - it may end so or otherwise
    shelf = RunLibrary([run.parent]).look()
    assert len(shelf.runs) + len(shelf.unreadable) <= 1


def _analysed(run: Path) -> None:
    analyse(RunFolder(run))


def _reported(run: Path) -> None:
    render(analyse(RunFolder(run)))


def _exported(run: Path, out: Path) -> None:
    loaded = load(run)
    with patch("middlemark.report.output.data.percentile_table", lambda *_: ""):  # the library's takes seconds
        for kind in (ExportFormat.PARQUET, ExportFormat.OPENMETRICS, ExportFormat.HGRM):
            export(loaded, kind, out)
    assert all(path.resolve().parent == out for path in out.iterdir())


def _resumed(run: Path) -> None:
    manifest = RunFolder(run).read_manifest()
    given = parse_given(manifest.suite_text, file="manifest.json", files=manifest.suite_files)
    replanned(given, manifest.trials)


def attempt(number: int, seed: str, folder: Path, *, whole: bool) -> str:
    chance = random.Random(f"{seed} {number}")
    stored = chance.choice(RUNS)
    what = f"{stored.name}: {damaged(stored, folder / 'runs' / 'run', chance)}"
    (folder / "out").mkdir()
    try:
        read_in_every_way(folder / "runs" / "run", folder / "out", whole=whole)
    except BaseException as error:
        error.add_note(f"round {number} of {seed}: {what}")
        raise
    return what


@pytest.mark.parametrize("part", range(8))
def test_a_hostile_run_ends_in_a_report_or_one_error(part: int, tmp_path: Path) -> None:
    for number in range(part * 15, (part + 1) * 15):
        attempt(number, "hostile", tmp_path / str(number), whole=number % 40 == 0)
