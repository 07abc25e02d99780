"""Renders the worker contract's JSON Schemas as the pydantic models of `src/middlemark/worker/contract.py`.

It joins the files of `schema/protocol` into one schema, gives every variant of a tagged union a name of its own, and
lets datamodel-code-generator write the module; it decides nothing that the schemas don't say.
`python setup/contract_models.py` writes, `--check` only compares; the schemas come from the crate `workers/contract`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODULE = ROOT / "src/middlemark/worker/contract.py"
# Only what is spoken: the records are dtypes of .npy files, and the suite's schema is made of models.
SCHEMAS = ROOT / "schema" / "protocol"
HEADER = (
    '"""The worker contract as models, generated from schema/protocol by setup/contract_models.py: not to be edited."""'
)

Schema = dict[str, Any]


def joined() -> Schema:
    """One schema whose `$defs` are all types of all files."""
    types: Schema = {}
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text())
        types |= schema.pop("$defs", {})
        schema.pop("$schema")
        types[schema["title"]] = schema
    for name in list(types):
        types |= split_variants(name, types[name])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": without_formats(types)}


def without_formats(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Rust's widths (`uint16`, …) mean nothing here: the bounds beside them say the same."""
    if isinstance(schema, dict):
        return {key: without_formats(value) for key, value in schema.items() if key != "format"}
    return [without_formats(item) for item in schema] if isinstance(schema, list) else schema


def split_variants(name: str, schema: Schema) -> Schema:
    """Turns a union into an enumeration of words, or into named variants distinguished by their tag."""
    variants = schema.get("oneOf")
    if variants is None:
        return {}
    if all("const" in variant for variant in variants):
        schema["enum"] = [variant["const"] for variant in variants]
        schema["type"] = "string"
        del schema["oneOf"]
        return {}
    tag = next(key for key, value in variants[0]["properties"].items() if "const" in value)
    named = {variant_name(name, variant["properties"][tag]["const"]): variant for variant in variants}
    schema["oneOf"] = [{"$ref": f"#/$defs/{key}"} for key in named]
    schema["discriminator"] = {"propertyName": tag}
    return named


def variant_name(union: str, word: str) -> str:
    """`ApplicationEvent` and `armed` make `ApplicationArmed`, `PatternSpec` and `burst` make `BurstPattern`."""
    camel = "".join(part.capitalize() for part in word.split("_"))
    stem = re.sub("(Event|Command|Spec|Kind)$", "", union)
    return stem + camel if union.endswith(("Event", "Command")) else camel + stem


def rendered() -> str:
    """The module's text."""
    with tempfile.TemporaryDirectory() as folder:
        schema, module = Path(folder, "contract.json"), Path(folder, "contract.py")
        schema.write_text(json.dumps(joined()))
        subprocess.run([sys.executable, "-m", "datamodel_code_generator", *options(schema, module)], check=True)
        return formatted(shortened(module.read_text()))


def shortened(text: str) -> str:
    """One-line docstrings on one line, and no alias for the joined schema itself."""
    text = re.sub(r'"""(.*?)"""', one_line, text, flags=re.DOTALL)
    text = re.sub(r"ConfigDict\(\n\s+(.*),\n\s+(.*),\n\s+\)", r"ConfigDict(\1, \2)", text)
    return text.replace('Model = TypeAliasType("Model", Any)\n', "").replace(
        "Annotated, Any, Literal", "Annotated, Literal"
    )


def one_line(docstring: re.Match[str]) -> str:
    """The docstring without its line breaks where it has but one line."""
    text = docstring[1].strip()
    return docstring[0] if "\n" in text else f'"""{text}"""'


def formatted(text: str) -> str:
    """As the project's own formatter writes it."""
    for step in (["check", "--quiet", "--fix-only", "--select", "I"], ["format"]):
        command = [sys.executable, "-m", "ruff", *step, "--stdin-filename", str(MODULE), "-"]
        text = subprocess.run(command, input=text, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    return text


def options(schema: Path, module: Path) -> list[str]:
    """How the models are written: frozen, nothing unknown let in, the doc comments kept."""
    return [
        *("--input", str(schema), "--input-file-type", "jsonschema", "--output", str(module)),
        *("--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.11"),
        *("--enum-field-as-literal", "all", "--use-type-alias", "--use-one-literal-as-default"),
        *("--use-schema-description", "--use-field-description", "--use-standard-collections", "--use-union-operator"),
        *(
            "--formatters",
            "ruff-format",
            "--use-annotated",
            "--disable-timestamp",
            "--custom-file-header",
            HEADER,
            "--enable-faux-immutability",
        ),
    ]


def main() -> int:
    """Writes the module, or with `--check` says whether it is up to date."""
    text = rendered()
    if "--check" not in sys.argv[1:]:
        MODULE.write_text(text)
        return 0
    if MODULE.read_text() == text:
        return 0
    print(
        f"{MODULE.relative_to(ROOT)} is not what schema/protocol says: run `python setup/contract_models.py`",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
