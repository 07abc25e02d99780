"""Says of each bill of materials that is named whether CycloneDX's schema of a version takes it: a line for each fault.

It runs in an environment of its own, whose packages check the formats of addresses and dates too (`sbom.in`); `sbom.py`
calls it.
"""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

if __name__ == "__main__":
    version, *bills = sys.argv[1:]
    validator = JsonStrictValidator(SchemaVersion.from_version(version))
    for bill in map(Path, bills):
        fault = validator.validate_str(bill.read_text(encoding="utf-8"))
        if fault is not None:
            print(f"{bill.name}: {' '.join(str(fault).split())}")
