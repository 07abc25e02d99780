"""What pydantic found wrong, in words for whoever wrote the file: what is wrong, and what is allowed.

The models' own refusals say both already; here are the words for the refusals that pydantic makes itself.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from middlemark.suite.document import Path
from middlemark.suite.model import closest_first

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


def explain(error: ErrorDetails) -> tuple[str, Path, str | None]:
    """What is wrong, at which path, and what is allowed there."""
    facts = error.get("ctx", {})
    if "problem" in facts:
        return facts["problem"], error["loc"] + facts.get("at", ()), facts["allowed"]
    path, kind = error["loc"], error["type"]
    if kind == "missing":
        return f"`{path[-1]}` is missing", path[:-1], f"`{path[-1]}: …`"
    if kind == "enum":
        return f"`{error['input']}` is none of the words", path, _words(str(error["input"]), facts["expected"])
    allowed = _ALLOWED[kind](facts) if kind in _ALLOWED else None
    said = f"{_shown(error['input'])} can't stand here"
    return said if allowed is not None else f"{said}: {error['msg']}", path, allowed


def _words(written: str, expected: str) -> str:
    return closest_first(written, re.findall(r"'([^']*)'", expected))


def _shown(value: object) -> str:
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
