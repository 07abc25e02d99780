"""Where the workers are, executables named `middlemark-worker-<middleware>`, and how much code and data they hold.

It runs none of them (`description` does) and knows none by name; the first folder that has a name wins. Of a worker,
its programs and libraries the ELF sections are read; what a running process takes, the observation `resources` samples.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from middlemark.errors import EnvironmentNotReady
from middlemark.installation import FOLDERS_VARIABLE, build_folder, program_folders

PREFIX = "middlemark-worker-"
BUILD_RECORD = "middlemark-workers.json"
ALTERNATIVES = "alternatives"
"""The folder beside the workers of a wheel that has some of them once more, for another release of their library."""
LOADER = "ldd"


@dataclass(frozen=True)
class Build:
    """What the build said of one worker."""

    worker: str
    status: str
    """`built` or `left_out`."""
    reason: str | None = None
    seconds: float | None = None
    packages: Sequence[Sequence[str]] = ()
    """Of a wheel: the Debian packages that hold what the worker loads; more than one set for several releases."""
    programs: Sequence[str] = ()
    """Of a wheel: the Debian packages of the installed programs that the worker runs."""


def workers(within: Iterable[Path] | None = None) -> dict[str, Path]:
    """Every worker there is, or that these folders have, by middleware, in the order of the names."""
    path_of: dict[str, Path] = {}
    for folder in program_folders() if within is None else within:
        if os.access(folder, os.R_OK | os.X_OK):
            for path in folder.glob(f"{PREFIX}*"):
                middleware = path.name.removeprefix(PREFIX)
                if "." not in middleware and path.is_file() and os.access(path, os.X_OK):
                    path_of.setdefault(middleware, _loadable(path.absolute()))
    return dict(sorted(path_of.items()))


def _loadable(worker: Path) -> Path:
    """The same worker built against another release of its library, where this one can't be loaded here."""
    alternative = worker.parent / ALTERNATIVES / worker.name
    return alternative if alternative.is_file() and not _loads(worker) else worker


def _loads(worker: Path) -> bool:
    try:
        return bool([*libraries(worker)])
    except EnvironmentNotReady:
        return False


def worker(middleware: str) -> Path:
    """The worker of one middleware."""
    paths = workers()
    if middleware in paths:
        return paths[middleware]
    build = next((build for build in builds() if build.worker == middleware and build.reason), None)
    why = f": the build left it out, {build.reason}" if build else f"; there are: {', '.join(paths) or 'none'}"
    raise EnvironmentNotReady(
        f"there is no worker for `{middleware}`{why}",
        remedy=f"`middlemark doctor` says what is missing; workers elsewhere: {FOLDERS_VARIABLE}=FOLDER",
    )


def builds() -> list[Build]:
    """What the build of this installation said of its workers; empty where it was never built."""
    try:
        record = json.loads((build_folder() / BUILD_RECORD).read_text())
    except FileNotFoundError:
        return []
    names = [field.name for field in fields(Build)]
    return [Build(**{name: entry[name] for name in names if name in entry}) for entry in record["workers"]]


def remedy(middleware: str) -> str:
    """What to install where a worker that is there can't be loaded; nothing where its build named no packages."""
    sets = [" ".join(names) for build in builds() if build.worker == middleware for names in build.packages]
    return f"; it needs: sudo apt-get install {', or '.join(sets)}" if sets else ""


@dataclass(frozen=True)
class Size:
    """The parts of an ELF file that are mapped into memory."""

    text_bytes: int = 0
    """Machine code."""
    read_only_bytes: int = 0
    """Constants and tables that are neither executed nor written."""
    data_bytes: int = 0
    """Variables with a value of their own; what the loader relocates and then protects is among them."""
    bss_bytes: int = 0
    """Variables that begin as zero and take no room in the file."""

    @property
    def total_bytes(self) -> int:
        """All parts together."""
        return self.text_bytes + self.read_only_bytes + self.data_bytes + self.bss_bytes

    def __add__(self, other: Size) -> Size:
        """Part by part."""
        mine, its = asdict(self), asdict(other)
        return Size(**{part: mine[part] + its[part] for part in mine})


