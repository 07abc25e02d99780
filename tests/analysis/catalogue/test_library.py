"""Runs are found, are found again quickly, and an index that lies or is broken changes nothing."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from behaviour import Behaviour
from middlemark.analysis.catalogue import estimates as reading
from middlemark.analysis.catalogue import index as indexes
from middlemark.analysis.catalogue.estimates import past_runs
from middlemark.analysis.catalogue.index import COVERED, INDEXED, Index
from middlemark.analysis.catalogue.library import RunLibrary, Shelf
from middlemark.analysis.compare.history import histories
from middlemark.analysis.run import analyse
from middlemark.report.output.data import write_summary
from middlemark.results.run_folder import RunFolder
from middlemark.suite.metrics import metric_named
from run_builder import build_run

SUITE = "suite: small\ntrials: 2\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 200 ms}}]\n"
METRIC = metric_named("median(latency)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = build_run(tmp_path_factory.mktemp("built") / "run", SUITE, {"one": Behaviour(), "two": Behaviour()})
    write_summary(analyse(run))
    return run.path


@pytest.fixture
def folder(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs, a day apart, whose index is empty."""
    monkeypatch.setattr(indexes, "cache_folder", lambda: tmp_path / "cache")
    for day in (1, 2, 3):
        copied(built, tmp_path / "runs" / f"run-{day}", day)
    return tmp_path / "runs"


def copied(built: Path, path: Path, day: int) -> None:
    run = RunFolder(shutil.copytree(built, path))
    began = f"2026-01-{day:02}T12:00:00+00:00"
    run.write_manifest(run.read_manifest().model_copy(update={"started_at": began}))


def values(folder: Path) -> dict[str, list[tuple[str, float]]]:
    """What a history says, by middleware, to someone who comes now."""
    runs, estimates, unreadable = past_runs(look(folder), METRIC)
    assert unreadable == []
    return {
        history.middleware: [(point.run, point.value) for point in history.points]
        for history in histories(runs, estimates, METRIC)
    }


def look(folder: Path) -> Shelf:
    return RunLibrary([folder]).look()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of runs whose manifest or estimates are read."""
    seen: list[str] = []
    outline, tables = RunFolder.read_outline, reading.read_tables
    monkeypatch.setattr(RunFolder, "read_outline", lambda run: (seen.append(run.path.name), outline(run))[1])
    monkeypatch.setattr(
        reading,
        "read_tables",
        lambda paths, *how: (seen.extend(path.parent.name for path in paths), tables(paths, *how))[1],
    )
    return seen


def test_what_the_index_has_is_not_read_again(folder: Path, reads: list[str]) -> None:
    first = values(folder)
    assert sorted(reads) == sorted(["run-1", "run-2", "run-3"] * 2)
    reads.clear()
    assert values(folder) == first
    assert reads == []


def test_only_a_run_that_is_new_or_changed_is_read(folder: Path, built: Path, reads: list[str]) -> None:
    values(folder)
    copied(built, folder / "run-4", 4)
    table = pl.read_parquet(folder / "run-2" / "summary.parquet")
    table.with_columns(pl.col("estimate") * 2).write_parquet(folder / "run-2" / "summary.parquet")
    reads.clear()
    found = values(folder)["one"]
    assert set(reads) == {"run-2", "run-4"}
    assert [run for run, _ in found] == ["run-1", "run-2", "run-3", "run-4"]
    assert found[1][1] == pytest.approx(2 * found[0][1])


def test_a_file_that_was_changed_and_has_its_old_time_is_read_again(folder: Path) -> None:
    before = values(folder)["one"][0][1]
    path = folder / "run-1" / "summary.parquet"
    status, table = path.stat(), pl.read_parquet(path)
    table.with_columns(pl.col("estimate") * 3).write_parquet(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert values(folder)["one"][0][1] == pytest.approx(3 * before)


def test_a_run_that_is_gone_is_gone(folder: Path) -> None:
    values(folder)
    shutil.rmtree(folder / "run-2")
    assert [run for run, _ in values(folder)["one"]] == ["run-1", "run-3"]


def test_a_run_that_was_never_reported_is_analysed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        (folder / f"run-{number}" / "summary.parquet").unlink()
    first = values(folder)
    assert len(first["one"]) == 3
    monkeypatch.setattr(reading, "analyse", lambda _: pytest.fail("it is analysed again"))
    assert values(folder) == first


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _other_columns(path: Path) -> None:
    pl.DataFrame({"run": [1]}).write_parquet(path)


def _retyped(path: Path) -> None:
    pl.read_parquet(path).with_columns(pl.col("n_trials").cast(pl.Int32)).write_parquet(path)


@pytest.mark.parametrize("spoil", [_emptied, _other_columns, _retyped])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_estimates_that_are_no_table_are_computed_and_the_others_read(
    folder: Path, at_once: int, spoil: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = values(folder)
    shutil.rmtree(Index(folder).path)
    monkeypatch.setattr(reading, "AT_ONCE", at_once)
    analysed: list[str] = []
    monkeypatch.setattr(reading, "analyse", lambda run: (analysed.append(run.path.name), analyse(run))[1])
    spoil(folder / "run-2" / "summary.parquet")
    assert values(folder) == first
    assert analysed == ["run-2"]


def _no_json(path: Path) -> None:
    table = pl.read_parquet(path)
    name = "outline" if "outline" in table.columns else "metric"
    table.with_columns(pl.lit("{").alias(name)).write_parquet(path)


def _linked(path: Path) -> None:
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


@pytest.mark.parametrize("spoil", [_emptied, _other_columns, _no_json, _linked, Path.unlink])
@pytest.mark.parametrize("name", ["outlines.parquet", "estimates-1.parquet"])
def test_an_index_that_is_broken_is_made_again(folder: Path, name: str, spoil: object, reads: list[str]) -> None:
    first = values(folder)
    assert callable(spoil)
    spoil(Index(folder).path / name)
    assert values(folder) == first
    reads.clear()
    assert values(folder) == first
    assert reads == [], "it was not made again"


def test_where_the_index_can_not_be_written_all_is_read_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setattr(indexes, "cache_folder", lambda: tmp_path / "file")
    assert values(folder) == values(folder)
    assert len(values(folder)["one"]) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_in_another_users_cache_no_index_is_made(folder: Path, tmp_path: Path) -> None:
    """As with `sudo -E`, which keeps that user's folders."""
    theirs = tmp_path / "cache"
    theirs.mkdir()
    os.chown(theirs, 65534, -1)
    assert len(values(folder)["one"]) == 3
    assert list(theirs.iterdir()) == []


