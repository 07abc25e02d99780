import hashlib
from pathlib import Path

import pytest

from middlemark.errors import StoreError
from middlemark.results.files import file_digest, folder_digest


def test_the_digest_of_a_file_is_what_sha256sum_prints(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert file_digest(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_no_digest_is_of_what_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(StoreError, match="symbolic link"):
        file_digest(tmp_path / "link")


def test_the_digest_of_a_folder_is_of_names_and_contents_and_of_no_report(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials" / "record.json").write_text("{}")
    (tmp_path / "manifest.json").write_text("[]")
    first = folder_digest(tmp_path, without=".html")
    lines = "".join(
        f"{name} {hashlib.sha256(content).hexdigest()}\n"
        for name, content in (("manifest.json", b"[]"), ("trials/record.json", b"{}"))
    )
    assert first == hashlib.sha256(lines.encode()).hexdigest()
    (tmp_path / "report.html").write_text("drawn again")
    assert folder_digest(tmp_path, without=".html") == first
    (tmp_path / "trials" / "record.json").rename(tmp_path / "trials" / "spec.json")
    assert folder_digest(tmp_path, without=".html") != first
