"""How much code and data workers hold, with the programs and libraries that they need: the sections of ELF files.

Nothing is run; what a running process takes, the observation `resources` samples. `executables` finds the workers and
their libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from middlemark.errors import EnvironmentNotReady
from middlemark.worker.executables import libraries


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
