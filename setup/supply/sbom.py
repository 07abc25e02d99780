"""Writes bills of materials in CycloneDX: one for the Python package, one for each executable that is built.

They go to the folder that is named, `<target>/sbom` otherwise; one that CycloneDX's own schema refuses ends it with 1.
cyclonedx-py finds what the Python package needs, `components.py` the parts of executables; `validate.py` asks the
schema. The first and the last are programs of an environment of their own, which `make sbom` sets up.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Entry
from cyclonedx.model.component import ComponentType
from cyclonedx.model.license import License
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

from components import ROOT, Component, components_of
from notices import built

SCHEMA = SchemaVersion.V1_6
PINNED = ROOT / "setup/requirements/run.txt"
TOOLS = Path(sys.prefix) / "sbom/bin"
TYPES = {"program": ComponentType.APPLICATION}


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def bill_of_executable(package: str, parts: Iterable[Component]) -> str:
    root = Entry(name=package, version=version(), type=ComponentType.APPLICATION, licenses=licences("Apache-2.0"))
    bom = Bom()
    bom.metadata.component = root
    entries = [entry(part) for part in parts]
    for each in entries:
        bom.components.add(each)
    bom.register_dependency(root, entries)
    return make_outputter(bom, OutputFormat.JSON, SCHEMA).output_as_string(indent=2)


def entry(part: Component) -> Entry:
    return Entry(
        name=part.name,
        version=part.version,
        type=TYPES.get(part.kind, ComponentType.LIBRARY),
        bom_ref=f"{part.kind}:{part.name}@{part.version}",
        licenses=licences(part.licence),
        purl=PackageURL.from_string(part.purl),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=part.sha256)] if part.sha256 else [],
        description=part.kind,
    )


def licences(written: str) -> list[License]:
    """As an expression of SPDX where it is one, else by its name."""
    return [LicenseFactory().make_from_string(written)] if written else []


def bill_of_package(environment: Path) -> str:
    """What cyclonedx-py finds in this Python environment of the packages that are pinned to run Middlemark."""
    command = [str(TOOLS / "cyclonedx-py"), "environment", "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--spec-version", SCHEMA.to_version(), "--output-format", "JSON", str(environment / "bin/python")]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return json.dumps(only(found, pinned(PINNED.read_text(encoding="utf-8"))), indent=2)


def pinned(requirements: str) -> set[str]:
    return {plain(name) for name in re.findall(r"^([\w.-]+)==", requirements, re.MULTILINE)}


def plain(name: str) -> str:
    """A name as all spellings of it compare, by the packaging specifications."""
    return re.sub(r"[-_.]+", "-", name).lower()


def only(bill: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """With the components of these names, all of which its root needs; the rest only tests and checks need."""
    parts = [each for each in bill["components"] if plain(each["name"]) in names]
    root, refs = bill["metadata"]["component"]["bom-ref"], {each["bom-ref"] for each in parts}
    on_others = {
        each["ref"]: [ref for ref in each.get("dependsOn", []) if ref in refs] for each in bill["dependencies"]
    }
    of_parts = [{"ref": ref, "dependsOn": on_others.get(ref, [])} for ref in sorted(refs)]
    dependencies = [{"ref": root, "dependsOn": sorted(refs)}, *of_parts]
    return bill | {"components": parts, "dependencies": dependencies}


def faults(bills: Iterable[Path]) -> str:
    """A line for each of them that is not valid by CycloneDX's schema, with the reason."""
    command = [str(TOOLS / "python"), str(Path(__file__).with_name("validate.py")), SCHEMA.to_version()]
    return subprocess.run([*command, *map(str, bills)], stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where they go")
    executables = built()
    folder = parser.parse_args().folder or next(iter(executables.values())).parent.parent / "sbom"
    bills = {"middlemark": bill_of_package(Path(sys.prefix))}
    bills |= {name: bill_of_executable(name, components_of(name, path)) for name, path in executables.items()}
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.cdx.json" for name in bills}
    for name, path in paths.items():
        path.write_text(bills[name] + "\n", encoding="utf-8")
    wrong = faults(paths.values())
    print(f"{len(bills)} bills of materials in {folder}", wrong, sep="\n", end="")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
