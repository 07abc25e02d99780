"""Builds one wheel of the front, its workers and its observers, which a machine without a compiler can install.

`make dist` calls it after the workers are built. It compiles nothing, and takes no library of the system along: a
worker that loads one names the Debian package, and is left out where that is missing. `try.sh` installs the wheel.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components import declared
from middlemark.errors import EnvironmentNotReady
from middlemark.worker.executables import ALTERNATIVES, BUILD_RECORD, PREFIX
from middlemark.worker.footprint import needed_c_library, needed_libraries

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
# Of another processor than this machine's, where cargo builds for one, as `arm64.sh` has it do.
TRIPLE = os.environ.get("CARGO_BUILD_TARGET", "")
MACHINE = TRIPLE.partition("-")[0] or platform.machine()
BUILT = TARGET / TRIPLE / "release"
STAGE = TARGET / "dist" / TRIPLE / "stage"
WHEELS = TARGET / "dist" / TRIPLE / "wheel"
# Workers of a newer Debian's libraries, and the root that has these, where `make conformance-debian13` was called.
NEWER = TARGET / TRIPLE / "debian13" / "target" / "release"
NEWER_ROOT = TARGET / TRIPLE / "debian13" / "root"
# What every Debian has: its package manager loads these too.
ALWAYS_THERE = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}


@dataclass(frozen=True)
class Program:
    """A worker or an observer as the build left it."""

    path: Path
    entry: dict[str, Any]

    @property
    def own_libraries(self) -> Path:
        """The folder of libraries that its build made for it; many have none."""
        return self.path.with_name(f"{self.path.name}.lib")

    @property
    def notice(self) -> Path:
        """The licences of all that it is made of; whoever passes it on passes these on too."""
        return self.path.with_name(f"{self.path.name}.NOTICE")


def main() -> int:
    shutil.rmtree(STAGE, ignore_errors=True)
    programs = list(built_programs())
    if not any(program.path.name.startswith(PREFIX) for program in programs):
        raise EnvironmentNotReady("no worker is built, and a wheel without any measures nothing", remedy="make workers")
    stage_front()
    stage_programs(programs)
    stage_manual()
    wheel = build_wheel(platform_tag(programs))
    print(f"dist: {wheel} ({wheel.stat().st_size / 1e6:.0f} MB)")
    return 0


def built_programs() -> Iterator[Program]:
    record = BUILT / BUILD_RECORD
    if not record.exists():
        raise EnvironmentNotReady(f"{record} is not there: nothing is built", remedy="make workers")
    for entry in json.loads(record.read_text())["workers"]:
        if entry["status"] == "built":
            yield Program(BUILT / entry["package"], entry)
        else:
            print(f"dist: {entry['package']} is left out: {entry['reason']}")


def stage_front() -> None:
    """What is under version control, so that no left-over of a test gets in."""
    wanted = [
        "src",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "setup/requirements/run.in",
        "setup/requirements/fleet.in",
        "setup/requirements/store.in",
    ]
    listed = subprocess.run(["git", "ls-files", "-z", *wanted], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        copy = STAGE / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy)


def stage_programs(programs: list[Program]) -> None:
    native = STAGE / "src/middlemark/native"
    (native / ALTERNATIVES).mkdir(parents=True)
    entries = []
    for program in programs:
        strip(program.path, native / program.path.name)
        if program.own_libraries.is_dir():
            shutil.copytree(program.own_libraries, native / program.own_libraries.name)
        shutil.copy(program.notice, native)
        needs = [packages(program)]
        newer = Program(NEWER / program.path.name, program.entry)
        if needs[0] and newer.path.exists():
            strip(newer.path, native / ALTERNATIVES / newer.path.name)
            needs.append(packages(newer, NEWER_ROOT))
        runs = declared(program.entry["package"]).get("programs", [])
        entries.append({**program.entry, "packages": [names for names in needs if names], "programs": runs})
    (native / BUILD_RECORD).write_text(json.dumps({"workers": entries}, indent=2) + "\n")


def stage_manual() -> None:
    """Where `man` looks beside the programs on the path."""
    subprocess.run([sys.executable, ROOT / "setup/pages/man.py", STAGE / "man"], check=True)


def strip(program: Path, copy: Path) -> None:
    """Without the lines of the source that debuggers need: nine tenths of its size."""
    tool = f"{MACHINE}-linux-gnu-strip" if TRIPLE else "strip"
    subprocess.run([tool, "--strip-debug", "-o", copy, program], check=True)


def packages(program: Program, root: Path = Path("/")) -> list[str]:
    """The Debian packages of the libraries that it names and neither the wheel nor every Debian has."""
    own = {path.name for path in program.own_libraries.glob("*.so*")}
    loaded = needed_libraries(program.path) - own
    return sorted({package for name in loaded if (package := package_of(name, root))} - ALWAYS_THERE)


def package_of(library: str, root: Path) -> str:
    """The package that has a library of this processor in a Debian root; nothing where none has, or this is no Debian.

    Packages for cross-building have libraries of the same names.
    """
    state = root / "var/lib/dpkg"
    if not state.is_dir():
        return ""
    search = ["dpkg-query", f"--admindir={state}", "--search", f"*/lib/{MACHINE}-linux-gnu/{library}"]
    found = subprocess.run(search, capture_output=True, text=True, check=False)
    return found.stdout.partition(":")[0] if found.returncode == 0 else ""


def platform_tag(programs: list[Program]) -> str:
    """The oldest C library that has all that the programs load, as `manylinux_2_36_x86_64` names it."""
    files = [program.path for program in programs]
    files += [path for program in programs for path in program.own_libraries.glob("*.so*")]
    major, minor = max(map(needed_c_library, files))
    return f"manylinux_{major}_{minor}_{MACHINE}"


def build_wheel(tag: str) -> Path:
    settings = f"[bdist_wheel]\nplat_name = {tag}\n[options.data_files]\nshare/man/man1 = man/*.1\n"
    (STAGE / "setup.cfg").write_text(settings)
    shutil.rmtree(WHEELS, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", WHEELS, STAGE],
        check=True,
    )
    (wheel,) = WHEELS.glob("*.whl")
    return wheel


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EnvironmentNotReady as missing:
        sys.exit(f"dist: {missing}")