def test_a_full_file_of_estimates_is_left_and_another_begun(
    folder: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "FULL_ROWS", 10)
    values(folder)
    copied(built, folder / "run-4", 4)
    found = values(folder)
    assert [run for run, _ in found["two"]] == ["run-1", "run-2", "run-3", "run-4"]
    assert sorted(path.name for path in Index(folder).path.glob("est*")) == [
        "estimates-1.parquet",
        "estimates-2.parquet",
    ]
    for number in (1, 2, 3):
        shutil.rmtree(folder / f"run-{number}")
    copied(built, folder / "run-5", 5)
    assert [run for run, _ in values(folder)["two"]] == ["run-4", "run-5"]
    assert "estimates-1.parquet" not in {path.name for path in Index(folder).path.iterdir()}, "all its runs are gone"


def test_a_run_that_two_programs_entered_counts_once(folder: Path) -> None:
    first = values(folder)
    index = Index(folder)
    shutil.copy(index.path / "estimates-1.parquet", index.path / "estimates-2.parquet")
    assert values(folder) == first


def test_a_run_that_is_named_alone_leaves_the_others_in_the_index(folder: Path, reads: list[str]) -> None:
    values(folder)
    runs, estimates, _ = past_runs(RunLibrary([folder / "run-1", folder / "run-3"]).look(), METRIC)
    assert [len(history.points) for history in histories(runs, estimates, METRIC)] == [2, 2]
    reads.clear()
    values(folder)
    assert reads == []


def test_a_link_to_a_run_does_not_make_it_two(folder: Path) -> None:
    (folder / "latest").symlink_to(folder / "run-3")
    assert [run for run, _ in values(folder)["one"]] == ["run-1", "run-2", "run-3"]


def test_the_index_is_of_this_user_alone_and_keeps_no_sample(folder: Path) -> None:
    values(folder)
    path = Index(folder).path
    assert path.stat().st_mode & 0o777 == 0o700
    table = pl.read_parquet(path / "estimates-1.parquet")
    assert table.schema == INDEXED
    assert table.filter(pl.col("metric") == COVERED).height == 3


def test_another_version_of_the_run_of_one_name_is_another_run(folder: Path) -> None:
    values(folder)
    manifest = folder / "run-3" / "manifest.json"
    document = json.loads(manifest.read_text(encoding="utf-8")) | {"tags": ["nightly"]}
    manifest.write_text(json.dumps(document), encoding="utf-8")
    assert [run.head.tags for run in look(folder).runs] == [(), (), ("nightly",)]
