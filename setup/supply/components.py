"""What an executable is made of: crates, sources that they bundle, installed libraries, programs that it runs.

Crates are as cargo resolves them for that executable alone. What cargo can't know of a worker its `Cargo.toml` says
under `[package.metadata.supply]`. `notices.py` and `sbom.py` write it down; it needs nothing but Python itself.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LICENCE_FILES = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
STANDARD_TEXTS = {"Apache-2.0": ROOT / "LICENSE", "MIT": Path(__file__).with_name("MIT.txt")}
"""For crates that are published without the text of their licence."""


@dataclass(frozen=True)
class Component:
    """One part. `kind` is how it gets there; `texts` are its licence and its notices."""

    kind: str  # crate, bundled, library or program
    name: str
    version: str
    licence: str
    texts: tuple[Path, ...]
    purl: str
    sha256: str | None = None
    authors: tuple[str, ...] = ()


def components_of(package: str, executable: Path) -> list[Component]:
    """All parts of an executable that is built, each once."""
    parts = [*crates_of(package), *bundled_of(package, executable), *libraries_of(executable), *programs_of(package)]
    return sorted(set(parts), key=lambda part: (part.kind, part.name, part.version))


# --- what cargo knows -------------------------------------------------------------------------------------------------


def crates_of(package: str) -> Iterator[Component]:
    """What is linked into it: neither what only builds it, nor what only expands its macros."""
    tree = ["tree", "--locked", "--package", package, "--edges", "normal,no-proc-macro", "--prefix", "none"]
    for line in sorted(set(cargo(*tree, "--format", "{p}").splitlines())):
        name, version = line.split()[:2]
        crate = packages()[name, version.removeprefix("v")]
        if crate["source"] is not None:
            yield component_of(crate)


def component_of(crate: dict[str, Any]) -> Component:
    folder = Path(crate["manifest_path"]).parent
    licence = (crate["license"] or "").strip().replace("/", " OR ")
    own = tuple(sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILES.match(path.name)))
    name, version = crate["name"], crate["version"]
    return Component(
        kind="crate",
        name=name,
        version=version,
        licence=licence,
        texts=own or standard_text(licence),
        purl=f"pkg:cargo/{name}@{version}",
        sha256=checksums().get((name, version)),
        authors=tuple(crate["authors"]),
    )


def standard_text(licence: str) -> tuple[Path, ...]:
    """The text of the first licence that may be chosen and is known here."""
    choices = re.split(r"\s+OR\s+", licence)
    return next(((text,) for name, text in STANDARD_TEXTS.items() if name in choices), ())


def bundled_of(package: str, executable: Path) -> Iterator[Component]:
    """The libraries whose source is within a crate, in the version that the worker says that it uses."""
    for entry in declared(package).get("bundled", []):
        crate = next(each for (name, _), each in packages().items() if name == entry["crate"])
        folder = Path(crate["manifest_path"]).parent
        yield Component(
            kind="bundled",
            name=entry["name"],
            version=described_version(executable) or crate["version"],
            licence=entry["licence"],
            texts=tuple(folder / text for text in entry["texts"]),
            purl=f"pkg:cargo/{crate['name']}@{crate['version']}",
            sha256=checksums().get((crate["name"], crate["version"])),
        )


def declared(package: str) -> dict[str, Any]:
    """What a crate says that it supplies; nothing of what is no crate."""
    metadata = next((crate["metadata"] for (name, _), crate in packages().items() if name == package), None)
    return dict((metadata or {}).get("supply", {}))


def described_version(executable: Path) -> str | None:
    """Of the library, as a worker describes it; observers have no description."""
    if "-worker-" not in executable.name:
        return None
    return str(json.loads(run(str(executable), "describe"))["library"]["version"])


@cache
def packages() -> dict[tuple[str, str], dict[str, Any]]:
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--locked"))
    return {(each["name"], each["version"]): each for each in metadata["packages"]}


@cache
def checksums() -> dict[tuple[str, str], str]:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    return {(each["name"], each["version"]): each["checksum"] for each in lock["package"] if "checksum" in each}


# --- what is installed ------------------------------------------------------------------------------------------------


def libraries_of(executable: Path) -> Iterator[Component]:
    """The packages of the shared libraries that are loaded; what lies beside it and no package has is bundled."""
    own = executable.with_name(f"{executable.name}.lib")
    files = [executable, *sorted(own.glob("*.so*"))]
    for name, path in sorted(loaded(files)):
        package = owner(f"*/{name}") if own in path.parents else owner(str(path.resolve()))
        if package is not None:
            yield installed(package, "library")
        elif own not in path.parents:
            yield Component("library", name, "unknown", "unknown", (), f"pkg:generic/{name}")


def loaded(files: list[Path]) -> set[tuple[str, Path]]:
    """Name and place of each shared library, by the dynamic linker; `LDD` names that of another processor."""
    ldd = shlex.split(os.environ.get("LDD", "ldd"))
    lines = "\n".join(run(*ldd, str(file)) for file in files)
    return {(name, Path(path)) for name, path in re.findall(r"^\s*(\S+) => (/\S+)", lines, re.MULTILINE)}


def programs_of(package: str) -> Iterator[Component]:
    yield from (installed(name, "program") for name in declared(package).get("programs", []))


@cache
def owner(pattern: str) -> str | None:
    """The Debian package that a file is from, which may be listed by its path before or after the merge of /usr."""
    for path in (pattern, pattern.removeprefix("/usr"), f"/usr{pattern}"):
        try:
            return run("dpkg-query", "--search", path).partition(":")[0]
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


@cache
def installed(package: str, kind: str) -> Component:
    version = run("dpkg-query", "--show", "--showformat", "${Version}", package)
    text = Path("/usr/share/doc") / package / "copyright"
    return Component(
        kind=kind,
        name=package,
        version=version,
        licence=licence_by_debian(text.read_text(encoding="utf-8", errors="replace")) if text.is_file() else "unknown",
        texts=(text,) if text.is_file() else (),
        purl=f"pkg:deb/debian/{package}@{version}",
    )


def licence_by_debian(copyright_file: str) -> str:
    """The licence of all files that no other paragraph names, or that of the first; older files are prose."""
    paragraphs = re.split(r"\n\s*\n", copyright_file)
    of_all = [each for each in paragraphs if re.search(r"^Files:\s*\*\s*$", each, re.MULTILINE)]
    found = [re.search(r"^License:[ \t]*(\S.*)$", each, re.MULTILINE) for each in [*of_all, *paragraphs]]
    return next((match[1].strip() for match in found if match), "as its text says")


# --- programs ---------------------------------------------------------------------------------------------------------


def cargo(*arguments: str) -> str:
    return run("cargo", *arguments)


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