@dataclass(frozen=True)
class FootprintPart:
    """One file of a worker."""

    path: Path
    kind: str
    """`worker`, `program`, `library`; `plugin`: it came with the worker, which loads it by name, if at all."""
    size: Size


def footprint(worker: Path, programs: Iterable[Path] = ()) -> tuple[FootprintPart, ...]:
    """The worker, the programs that its services execute, and every library that any of them needs, each once."""
    executables = {worker: "worker", **dict.fromkeys(programs, "program")}
    loaded = {library: "library" for executable in executables for library in libraries(executable)}
    plugins = {path: "plugin" for path in _beside(worker) if path not in loaded}
    return tuple(FootprintPart(path, kind, size(path)) for path, kind in (executables | loaded | plugins).items())


def _beside(worker: Path) -> list[Path]:
    """The libraries that came with a worker, in the folder that its build makes."""
    folder = worker.with_name(f"{worker.name}.lib")
    return sorted({path.resolve() for path in folder.glob("*.so*")})


def size(path: Path) -> Size:
    """Of one ELF file, by its sections' flags."""
    with _opened(path) as file:
        sections = [section.header for section in file.iter_sections()]
    bytes_of = dict.fromkeys(asdict(Size()), 0)
    for header in sections:
        if header["sh_flags"] & SH_FLAGS.SHF_ALLOC:
            bytes_of[_part(header["sh_type"], header["sh_flags"])] += header["sh_size"]
    return Size(**bytes_of)


def _part(kind: str, flags: int) -> str:
    if kind == "SHT_NOBITS":
        return "bss_bytes"
    if flags & SH_FLAGS.SHF_EXECINSTR:
        return "text_bytes"
    return "data_bytes" if flags & SH_FLAGS.SHF_WRITE else "read_only_bytes"


@contextmanager
def _opened(path: Path) -> Iterator[ELFFile]:
    try:
        with path.open("rb") as file:
            yield ELFFile(file)
    except (OSError, ELFError) as cause:
        raise EnvironmentNotReady(
            f"{path} can't be measured: {cause}", remedy="only what is compiled for Linux has a footprint"
        ) from cause


def needed_libraries(path: Path) -> set[str]:
    """The names of the libraries that an ELF file itself asks the loader for."""
    with _opened(path) as file:
        dynamic = file.get_section_by_name(".dynamic")
        if not isinstance(dynamic, DynamicSection):
            return set()
        return {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}  # type: ignore[attr-defined] # of this kind of tag


def needed_c_library(path: Path) -> tuple[int, int]:
    """The oldest version of glibc that has all that an ELF file calls of it; zeros where it calls nothing."""
    with _opened(path) as file:
        section = file.get_section_by_name(".gnu.version_r")
        if not isinstance(section, GNUVerNeedSection):
            return 0, 0
        names = [version.name for _, versions in section.iter_versions() for version in versions]
    matches = (re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)*", name) for name in names)
    return max(((int(version[1]), int(version[2])) for version in matches if version), default=(0, 0))


def libraries(executable: Path) -> Iterator[Path]:
    """What the loader would load for it, the loader among them."""
    listing = subprocess.run([LOADER, str(executable)], capture_output=True, text=True, check=False)
    if listing.returncode and "not a dynamic executable" not in listing.stderr + listing.stdout:
        raise EnvironmentNotReady(
            f"the libraries of {executable} are not known: {listing.stderr.strip()}", remedy=f"try it: ldd {executable}"
        )
    for line in listing.stdout.splitlines():
        name, _, location = line.strip().partition(" => ")
        if location.startswith("not found"):
            raise EnvironmentNotReady(
                f"{executable} needs {name}, which is not there", remedy="build the workers again: `make workers`"
            )
        path = (location or name).partition(" (")[0]
        if path.startswith("/"):  # the kernel's own page has no file
            yield Path(path).resolve()
