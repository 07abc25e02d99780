"""A wheel holds the front, and the programs as they are run: executable, with their libraries and what they need."""

import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import build as dist
import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.worker.footprint import needed_c_library

ENTRY = {"worker": "toy", "package": "middlemark-worker-toy", "status": "built", "reason": None, "seconds": 1.0}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a build of one worker with a library of its own, and of one that was left out."""
    folder = tmp_path_factory.mktemp("dist")
    release = folder / "release"
    (release / "middlemark-worker-toy.lib").mkdir(parents=True)
    shutil.copy(shutil.which("true") or "", release / "middlemark-worker-toy")
    (release / "middlemark-worker-toy.NOTICE").write_text("toys, under the licence of toys")
    (release / "middlemark-worker-toy.lib/libtoy.so.1").symlink_to(library_of_python())
    left_out = ENTRY | {
        "worker": "gone",
        "package": "middlemark-worker-gone",
        "status": "left_out",
        "reason": "no gone",
    }
    (release / "middlemark-workers.json").write_text(json.dumps({"workers": [ENTRY, left_out]}))
    places = {"BUILT": release, "STAGE": folder / "stage", "WHEELS": folder / "wheel", "NEWER": folder / "newer"}
    with pytest.MonkeyPatch.context() as patched:
        for name, path in places.items():
            patched.setattr(dist, name, path)
        assert dist.main() == 0
    (built,) = (folder / "wheel").glob("*.whl")
    return built


def library_of_python() -> Path:
    import _json  # noqa: PLC0415 - any library will do

    return Path(_json.__file__)


def test_observers_alone_make_no_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_out = ENTRY | {"status": "left_out", "reason": "no toys"}
    observer = ENTRY | {"worker": "watch", "package": "middlemark-watch"}
    (tmp_path / "middlemark-workers.json").write_text(json.dumps({"workers": [left_out, observer]}))
    monkeypatch.setattr(dist, "BUILT", tmp_path)
    monkeypatch.setattr(dist, "STAGE", tmp_path / "stage")
    with pytest.raises(EnvironmentNotReady, match="no worker is built"):
        dist.main()


def test_the_wheel_has_the_programs_as_they_are_run(wheel: Path, tmp_path: Path) -> None:
    assert "-py3-none-manylinux_2_" in wheel.name
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path, wheel]
    subprocess.run(command, check=True)
    native = tmp_path / "middlemark/native"
    subprocess.run([native / "middlemark-worker-toy"], check=True)
    assert (native / "middlemark-worker-toy.lib/libtoy.so.1").is_file()
    assert (native / "middlemark-worker-toy.NOTICE").read_text().startswith("toys")
    (entry,) = json.loads((native / "middlemark-workers.json").read_text())["workers"]
    assert entry == ENTRY | {"packages": [], "programs": []}


def test_the_wheel_has_what_is_under_version_control_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "middlemark/suite/shipped/suites/quick.yaml" in names
    assert "middlemark/report/templates/page/answer.html.j2" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_the_wheel_has_all_of_the_front(wheel: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src"], cwd=dist.ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert {name.removeprefix("src/") for name in listed.splitlines()} <= set(zipfile.ZipFile(wheel).namelist())


def test_a_wheel_for_another_processor_is_named_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARGO_BUILD_TARGET", "aarch64-unknown-linux-gnu")
    spec = importlib.util.spec_from_file_location("cross", dist.__file__)
    assert spec is not None
    assert spec.loader is not None
    cross = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "cross", cross)
    spec.loader.exec_module(cross)
    assert cross.BUILT == cross.TARGET / "aarch64-unknown-linux-gnu/release"
    assert cross.WHEELS != dist.WHEELS
    program = dist.Program(Path(shutil.which("true") or ""), {})
    assert cross.platform_tag([program]).endswith("_aarch64")


def test_a_library_is_of_the_package_that_holds_it() -> None:
    assert dist.package_of("libc.so.6", Path("/")) == "libc6"
    assert dist.package_of("libnothing.so.0", Path("/")) == ""


def test_a_library_for_another_processor_is_of_no_package(tmp_path: Path) -> None:
    info = tmp_path / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    described = (
        "Status: install ok installed\nMaintainer: X <x@x.invalid>\nArchitecture: all\nVersion: 1\nDescription: x\n"
    )
    with (info.parent / "status").open("w") as status:
        for package, folder in (("a-cross", "/usr/other-linux-gnu/lib"), ("toy", f"/usr/lib/{dist.MACHINE}-linux-gnu")):
            (info / f"{package}.list").write_text(f"{folder}/libtoy.so.1\n")
            status.write(f"Package: {package}\n{described}\n")
    assert dist.package_of("libtoy.so.1", tmp_path) == "toy"


def test_a_root_without_packages_names_none(tmp_path: Path) -> None:
    assert dist.package_of("libc.so.6", tmp_path) == ""


def test_the_tag_is_the_newest_version_that_is_loaded() -> None:
    major, minor = needed_c_library(Path(shutil.which("true") or ""))
    assert (major, minor) >= (2, 3)
    assert major == 2


def test_an_installed_wheel_has_a_manual_page_where_man_looks(wheel: Path) -> None:
    pages = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if "data/share/man/man1/" in name}
    assert {"middlemark.1", "middlemark-run.1"} <= pages
