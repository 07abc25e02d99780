"""What every model is built on: frozen values, shorthands, one-or-many, changes over a whole, and the bounds of names.

A name becomes a folder, a file or a host, and a number an index or a length: neither may be more than it is for. What
pydantic found wrong is put into words for whoever wrote the file, and the files that a suite names are read from its
folder or from what a run kept of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError

from middlemark.errors import SuiteError
from middlemark.suite.yaml.document import KeyPath

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,23}$")]
"""Of hosts, networks, applications, nodes, chains and workloads."""
TestbedName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$")]
"""Of the test-beds of a fleet: best those of their machines."""
MiddlewareName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
ProfileName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
OptionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
TopologyName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,39}$")]
StreamName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,48}$")]
"""A topic's as letters, digits and `_`."""
ProcessName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}(#[1-9][0-9]{0,5})?$")]
"""An application's or a service's; of one that was started again, with the number of its start."""
ExperimentId = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}-[a-z][a-z0-9_]{0,23}-[A-Za-z][A-Za-z0-9_-]{0,39}-[0-9a-f]{8}$")
]
TrialId = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{1,9}-[a-z][a-z0-9_]{0,31}-[a-z][a-z0-9_]{0,23}-[A-Za-z][A-Za-z0-9_-]{0,39}-[0-9a-f]{8}$",
    ),
]
"""The trial's number and its experiment's id: the name of its folder."""
SshTarget = Annotated[str, Field(pattern=r"^[A-Za-z0-9_\[][A-Za-z0-9_.:@%\[\]+-]{0,254}$")]
"""A name or an address for the SSH client; with a dash at its start it would be an option."""
Address = Annotated[str, Field(pattern=r"^[A-Za-z0-9:][A-Za-z0-9_.:%-]{0,254}$")]

Count = Annotated[int, Field(ge=0, le=2**53)]
"""Of messages, packets, bytes: many of them summed are within 64 bits."""
Nanoseconds = Annotated[int, Field(ge=0, le=2**62)]
"""An instant or a time span: the difference of two is within 64 bits."""
SignedNanoseconds = Annotated[int, Field(ge=-(2**62), le=2**62)]
Index = Annotated[int, Field(ge=0, lt=2**16)]
"""The place of a publisher or subscriber, as samples have it."""
Share = Annotated[float, Field(ge=0, le=1)]
Hertz = Annotated[float, Field(gt=0, le=1e12)]


class Model(BaseModel):
    """A value that never changes and has no key beyond its fields."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, written: object) -> object:
        fields = cls.__pydantic_fields__
        if isinstance(written, dict) and not written.keys() <= fields.keys():
            key = next(key for key in written if key not in fields)
            raise refusal(f"unknown key `{key}`", allowed=closest_first(str(key), fields), at=(str(key),))
        return written

    def changed_by(self, change: Self) -> Self:
        """This value with every field that `change` was explicitly given."""
        return self.model_copy(update={name: getattr(change, name) for name in change.model_fields_set})


class Named(Model):
    """A mapping that may also be written as only its name: `camera` for `{workload: camera}`."""

    name_key: ClassVar[str]
    """The field that a bare name sets."""

    @model_validator(mode="before")
    @classmethod
    def _expand_bare_name(cls, written: object) -> object:
        return {cls.name_key: written} if isinstance(written, str) else written

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The bare name or the mapping."""
        whole = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [whole["properties"][cls.name_key], whole]}


def closest_first(written: str, allowed: Iterable[str]) -> str:
    """All known names, with the most similar one first."""
    names = list(allowed)
    close = get_close_matches(written, names, n=1)
    listed = ", ".join(names)
    return f"did you mean `{close[0]}`? ({listed})" if close else listed


