"""Reads a paper from its folder: `paper.yaml`, a file for each suite, and one for each table.

A suite of one extent is the suite's file with the keys that the extent changes, as text again, so that a run stores
what was measured word for word.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from middlemark.errors import UsageError
from middlemark.suite.load import LoadedSuite, parse_suite
from middlemark.suite.papers.paper import Extent, Paper
from middlemark.suite.papers.published import PublishedValue, read_values
from middlemark.suite.yaml.document import read_document
from middlemark.suite.yaml.model import closest_first, explain, within

_SHIPPED = resources.files("middlemark.suite") / "shipped" / "papers"
_PAPER_FILE = "paper.yaml"
_WIDE = 4096
"""No line of a suite is folded."""


@dataclass(frozen=True)
class LoadedPaper:
    """A paper with all its files."""

    paper: Paper
    texts: Mapping[str, str]
    """By the name of the file."""
    values: Mapping[str, tuple[PublishedValue, ...]]
    """By table."""

    @property
    def digest(self) -> str:
        """SHA-256 of all files: what a run was judged by."""
        whole = "\0".join(f"{name}\0{text}" for name, text in sorted(self.texts.items()))
        return hashlib.sha256(whole.encode()).hexdigest()

    def suite(self, name: str, extent: Extent) -> LoadedSuite:
        """One of its suites, as an extent has it."""
        (entry,) = (each for each in self.paper.suites if each.suite == name)
        file = f"{self.paper.paper}/{name}.yaml"
        data = read_document(self.texts[f"{name}.yaml"], file=file).data
        data.update(entry.keys_of(extent))
        out = io.StringIO()
        yaml = YAML(typ="rt")
        yaml.width = _WIDE
        yaml.dump(data, out)
        return LoadedSuite(file=file, text=out.getvalue(), suite=parse_suite(out.getvalue(), file=file))


def shipped_paper_names() -> tuple[str, ...]:
    """The names of the papers that ship."""
    return tuple(sorted(entry.name for entry in _SHIPPED.iterdir() if (entry / _PAPER_FILE).is_file()))


def load_paper(name: str) -> LoadedPaper:
    """A shipped paper by its name."""
    known = shipped_paper_names()
    if name not in known:
        raise UsageError(f"there is no paper `{name}`", remedy=f"there are: {closest_first(name, known)}")
    return read_paper(_SHIPPED / name)


def read_paper(folder: Traversable) -> LoadedPaper:
    """A paper from its folder; the first mistake becomes an error with its line and what is allowed."""
    file = f"{folder.name}/{_PAPER_FILE}"
    document = read_document(_text(folder, _PAPER_FILE), file=file)
    try:
        paper = TypeAdapter(Paper).validate_python(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        raise document.error(*explain(first), within=within(first)) from error
    names = [*(f"{each.suite}.yaml" for each in paper.suites), *(f"{each.table}.csv" for each in paper.tables)]
    texts = {_PAPER_FILE: document.text} | {name: _text(folder, name) for name in names}
    values = {
        each.table: read_values(texts[f"{each.table}.csv"], file=f"{folder.name}/{each.table}.csv")
        for each in paper.tables
    }
    return LoadedPaper(paper, texts, values)


def _text(folder: Traversable, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"the paper `{folder.name}` has no file `{name}`", remedy="add it to its folder") from error
