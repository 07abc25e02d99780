"""Reads a claim from text: the grammar, and the messages for text that does not follow it.

As an annotation, `ClaimText` reads a claim wherever a suite may have one. `suite` and `plan` check that the suite has
what a claim names; `analysis.decisions` judges it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import GetPydanticSchema, model_validator
from pydantic_core import PydanticCustomError, core_schema

from middlemark.suite.claims.claim import (
    Bound,
    Claim,
    Comparison,
    Monotone,
    NoCommunication,
    NoLoss,
    Operand,
    Selection,
    Statement,
)
from middlemark.suite.metrics import Dimension, metric_named, metric_of
from middlemark.suite.yaml.model import Many, Named, closest_first
from middlemark.suite.yaml.quantity import DURATION, GROWING, SHARE, SIZE, respelled

if TYPE_CHECKING:
    from lark import Lark, ParseTree, Token, UnexpectedInput


_GRAMMAR = r"""
?start: comparison | ratio | bound | no_loss | no_communication | monotone
comparison: operand RELATION operand
ratio: operand "/" operand RELATION NUMBER
bound: operand RELATION QUANTITY
no_loss: "no" "loss" selection
no_communication: "no" "communication" selection
monotone: "monotone" "in" NAME ":" operand
operand: metric selection
metric: NAME "(" NAME ")" | NAME
selection: ("[" factor ("," factor)* "]")?
factor: FACTOR "=" (VALUE | QUOTED)

RELATION: "<" | ">"
NAME: /[a-z][a-z0-9_]*/
FACTOR: /[a-z][\w.\/-]*/
VALUE: /[^\s"\[\],=][^"\[\],=]*/
QUOTED: /"[^"]*"/
NUMBER: /\d+(\.\d+)?/
QUANTITY: /\d+(\.\d+)?([eE][+-]?\d+)?\s*(%|[A-Za-zµμ]+(\/s)?)?/
%ignore /\s+/
"""
_EXAMPLE = "median(latency)[middleware=zenoh, topology=D1-1]"
_EXPECTED = {
    "RELATION": "`<`",
    "NAME": f"a metric, such as `{_EXAMPLE}`",
    "FACTOR": "a factor, such as `middleware`",
    "VALUE": "a value",
    "QUOTED": 'one with commas in quotes: `"1 Gbit/s, 10 ms"`',
    "NUMBER": "a number, such as `2`",
    "QUANTITY": "a quantity, such as `1 ms`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "EQUAL": "`=`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "SLASH": "`/`",
    "NO": "`no loss`, `no communication`",
    "MONOTONE": "`monotone in size: …`",
    "$END": "the end",
}
"""The words for each part of the grammar in error messages; other keywords are shown as they are written."""
FORMS = (
    f"`{_EXAMPLE} < median(latency)[middleware=mqtt, topology=D1-1]`, `A / B > 2`, `p99(latency)[…] < 1 ms`, "
    "`no loss[…]`, `no communication[…]`, `monotone in size: median(latency)[…]`"
)


def parse_claim(written: str) -> Claim:
    """Reads a claim; refuses invalid text, with the position and what is allowed there."""
    from lark import UnexpectedInput  # noqa: PLC0415 - only those who make claims need it

    try:
        tree = _parser().parse(written)
    except UnexpectedInput as error:
        raise _unexpected(written, error) from error
    return Claim(" ".join(written.split()), _statement(tree))


@cache
def _parser() -> Lark:
    from lark import Lark  # noqa: PLC0415 - see above

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def _unexpected(written: str, error: UnexpectedInput) -> PydanticCustomError:
    names = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
    expected = [words for name, words in _EXPECTED.items() if name in names]
    expected += [f"`{name.lower()}`" for name in sorted({*names} - _EXPECTED.keys()) if name.isalpha()]
    position = min(getattr(error, "pos_in_stream", None) or 0, len(written))
    if not written[position:].strip() or getattr(error, "token", None) == "":
        return _refusal("the claim ends too early", ", ".join(expected) or FORMS, written, len(written))
    return _refusal(f"`{written[position:][:40]}` is not allowed here", ", ".join(expected) or FORMS, written, position)


def _refusal(problem: str, allowed: str, text: str, position: int) -> PydanticCustomError:
    return PydanticCustomError(
        "claim", "{problem}", {"problem": problem, "allowed": allowed, "text": text, "character": position}
    )


_OF_SELECTIONS: dict[str, Callable[[Selection], Statement]] = {"no_loss": NoLoss, "no_communication": NoCommunication}
"""The forms that consist of a selection alone, by rule of the grammar."""


def _statement(tree: ParseTree) -> Statement:
    parts: list[Any] = list(tree.children)
    match str(tree.data):
        case "comparison":
            return _comparison(_operand(parts[0]), _operand(parts[2]), parts[1])
        case "ratio":
            return _comparison(_operand(parts[0]), _operand(parts[1]), parts[2], parts[3])
        case "bound":
            operand = _operand(parts[0])
            return Bound(operand, parts[1] == ">", _bound(operand.metric, parts[2]))
        case "monotone":
            return Monotone(_growing(parts[0]), _operand(parts[1]))
        case form:
            return _OF_SELECTIONS[form](_selection(parts[0]))


def _comparison(first: Operand, second: Operand, relation: Token, number: Token | None = None) -> Comparison:
    dimension, other_dimension = metric_named(first.metric).dimension, metric_named(second.metric).dimension
    if dimension is not other_dimension:
        allowed = (
            f"two metrics of one kind; {first.metric} is a number of {dimension}, {second.metric} of {other_dimension}"
        )
        raise _at(relation, "these can't be compared", allowed)
    if number is None:
        return Comparison(first, second, relation == ">")
    if dimension is Dimension.SHARE:
        raise _at(relation, "a share may be 0, so it has no ratio", "`A < B`, which judges their difference")
    if float(number) == 0:
        raise _at(number, "a ratio is never 0", "a number, such as `2` or `0.5`")
    return Comparison(first, second, relation == ">", float(number))


def _operand(tree: ParseTree) -> Operand:
    named, selection = (part for part in tree.children if not isinstance(part, str))
    names: list[Any] = list(named.children)
    try:
        metric = metric_of(str(names[0]) if len(names) > 1 else None, str(names[-1]))
    except PydanticCustomError as error:
        context = error.context or {}
        raise _at(names[0], context["problem"], context["allowed"]) from error
    return Operand(metric.name, _selection(selection))


def _selection(tree: Any) -> Selection:  # noqa: ANN401 - a branch of lark's tree
    factors: dict[str, str] = {}
    for item in tree.children:
        name, value = item.children
        if name in factors:
            raise _at(name, f"`{name}` is given twice", "each factor once; without it every value")
        factors[str(name)] = respelled(str(name), value.strip('"').strip())
    return Selection(tuple(factors.items()))


def _growing(name: Token) -> str:
    if name not in GROWING:
        raise _at(name, f"`{name}` is no factor that grows", closest_first(name, GROWING))
    return str(name)


def _bound(metric: str, written: Token) -> float:
    dimension = metric_named(metric).dimension
    value = bound_of(dimension, written)
    if value is None:
        raise _at(written, f"`{written}` can't be a bound of {metric}", f"a value, such as `{dimension.example}`")
    return value


_READERS: dict[Dimension, Callable[[str], float]] = {
    Dimension.TIME: DURATION.parse,
    Dimension.SHARE: SHARE.parse,
    Dimension.FRACTION: SHARE.parse,
    Dimension.BYTES: SIZE.parse,
    Dimension.BYTES_PER_S: lambda written: SIZE.parse(_without("/s", written)),
    Dimension.PERCENT_OF_CORE: lambda written: float(_without("%", written)),
    Dimension.NUMBER: float,
}


def bound_of(dimension: Dimension, written: str) -> float | None:
    """A value in the unit of its dimension's metrics; None where the written unit is of another dimension."""
    try:
        return _READERS[dimension](written)
    except (PydanticCustomError, ValueError):
        return None


