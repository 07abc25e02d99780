"""Reads YAML text as plain data with the line and column of each part.

It refuses invalid YAML and what a suite does not need: several documents, tags, anchors, huge or deeply nested files.
`load` interprets the data.
"""

import io
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, StringMark, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, DocumentStartEvent, NodeEvent

from middlemark.errors import SuiteError

_MOST_CHARACTERS = 1_000_000
_DEEPEST = 20
_WIDE = 4096
"""No line that is written is folded."""

KeyPath = tuple[str | int, ...]
Place = tuple[int, int]


@dataclass(frozen=True)
class Document:
    """A file's data with its text."""

    file: str
    text: str
    data: Any

    def error(
        self, problem: str, path: KeyPath = (), allowed: str | None = None, within: tuple[str, int] | None = None
    ) -> SuiteError:
        """A refusal of the part at `path`; `within` is its text and which character of it is to blame."""
        place = self._place(path)
        if place is not None and within is not None:
            place = self._character(place, *within)
        return refusal_at(place, problem, self.text, file=self.file, allowed=allowed)

    def _character(self, place: Place, text: str, character: int) -> Place:
        """The place of one character of a text that is written on one line; else where the text begins."""
        line, column = place
        rest = self.text.splitlines()[line - 1][column - 1 :]
        quote = rest[:1] in {"'", '"'}
        return (line, column + quote + character) if rest[quote:].startswith(text) else place

    def _place(self, path: KeyPath) -> Place | None:
        """Line and column, from 1, of the deepest part of `path` that is written; none for the document as a whole."""
        node, place = self.data, None
        for step in path:
            if isinstance(node, CommentedMap) and step in node:
                line, column = node.lc.key(step)
            elif isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node):
                line, column = node.lc.item(step)
            elif step == 0:  # the index in a list of one that is written without brackets
                continue
            else:  # the field that a bare name stands for
                break
            node, place = node[step], (line + 1, column + 1)
        return place


def read_document(text: str, *, file: str) -> Document:
    """The data of one YAML document."""
    if len(text) > _MOST_CHARACTERS:
        raise SuiteError(f"{len(text)} characters are too many", file=file, allowed=f"at most {_MOST_CHARACTERS}")
    try:
        _check_events(text, file)
        data = YAML(typ="rt").load(text)
    except DuplicateKeyError as error:
        raise _at_mark(error.problem_mark, "this key is given twice", text, file) from error
    except MarkedYAMLError as error:
        raise _at_mark(error.problem_mark or error.context_mark, _problem_words(error), text, file) from error
    except (YAMLError, ValueError, ArithmeticError) as error:
        raise SuiteError(f"this is not valid YAML: {_first_line(error)}", file=file) from error
    except TypeError as error:  # that is how the parser refuses to hash it
        raise SuiteError("a mapping or a list can't be a key", file=file) from error
    return Document(file=file, text=text, data=data)


def text_of(data: object) -> str:
    """Data that was read and changed, as YAML again, with the comments that it had."""
    out = io.StringIO()
    yaml = YAML(typ="rt")
    yaml.width = _WIDE
    yaml.dump(data, out)
    return out.getvalue()


def _check_events(text: str, file: str) -> None:
    """Refuses, before anything is built of it, what would be costly to build or what a suite has no use for."""
    depth = documents = 0
    for event in YAML(typ="rt").parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        documents += isinstance(event, DocumentStartEvent)
        problem = _unwanted(event, depth, documents)
        if problem is not None:
            raise _at_mark(event.start_mark, problem, text, file)


def _unwanted(event: object, depth: int, documents: int) -> str | None:
    if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor is not None):
        return "anchors and aliases are not read here: write the part out"
    if getattr(event, "tag", None) is not None:
        return "tags are not read here"
    if depth > _DEEPEST:
        return f"more than {_DEEPEST} levels deep"
    return "a suite is one YAML document, and this is the second" if documents > 1 else None


def _problem_words(error: MarkedYAMLError) -> str:
    problem = _first_line(error.problem or error.context or "")
    hint = ": indent with spaces, not tabs" if "'\\t'" in problem else ""
    return f"this is not valid YAML: {problem}{hint}"


def _first_line(message: object) -> str:
    lines = str(message).strip().splitlines()
    return lines[0] if lines else "it can't be read"


def _at_mark(mark: StringMark | None, problem: str, text: str, file: str) -> SuiteError:
    place = None if mark is None else (mark.line + 1, mark.column + 1)
    return refusal_at(place, problem, text, file=file)


def refusal_at(place: Place | None, problem: str, text: str, *, file: str, allowed: str | None = None) -> SuiteError:
    """A refusal that quotes the line it is about."""
    lines = text.splitlines()
    line, column = place or (1, 1)
    quoted = lines[line - 1].strip() if place is not None and line <= len(lines) else ""
    return SuiteError(problem, file=file, line=line, column=column, offending=quoted[:200] or None, allowed=allowed)
