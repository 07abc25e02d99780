"""What was read of the runs in one folder, kept as Parquet in the user's cache: their outlines and their estimates.

It is never trusted more than the runs: each entry has the stamp of its run, and what is missing, of another stamp or
unreadable is read from the run again, which `library` does. Without it everything takes longer, and
says the same.

    <cache>/middlemark/runs/<digest of the folder's path>/folder
                                                          outlines.parquet
                                                          estimates-<number>.parquet
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from pydantic import ValidationError

from middlemark.errors import StoreError
from middlemark.installation.user_folders import cache_folder, make_cache_folder
from middlemark.results.files import check_owner, is_there, read_bytes, write_bytes
from middlemark.results.manifest import RunOutline
from middlemark.results.tables import UNREADABLE, check_table, read_table, write_parquet, write_table

OUTLINES: Final = pl.Schema({"name": pl.String(), "stamp": pl.String(), "outline": pl.String()})
INDEXED: Final = pl.Schema(
    {
        "run": pl.UInt64(),
        "metric": pl.String(),
        "middleware": pl.String(),
        "factors": pl.String(),
        "subject": pl.String(),
        "estimate": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "n_trials": pl.Int64(),
    }
)
"""Estimates of unobserved trials. Each run has a row with the metric `COVERED` too, also where it has no other."""
COVERED: Final = ""
FULL_ROWS: Final = 500_000
"""From which on a file of estimates is left as it is, and another begun."""
GROUP_ROWS: Final = 1 << 14
"""Of a part of a file that is read as one: rows are in the order of metrics, so that one metric is in few parts."""
_FILE = re.compile(r"estimates-[0-9]{1,6}\.parquet")
_INDEX = re.compile(r"[0-9a-f]{16}")
_OUTLINES: Final = "outlines.parquet"
_OF: Final = "folder"
"""The file that says which folder an index is of."""
_LONGEST_PATH: Final = 4096


class Entry(NamedTuple):
    """A run of the folder as it was when it had this stamp."""

    name: str
    stamp: str

    @property
    def key(self) -> int:
        """By which its estimates are found."""
        digest = hashlib.sha256(f"{self.name}\0{self.stamp}".encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8], "big")


class Index:
    """The index of one folder of runs; what can't be read or written of it is as if it were not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        self.path = cache_folder() / "runs" / digest

    def outlines(self) -> dict[Entry, RunOutline]:
        """Of the runs that were there when it was last written."""
        outlines = {}
        with suppress(StoreError, OSError):
            check_owner(self.path)
            for name, stamp, text in read_table(self.path / _OUTLINES, OUTLINES).iter_rows():
                with suppress(ValidationError):
                    outlines[Entry(name, stamp)] = RunOutline.model_validate_json(text)
        return outlines

    def keep_outlines(self, outlines: Mapping[Entry, RunOutline]) -> None:
        """Write the outlines of all runs that are there."""
        rows = [(*entry, outline.model_dump_json()) for entry, outline in outlines.items()]
        with suppress(OSError, StoreError):
            self._make()
            write_table(self.path / _OUTLINES, pl.DataFrame(rows, schema=OUTLINES, orient="row"), OUTLINES)

    def estimates(self, of_metric: pl.Expr) -> tuple[pl.DataFrame, set[int]]:
        """The rows of a metric, and the keys of all runs of which it has the estimates; each run is in it once."""
        tables, covered = [pl.DataFrame(schema=INDEXED)], set[int]()
        for path in self._files():
            rows = _rows(path, (pl.col("metric") == COVERED) | of_metric)
            marks = _marked(rows) - covered
            tables.append(rows.filter(pl.col("run").is_in(marks), pl.col("metric") != COVERED))
            covered |= marks
        return pl.concat(tables), covered

    def keep_estimates(self, rows: pl.DataFrame, covered: Collection[int], gone: Collection[int]) -> None:
        """Add the estimates of runs to those of the last file that has room; files of gone runs alone go."""
        marks = pl.DataFrame({"run": sorted(covered)}, schema={"run": INDEXED["run"]}).select(
            *(
                pl.lit(COVERED if name == "metric" else None, kind).alias(name)
                for name, kind in INDEXED.items()
                if name != "run"
            ),
            "run",
        )
        files = self._files()
        for path in files[:-1]:
            if _marked(_rows(path, pl.col("metric") == COVERED)) <= set(gone):
                with suppress(OSError):
                    path.unlink()
        path = files[-1] if files else self.path / _name(1)
        rest = _rows(path, ~pl.col("run").is_in(gone))
        if rest.height >= FULL_ROWS:
            path, rest = self.path / _name(_number(path) + 1), rest.clear()
        table = pl.concat([rest, rows, marks.select(INDEXED.names())]).sort("metric")
        with suppress(OSError, StoreError):
            self._make()
            write_parquet(path, lambda partial: table.write_parquet(partial, row_group_size=GROUP_ROWS))

    def _make(self) -> None:
        """Its folder; when that is new, the indexes of folders that are gone are removed."""
        make_cache_folder(self.path)
        if is_there(self.path / _OF):
            return
        write_bytes(self.path / _OF, os.fsencode(self.folder))
        for path in self.path.parent.iterdir():
            if _INDEX.fullmatch(path.name) and not path.is_symlink() and not _is_needed(path):
                _remove(path)

    def _files(self) -> list[Path]:
        """Those of estimates, the one with room last."""
        try:
            check_owner(self.path)
            return sorted((path for path in self.path.iterdir() if _FILE.fullmatch(path.name)), key=_number)
        except (StoreError, OSError):
            return []


def _is_needed(index: Path) -> bool:
    """Whether the folder of an index is there; one that does not say which it is of is as good as none."""
    try:
        return Path(os.fsdecode(read_bytes(index / _OF, _LONGEST_PATH))).is_dir()
    except StoreError:
        return False


def _remove(index: Path) -> None:
    """Removes what an index consists of, and nothing else."""
    with suppress(OSError):
        for path in index.iterdir():
            if path.name in {_OF, _OUTLINES} or _FILE.fullmatch(path.name):
                path.unlink()
        index.rmdir()


def _rows(path: Path, wanted: pl.Expr) -> pl.DataFrame:
    """Rows of a file, none of one that is no such table."""
    try:
        check_table(path, INDEXED)
        return pl.scan_parquet(path, glob=False).filter(wanted).collect()
    except (StoreError, *UNREADABLE):
        return pl.DataFrame(schema=INDEXED)


def _marked(rows: pl.DataFrame) -> set[int]:
    return set(rows.filter(pl.col("metric") == COVERED)["run"])


def _name(number: int) -> str:
    return f"estimates-{number}.parquet"


def _number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])
