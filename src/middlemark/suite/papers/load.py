"""Reads a paper from its folder: `paper.yaml`, a file for each suite, and one for each table.

A suite of one extent is the suite's file with the keys that the extent changes, as text again, so that a run stores
what was measured word for word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from middlemark.errors import SuiteError, UsageError
from middlemark.suite.load import LoadedSuite, parse_suite
from middlemark.suite.papers.paper import (
    Explanation,
    Extent,
    Finding,
    Otherwise,
    Paper,
    PublishedTable,
    PublishedValue,
    read_values,
)
from middlemark.suite.yaml.document import read_document, text_of
from middlemark.suite.yaml.model import closest_first, explain, within

_SHIPPED = resources.files("middlemark.suite") / "shipped" / "papers"
_PAPER_FILE = "paper.yaml"


@dataclass(frozen=True)
class LoadedPaper:
    """A paper with all its files."""

    paper: Paper
    texts: Mapping[str, str]
    """By the name of the file."""
    values: Mapping[str, tuple[PublishedValue, ...]]
    """By table."""

    def basis(self, judged: Finding | Explanation | Otherwise, extent: Extent) -> str:
        """SHA-256 of what a judgement depends on: the claims, and the suite as the extent has it, but for its summary.

        The words about them change nothing, nor does what other findings are judged by.
        """
        return _digest([claim.text for claim in judged.claims or ()], self._measured(judged.suite, extent))

    def basis_of_values(self, table: PublishedTable, extent: Extent) -> str:
        """The same of how far a table's values agree with what is measured."""
        return _digest([self.texts[f"{table.table}.csv"], *table.series], self._measured(table.suite, extent))

    def suite(self, name: str, extent: Extent) -> LoadedSuite:
        """One of its suites, as an extent has it."""
        text = text_of(self._data(name, extent))
        file = f"{name}.yaml"
        return LoadedSuite(file=file, text=text, suite=parse_suite(text, file=file))

    def _measured(self, suite: str | None, extent: Extent) -> dict[str, Any]:
        data = {} if suite is None else self._data(suite, extent)
        return {name: value for name, value in data.items() if name != "summary"}

    def _data(self, name: str, extent: Extent) -> dict[str, Any]:
        (entry,) = (suite for suite in self.paper.suites if suite.suite == name)
        file = f"{name}.yaml"
        data: dict[str, Any] = read_document(self.texts[file], file=file).data
        data.update(entry.keys_of(extent))
        return data


def _digest(claimed: Sequence[str], measured: Mapping[str, Any]) -> str:
    text = json.dumps([claimed, measured], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def shipped_paper_names() -> tuple[str, ...]:
    """The names of the papers that ship."""
    return tuple(sorted(entry.name for entry in _SHIPPED.iterdir() if (entry / _PAPER_FILE).is_file()))


def load_paper(name_or_folder: str) -> LoadedPaper:
    """A shipped paper by its name, or one in a folder."""
    names = shipped_paper_names()
    if name_or_folder in names:
        return read_paper(_SHIPPED / name_or_folder)
    if (Path(name_or_folder) / _PAPER_FILE).is_file():
        return read_paper(Path(name_or_folder))
    raise UsageError(
        f"`{name_or_folder}` is neither a paper that ships nor a folder with a `{_PAPER_FILE}`",
        remedy=f"there are: {closest_first(name_or_folder, names)}",
    )


def read_paper(folder: Traversable) -> LoadedPaper:
    """A paper from its folder."""
    text = _text(folder, _PAPER_FILE)
    files = files_of(_parse(text))
    return paper_of({_PAPER_FILE: text} | {name: _text(folder, name) for name in files})


def paper_of(texts: Mapping[str, str]) -> LoadedPaper:
    """A paper from the texts of its files; the first mistake becomes an error with its line and what is allowed."""
    paper = _parse(texts.get(_PAPER_FILE, ""))
    missing = [name for name in files_of(paper) if name not in texts]
    if missing:
        raise SuiteError(f"the paper has no file `{missing[0]}`", file=_PAPER_FILE)
    tables = [table.table for table in paper.tables]
    return LoadedPaper(paper, texts, {name: read_values(texts[f"{name}.csv"], file=f"{name}.csv") for name in tables})


def files_of(paper: Paper) -> tuple[str, ...]:
    """The files beside `paper.yaml`."""
    return (*(f"{suite.suite}.yaml" for suite in paper.suites), *(f"{table.table}.csv" for table in paper.tables))


def _parse(text: str) -> Paper:
    document = read_document(text, file=_PAPER_FILE)
    if document.data is None:
        raise document.error("the file is empty", allowed="`paper`, `title`, `suites`, `findings` and more")
    try:
        return TypeAdapter(Paper).validate_python(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        raise document.error(*explain(first), within=within(first)) from error


def _text(folder: Traversable, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "the paper has no such file"
        raise SuiteError(problem, file=str(folder / name)) from error