def _without(unit: str, written: str) -> str:
    if not written.endswith(unit):
        raise ValueError(written)
    return written.removesuffix(unit)


def _at(token: Token, problem: str, allowed: str) -> PydanticCustomError:
    return _refusal(problem, allowed, "", token.start_pos or 0)


def read_claim(written: object) -> Claim:
    """A claim from a suite's data; YAML makes a mapping of `monotone in size: …`."""
    if isinstance(written, Mapping) and len(written) == 1:
        (key, value) = next(iter(written.items()))
        written = f"{key}: {value}"
    if isinstance(written, Claim):
        return written
    if not isinstance(written, str):
        raise PydanticCustomError("claim", "{problem}", {"problem": f"`{written}` is no claim", "allowed": FORMS})
    try:
        return parse_claim(written)
    except PydanticCustomError as error:
        context = dict(error.context or {})
        raise PydanticCustomError("claim", "{problem}", context | {"text": written}) from error


_SCHEMA = {
    "anyOf": [
        {"type": "string", "examples": ["p99(latency)[middleware=zenoh] < 1 ms", "no loss[reliability=reliable]"]},
        {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "string"}},
    ]
}
ClaimText = Annotated[
    Claim,
    GetPydanticSchema(
        lambda _, __: core_schema.no_info_plain_validator_function(
            read_claim, serialization=core_schema.plain_serializer_function_ser_schema(lambda claim: claim.text)
        ),
        lambda _, __: _SCHEMA,
    ),
]
"""A claim, written as text."""


class Claims(Named):
    """A file of claims: a list, or a mapping with only `claims`."""

    name_key: ClassVar[str] = "claims"

    claims: Many[ClaimText]

    @model_validator(mode="before")
    @classmethod
    def _expand_list(cls, written: object) -> object:
        return {"claims": written} if isinstance(written, list) else written
