"""Lays beside each executable that is built `<executable>.NOTICE`: what it is made of, and the licences of all of it.

`--check` only compares. A part that is passed on without a licence or its text ends it with 1. It needs nothing but
Python itself; `components.py` finds the parts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

from components import ROOT, Component, components_of

KINDS = {
    "bundled": "Bundled: built from source that a crate holds",
    "crate": "Crates: linked into it",
    "library": "Libraries of this machine that it loads",
    "program": "Programs of this machine that it runs",
}


def built() -> dict[str, Path]:
    """Package and executable of each worker and observer that set-up built."""
    target, triple = os.environ.get("CARGO_TARGET_DIR") or ROOT / "target", os.environ.get("CARGO_BUILD_TARGET", "")
    folder = Path(target, triple, "release").resolve()
    entries = json.loads((folder / "middlemark-workers.json").read_text(encoding="utf-8"))["workers"]
    return {entry["package"]: folder / entry["package"] for entry in entries if entry["status"] == "built"}


def unnamed(parts: list[Component]) -> list[str]:
    """The parts that can't be passed on: without a licence, or without its text. What this machine has stays here."""
    passed_on = [part for part in parts if part.kind in {"crate", "bundled"}]
    return [f"{part.name} {part.version}" for part in passed_on if not part.licence or not part.texts]


def notice(package: str, parts: list[Component]) -> str:
    """A list of the parts by kind, then each text once with those that it is of."""
    lines = [f"What {package} is made of; its own licence is Apache-2.0.", ""]
    for kind, heading in KINDS.items():
        lines += [f"{heading}:", *map(entry, of_kind(parts, kind)), ""] if of_kind(parts, kind) else []
    return "\n".join(lines) + "".join(section(text, of) for text, of in texts(parts).items())


def of_kind(parts: list[Component], kind: str) -> list[Component]:
    return [part for part in parts if part.kind == kind]


def entry(part: Component) -> str:
    by = f", by {', '.join(part.authors)}" if part.authors else ""
    return f"  {part.name} {part.version}: {part.licence}{by}"


def texts(parts: list[Component]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        for path in part.texts:
            found[path.read_text(encoding="utf-8", errors="replace").strip()].append(f"{part.name} {part.version}")
    return found


def section(text: str, of: list[str]) -> str:
    return f"\n{'-' * 80}\n{', '.join(of)}\n{'-' * 80}\n\n{text}\n"


def beside(executable: Path) -> Path:
    return executable.with_name(f"{executable.name}.NOTICE")


def is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    complaints = []
    for package, executable in built().items():
        parts = components_of(package, executable)
        complaints += [f"{package}: the licence of {part}, or its text, is not known" for part in unnamed(parts)]
        text, path = notice(package, parts), beside(executable)
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not is_current(path, text):
            complaints.append(f"{path} is not what the executable is made of: run setup/supply/notices.py")
    print("\n".join(complaints), file=sys.stderr, end="\n" if complaints else "")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
