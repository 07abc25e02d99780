"""The programs that our workers are compared with compile, and the vendors' own are built as the workers' libraries are."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pages import ROOT

PROGRAMS = Path("bench/peers/programs")
NEEDED_BY_DDSPERF = {"BUILD_DDSPERF", "BUILD_IDLC"}
POSITION = "CMAKE_POSITION_INDEPENDENT_CODE"


def _checked(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([root / PROGRAMS / "build.sh", "--check"], capture_output=True, text=True, check=False)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A copy of what is compiled, with the headers of our shims that it includes."""
    for folder in (PROGRAMS / "cpp", Path("workers/fastdds/shim"), Path("workers/dds/shim")):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / PROGRAMS / "build.sh", tmp_path / PROGRAMS)
    return tmp_path


def test_the_programs_in_cpp_compile(programs: Path) -> None:
    checked = _checked(programs)
    assert checked.returncode == 0, checked.stderr


def test_a_program_that_no_longer_compiles_is_told(programs: Path) -> None:
    (programs / "workers/dds/shim/dds.h").unlink()
    checked = _checked(programs)
    if "fastdds is not checked" in checked.stdout:
        pytest.skip("Fast DDS is not installed")
    assert checked.returncode == 1
    assert "bench/peers/programs/cpp/fastdds.cpp does not compile" in checked.stderr


def test_ddsperf_is_built_with_the_switches_of_our_worker() -> None:
    ours = _of_worker((ROOT / "workers/cyclonedds/build.rs").read_text())
    theirs = dict(re.findall(r"-D(\w+)=(\w+)", (ROOT / PROGRAMS / "build.sh").read_text()))
    assert {name: theirs[name] for name in NEEDED_BY_DDSPERF} == dict.fromkeys(NEEDED_BY_DDSPERF, "ON")
    assert _without(theirs, {*NEEDED_BY_DDSPERF, POSITION}) == _without(ours, NEEDED_BY_DDSPERF)


def _of_worker(script: str) -> dict[str, str]:
    (build_type,) = re.findall(r'\.profile\("(\w+)"\)', script)
    loops = re.findall(r'for switch in \[(.*?)\] \{\s*build\.define\(switch, "(\w+)"\);', script, re.DOTALL)
    switches = {name: value for names, value in loops for name in re.findall(r'"(\w+)"', names)}
    assert len(switches) == len(re.findall(r'"((?:BUILD|ENABLE)_\w+)"', script)), "a switch is set in another way"
    return {"CMAKE_BUILD_TYPE": build_type, **switches}


def _without(switches: dict[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in switches.items() if name not in names}
