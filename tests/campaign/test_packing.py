"""A run is packed and unpacked whole, under its digest; what is no packed run leaves nothing behind."""

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import MIDDLEMARK
from middlemark.campaign.packing import pack, unpack_run
from middlemark.cli.main import app
from middlemark.errors import EnvironmentNotReady, MiddlemarkError, StoreError, UsageError
from middlemark.results import store
from middlemark.results.run_folder import RunFolder
from object_stores import URL, ObjectStore, object_store
from shared_runs import GOLDEN

RUN = GOLDEN / "run-format-1"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "run"))


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_unpacked_is_what_was_packed(run: Path, tmp_path: Path) -> None:
    digest = pack(RunFolder(run), str(tmp_path / "run.tar"))
    assert hashlib.sha256((tmp_path / "run.tar").read_bytes()).hexdigest() == digest
    assert (tmp_path / "run.tar.sha256").read_text(encoding="ascii") == f"{digest}  run.tar\n"
    assert unpack_run(str(tmp_path / "run.tar"), tmp_path / "again") == digest
    assert content(tmp_path / "again") == content(run)
    assert (tmp_path / "again").stat().st_mode & 0o077 == 0


def test_the_same_content_has_the_same_digest_whoever_packs_it_and_when(run: Path, tmp_path: Path) -> None:
    first = pack(RunFolder(run), str(tmp_path / "first.tar"))
    unpack_run(str(tmp_path / "first.tar"), tmp_path / "again")
    os.utime(tmp_path / "again" / "manifest.json", (0, 0))
    (tmp_path / "again" / "manifest.json").chmod(0o644)
    (tmp_path / "again" / ".0123.partial").write_bytes(b"left by a killed writer")
    assert pack(RunFolder(tmp_path / "again"), str(tmp_path / "second.tar")) == first


@pytest.mark.parametrize("scheme", ["memory://packed", "file://{}/store"])
def test_a_run_goes_to_a_store_and_comes_from_it(run: Path, tmp_path: Path, scheme: str) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "store").mkdir()
    url = f"{scheme.format(tmp_path)}/run.tar"
    digest = pack(RunFolder(run), url)
    assert unpack_run(url, tmp_path / "again") == digest
    assert content(tmp_path / "again") == content(run)


def test_a_store_that_there_is_not_is_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentNotReady, match="nowhere"):
        pack(RunFolder(run), "nowhere://bucket/run.tar")
    with pytest.raises(EnvironmentNotReady, match="memory://packed/none"):
        unpack_run("memory://packed/none.tar", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_what_was_changed_on_the_way_is_refused(run: Path, tmp_path: Path) -> None:
    packed = tmp_path / "run.tar"
    pack(RunFolder(run), str(packed))
    packed.write_bytes(packed.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="not what was packed"):
        unpack_run(str(packed), tmp_path / "again")
    with pytest.raises(StoreError, match="not what was packed"):
        unpack_run(str(packed), tmp_path / "again", "0" * 64)
    with pytest.raises(UsageError, match="no SHA-256"):
        unpack_run(str(packed), tmp_path / "again", "abc")
    assert not (tmp_path / "again").exists()


def test_a_folder_that_is_there_is_left_as_it_is(run: Path, tmp_path: Path) -> None:
    pack(RunFolder(run), str(tmp_path / "run.tar"))
    before = content(run)
    with pytest.raises(StoreError, match="there already"):
        unpack_run(str(tmp_path / "run.tar"), run)
    assert content(run) == before


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_only_regular_files_are_packed(run: Path, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("private", encoding="utf-8")
    odd = run / "odd"
    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to(secret / "key" if kind == "link" else secret)
    with pytest.raises(StoreError):
        pack(RunFolder(run), str(tmp_path / "run.tar"))
    assert not (tmp_path / "run.tar").exists()


def member(name: str, kind: bytes = tarfile.REGTYPE, text: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.size = kind, len(text) if kind == tarfile.REGTYPE else 0
        info.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
        archive.addfile(info, io.BytesIO(text))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"no archive" * 1000,
        member("../manifest.json"),
        member("/tmp/manifest.json"),  # noqa: S108 - that it does not come there
        member("manifest.json", tarfile.SYMTYPE),
        member("manifest.json", tarfile.FIFOTYPE),
        member("manifest.json", text=b"{}"),
        member("other.json"),
    ],
    ids=["nothing", "no archive", "above", "elsewhere", "a link", "a pipe", "no manifest", "another file"],
)
def test_what_is_no_packed_run_leaves_nothing_behind(archive: bytes, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "run.tar").write_bytes(archive)
    with pytest.raises(MiddlemarkError):
        unpack_run(str(place / "run.tar"), place / "new" / "run")
    assert [str(path.relative_to(place)) for path in sorted(place.rglob("*"))] == ["new", "run.tar"]


def test_the_commands_say_what_was_made(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    packed = CliRunner().invoke(app, ["pack", str(run)])
    assert packed.exit_code == 0, packed.output
    assert packed.stdout.endswith("  run.tar\n")
    (tmp_path / "run.tar.sha256").unlink()
    unpacked = CliRunner().invoke(app, ["unpack", "run.tar"])
    assert unpacked.exit_code == 0, unpacked.output
    assert "runs/run" in unpacked.stdout
    assert "not checked" in unpacked.stderr
    assert content(tmp_path / "runs" / "run") == content(run)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("objects")) as started:
        yield started


def middlemark(objects: ObjectStore, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """The program, which is told of the store as its users tell it."""
    environment = {**os.environ, **objects.environment}
    command = (*MIDDLEMARK, *map(str, words))
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


def test_a_run_goes_to_s3_and_comes_from_it(objects: ObjectStore, run: Path, tmp_path: Path) -> None:
    packed = middlemark(objects, "pack", run, f"{URL}/of/quick.tar")
    assert packed.returncode == 0, packed.stderr
    assert {"of/quick.tar", "of/quick.tar.sha256"} <= set(objects.names())
    unpacked = middlemark(objects, "unpack", f"{URL}/of/quick.tar", tmp_path / "again")
    assert (unpacked.returncode, unpacked.stderr) == (0, "")
    assert content(tmp_path / "again") == content(run)


def test_what_was_changed_in_s3_is_refused(objects: ObjectStore, run: Path, tmp_path: Path) -> None:
    middlemark(objects, "pack", run, f"{URL}/changed/quick.tar")
    objects.write("changed/quick.tar", b"something else")
    unpacked = middlemark(objects, "unpack", f"{URL}/changed/quick.tar", tmp_path / "again")
    assert (unpacked.returncode, "not what was packed" in unpacked.stderr) == (3, True)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("url", ["s3://no-such-bucket/quick.tar", f"{URL}/none.tar"])
def test_what_is_not_in_s3_is_told_by_its_url(objects: ObjectStore, tmp_path: Path, url: str) -> None:
    unpacked = middlemark(objects, "unpack", url, tmp_path / "again")
    assert unpacked.returncode == 3
    assert url in unpacked.stderr
    assert "Traceback" not in unpacked.stderr


def test_what_is_removed_of_a_store_is_what_begins_so_and_nothing_else(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in ("mine-1.tar", "mine-2.tar", "other.tar"):
        store.put(Path(os.devnull), store.location_in(f"{shared}/", name))
    store.remove_all(str(shared), "mine-")
    assert [path.name for path in shared.iterdir()] == ["other.tar"]
    store.remove(f"{shared}/mine-1.tar")