def refusal(problem: str, *, allowed: str, at: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """A refusal that says what is allowed, and in a model's validator which part of the model is to blame."""
    return PydanticCustomError("refusal", "{problem}", {"problem": problem, "allowed": allowed, "at": at})


def _as_list(written: object) -> object:
    return written if isinstance(written, list | tuple) else [written]


class _OneOrMany:
    """Lets the JSON Schema say that a list of one may be written without brackets."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        many = handler(schema)
        return {"anyOf": [many["items"], many]}


_T = TypeVar("_T")
Many = Annotated[tuple[_T, ...], Field(min_length=1), BeforeValidator(_as_list), _OneOrMany()]
"""One value or a list of them; a list makes the matrix wider."""


Facts = Mapping[str, Any]
_MAPPING = "a mapping of keys and values"
_ALLOWED: dict[str, Callable[[Facts], str]] = {
    "int_type": lambda _: "a whole number",
    "int_from_float": lambda _: "a whole number",
    "int_parsing_size": lambda _: "a smaller whole number",
    "bool_type": lambda _: "true or false",
    "string_type": lambda _: "text",
    "string_pattern_mismatch": lambda facts: f"a name that matches {facts['pattern']}",
    "tuple_type": lambda _: "a list",
    "dict_type": lambda _: _MAPPING,
    "model_type": lambda _: _MAPPING,
    "too_short": lambda _: "at least one entry",
    "greater_than_equal": lambda facts: f"at least {facts['ge']}",
    "less_than_equal": lambda facts: f"at most {facts['le']}",
    "less_than": lambda facts: f"less than {facts['lt']}",
}


def explain(error: ErrorDetails) -> tuple[str, KeyPath, str | None]:
    """What is wrong, at which path, and what is allowed there."""
    facts = error.get("ctx", {})
    if "problem" in facts:
        return facts["problem"], error["loc"] + facts.get("at", ()), facts["allowed"]
    path, kind = error["loc"], error["type"]
    if kind == "missing":
        return f"`{path[-1]}` is missing", path[:-1], f"`{path[-1]}: …`"
    if kind == "enum":
        return f"`{error['input']}` is not an allowed word", path, _words(str(error["input"]), facts["expected"])
    allowed = _ALLOWED[kind](facts) if kind in _ALLOWED else None
    message = f"{_value_words(error['input'])} is not allowed here"
    return message if allowed is not None else f"{message}: {error['msg']}", path, allowed


def _words(written: str, expected: str) -> str:
    return closest_first(written, re.findall(r"'([^']*)'", expected))


def _value_words(value: object) -> str:
    if value is None:
        return "an empty value"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    return f"`{str(value)[:80]}`"


def within(error: ErrorDetails) -> tuple[str, int] | None:
    """Of a text with a grammar of its own: the text, and which character of it is to blame."""
    facts = error.get("ctx", {})
    return (facts["text"], facts["character"]) if "character" in facts else None


@dataclass(frozen=True)
class SuiteFiles:
    """Where the files of one suite are."""

    folder: Path | None = None
    """None where only what was kept is there."""
    texts: dict[str, str] = field(default_factory=dict)
    """What was read so far, by the name in the suite."""

    @classmethod
    def stored(cls, texts: Mapping[str, str]) -> SuiteFiles:
        """Those that a run has stored."""
        return cls(None, dict(texts))

    def path(self, file: str) -> str:
        """How the file is named to the user."""
        return file if self.folder is None else str(self.folder / file)

    def read(self, file: str) -> bytes:
        """The file's content."""
        if file not in self.texts:
            self.texts[file] = self._text(file)
        return self.texts[file].encode()

    def _text(self, file: str) -> str:
        if self.folder is None:
            raise refusal(f"`{file}` was not kept with the run", allowed="the suite run again, from its file")
        try:
            return (self.folder / file).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise SuiteError("this is not UTF-8 text", file=self.path(file), allowed="a CSV file") from error
        except (OSError, ValueError) as error:
            message = getattr(error, "strerror", None) or str(error)
            raise refusal(f"`{file}` can't be read: {message}", allowed=f"a CSV file in {self.folder}") from error
