"""What every model at an edge is built on: frozen values, shorthands, one-or-many, and changes laid over a whole.

It knows no model of the suite and reads no file; `suite` and `plan` build theirs on it.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, ClassVar, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError


class Model(BaseModel):
    """A value that never changes and has no key beyond its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, written: object) -> object:
        for key in written if isinstance(written, Mapping) else ():
            if key not in cls.model_fields:
                allowed = closest_first(str(key), cls.model_fields)
                raise refusal(f"unknown key `{key}`", allowed=allowed, at=(str(key),))
        return written

    def changed_by(self, change: Self) -> Self:
        """This value with every field that `change` was explicitly given."""
        return self.model_copy(update={name: getattr(change, name) for name in change.model_fields_set})


class Named(Model):
    """A mapping that may also be written as nothing but its name: `camera` for `{workload: camera}`."""

    name_key: ClassVar[str]
    """The field that the bare name stands for."""

    @model_validator(mode="before")
    @classmethod
    def _expand_bare_name(cls, written: object) -> object:
        return {cls.name_key: written} if isinstance(written, str) else written

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The bare name or the mapping."""
        whole = handler.resolve_ref_schema(handler(schema))
        return {"anyOf": [whole["properties"][cls.name_key], whole]}


def closest_first(written: str, known: Iterable[str]) -> str:
    """All that is known, the likeliest slip of the pen apart and first."""
    names = list(known)
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
