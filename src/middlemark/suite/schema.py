"""The JSON Schema of a suite file, for editors that complete and check while one writes.

It renders the models and adds nothing; `python -m middlemark.suite.schema` writes it to standard output.
"""

import json
import sys

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from middlemark.suite.suite import Suite


class _AsWritten(GenerateJsonSchema):
    """Shows defaults as people write them (`10 s`), and no titles that only repeat a name."""

    def field_title_should_be_set(self, schema: CoreSchema) -> bool:  # noqa: ARG002 - no field's title is set
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        shown = super().default_schema(schema)
        writer = schema["schema"].get("serialization", {})
        if "default" in shown and writer.get("type") == "function-plain":
            shown["default"] = writer["function"](schema["default"])
        return shown


def suite_schema() -> str:
    """The schema's text."""
    schema = Suite.model_json_schema(schema_generator=_AsWritten)
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(suite_schema())
