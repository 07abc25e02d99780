"""What the tests of workers share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are looked for in `a`, in `b` and in what is built, all of this test alone."""
    monkeypatch.setenv("MIDDLEMARK_WORKERS", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
