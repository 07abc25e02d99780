"""YAML text to plain data, remembering where each part of it stands.

It refuses what YAML refuses, and what a suite has no use for: several documents, tags, aliases, huge or deep files.
What the data means is `load`'s question.
"""

from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from middlemark.errors import SuiteError

MOST_CHARACTERS = 1_000_000
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A file's data with its text."""

    file: str
    text: str
    data: Any

    def place(self, path: Path) -> tuple[int, int] | None:
        """Line and column, from 1, of the deepest part of `path` that is there; none for an empty document."""
        node, place = self.data, None
        for step in path:
            place, node, found = _step(node, step, place)
            if not found:
                break
        return place

    def error(self, problem: str, path: Path, allowed: str | None) -> SuiteError:
        """A refusal of the part at `path`."""
        line, column = self.place(path) or (1, 1)
        lines = self.text.splitlines()
        offending = lines[line - 1].strip() if line <= len(lines) else None
        return SuiteError(
            problem, file=self.file, line=line, column=column, offending=offending or None, allowed=allowed
        )


def _step(node: Any, step: str | int, place: tuple[int, int] | None) -> tuple[tuple[int, int] | None, Any, bool]:  # noqa: ANN401
    if isinstance(node, CommentedMap) and step in node:
        line, column = node.lc.key(step)
    elif isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node):
        line, column = node.lc.item(step)
    else:  # a shorthand's field, or the index in a list written without brackets: both stand where we are
        return place, node, step == 0
    return (line + 1, column + 1), node[step], True


def read_document(text: str, *, file: str) -> Document:
    """The data of one YAML document."""
    if len(text) > MOST_CHARACTERS:
        raise SuiteError(f"the file has {len(text)} characters", file=file, allowed=f"at most {MOST_CHARACTERS}")
    yaml = YAML(typ="rt")
    try:
        data = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        raise SuiteError(str(error.problem), file=file, line=mark.line + 1 if mark else None) from error
    except YAMLError as error:
        raise SuiteError(str(error), file=file) from error
    return Document(file=file, text=text, data=data)
