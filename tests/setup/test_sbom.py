"""Bills of materials are valid CycloneDX, with version, licence and checksum of each part."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import sbom
from components import ROOT, Component

PARTS = [
    Component("crate", "serde", "1.0.229", "MIT OR Apache-2.0", (), "pkg:cargo/serde@1.0.229", "ab" * 32),
    Component("bundled", "vSomeIP", "3.4.10", "MPL-2.0 AND BSL-1.0", (), "pkg:cargo/vsomeip-sys@0.6.0"),
    Component("library", "libc6", "2.36", "as its text says", (), "pkg:deb/debian/libc6@2.36"),
    Component("program", "mosquitto", "2.0.11", "EPL-2.0 or EDL-1.0", (), "pkg:deb/debian/mosquitto@2.0.11"),
]


def bill() -> dict[str, Any]:
    return dict(json.loads(sbom.bill_of_executable("middlemark-worker-x", PARTS)))


def faults(folder: Path, bill: dict[str, Any]) -> str:
    path = folder / "bill.cdx.json"
    path.write_text(json.dumps(bill), encoding="utf-8")
    return sbom.faults([path])


def test_the_bill_of_an_executable_is_valid_and_has_all_of_its_parts(tmp_path: Path) -> None:
    assert faults(tmp_path, bill()) == ""
    named = {each["name"]: each for each in bill()["components"]}
    assert set(named) == {part.name for part in PARTS}
    assert named["serde"]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert named["vSomeIP"]["licenses"] == [{"expression": "MPL-2.0 AND BSL-1.0"}]
    assert named["mosquitto"]["licenses"] == [{"license": {"name": "EPL-2.0 or EDL-1.0"}}]


def test_a_bill_that_the_schema_refuses_is_named_with_its_fault(tmp_path: Path) -> None:
    assert faults(tmp_path, bill() | {"components": [{"name": "no type"}]}).startswith("bill.cdx.json: ")


def test_the_formats_of_addresses_and_dates_are_checked_too(tmp_path: Path) -> None:
    assert "yesterday" in faults(tmp_path, bill() | {"metadata": {"timestamp": "yesterday"}})


def test_nothing_that_reports_load_brings_the_slow_checks_of_formats() -> None:
    assert importlib.util.find_spec("rfc3987_syntax") is None


def test_the_bill_of_the_package_has_only_what_is_pinned_to_run_it() -> None:
    found = {
        "metadata": {"component": {"bom-ref": "root"}},
        "components": [{"name": "ruamel.yaml", "bom-ref": "r"}, {"name": "mypy", "bom-ref": "m"}],
        "dependencies": [{"ref": "r", "dependsOn": ["m"]}, {"ref": "m"}, {"ref": "root"}],
    }
    only = sbom.only(found, sbom.pinned("ruamel-yaml==0.19 \\\n    --hash=sha256:0\n    # via x\n"))
    assert [each["name"] for each in only["components"]] == ["ruamel.yaml"]
    assert only["dependencies"] == [{"ref": "root", "dependsOn": ["r"]}, {"ref": "r", "dependsOn": []}]


def test_each_package_that_runs_it_is_pinned_by_a_checksum() -> None:
    text = (ROOT / "setup/requirements/run.txt").read_text(encoding="utf-8")
    assert "numpy" in sbom.pinned(text)
    assert [each for each in re.split(r"\n(?=\w)", text) if "--hash=sha256:" not in each] == []
