"""A suite's text to a suite; every mistake in it becomes one error with its place and what is allowed.

It reads no file: the caller has the text. `document` knows YAML, the models know what makes sense.
"""

from functools import cache
from importlib import resources
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from middlemark.suite.document import Document, read_document
from middlemark.suite.suite import Suite
from middlemark.suite.workload import Workload

_T = TypeVar("_T")


def parse_suite(text: str, *, file: str) -> Suite:
    """The suite that the text describes."""
    return _validate(TypeAdapter(Suite), read_document(text, file=file), shipped_workloads())


def _validate(adapter: TypeAdapter[_T], document: Document, workloads: dict[str, Workload]) -> _T:
    try:
        return adapter.validate_python(document.data, context={"shipped_workloads": workloads})
    except ValidationError as error:
        first = error.errors()[0]
        raise document.error(first["msg"], first["loc"], first.get("ctx", {}).get("allowed")) from error


@cache
def shipped_workloads() -> dict[str, Workload]:
    """The workloads that ship, in their order."""
    text = (resources.files("middlemark.suite") / "workloads.yaml").read_text(encoding="utf-8")
    workloads = _validate(TypeAdapter(tuple[Workload, ...]), read_document(text, file="workloads.yaml"), {})
    return {workload.workload: workload for workload in workloads}
