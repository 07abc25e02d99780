"""What workers share is built once: none asks for other features of the crates that this is made of."""

import shutil
import subprocess
import tomllib
from functools import cache

import pytest

from pages import ROOT

RUNTIME = "middlemark-runtime"

pytestmark = pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")


@pytest.mark.parametrize("shared", [RUNTIME, "middlemark-credentials"])
def test_what_workers_share_has_the_same_features_in_each(shared: str) -> None:
    trees = {package: crates(package) for package in executables()}
    differing = {
        package: sorted(crate for crate in crates(RUNTIME, shared) - tree if "(/" not in crate)
        for package, tree in trees.items()
        if any(crate.startswith(f"{shared} ") for crate in tree)
    }
    assert differing
    assert {package: missing for package, missing in differing.items() if missing} == {}, (
        "asks for more features of these crates: name them in workers/foundations/Cargo.toml, if it says that they may be "
        "named there"
    )


def executables() -> list[str]:
    """The packages of all workers and observers that are programs."""
    mains = [main for folder in ("workers", "observers") for main in sorted(ROOT.glob(f"{folder}/*/src/main.rs"))]
    manifests = [tomllib.loads((main.parents[1] / "Cargo.toml").read_text(encoding="utf-8")) for main in mains]
    return [manifest["package"]["name"] for manifest in manifests]


@cache
def crates(*packages: str) -> set[str]:
    """Name, version, path where it has one, and features of each crate that packages are made of, or built by."""
    tree = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p} {f}"]
    selected = [f"--package={package}" for package in packages]
    listed = subprocess.run([*tree, *selected], cwd=ROOT, check=True, capture_output=True, text=True)
    return {line.removesuffix(" (*)") for line in listed.stdout.splitlines() if line}
