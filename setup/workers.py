"""Builds, lints or tests every worker and observer; what is built or tested has a cargo call each: no features unify.

A worker whose library can't be had is left out with its reason, never a broken build: `middlemark doctor` shows it. It
needs nothing but Python itself; the workers and observers are the folders in `workers/` and `observers/`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKER_PREFIX = "middlemark-worker-"
OBSERVER_PREFIX = "middlemark-"
OF_PACKAGE = re.compile(r"^error: ([\w-]+@[\w.+-]+: )?")
"""What cargo puts before the words of a build script."""


def main() -> int:
    arguments = parse_arguments()
    if arguments.action == "build":
        return build_all(arguments.package or executable_packages())
    if arguments.action == "lint":
        return cargo("lint", *(arguments.package or packages_here())).returncode  # what they need is checked once
    return max((cargo("test", package).returncode for package in arguments.package or built_packages()), default=3)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["build", "lint", "test"])
    parser.add_argument("package", nargs="*", help="only these packages")
    return parser.parse_args()


def build_all(packages: list[str]) -> int:
    outcomes = {}
    for number, package in enumerate(packages, start=1):
        print(f"setup: building {package} ({number} of {len(packages)})", flush=True)
        outcomes[package] = build(package)
        if outcomes[package]["status"] != "built":
            print(f"setup: {package} is left out: {outcomes[package]['reason']}", flush=True)
    write_results(outcomes)
    return 0 if any(outcome["status"] == "built" for outcome in outcomes.values()) else 3


def results_path() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "middlemark-workers.json"


def results() -> list[dict[str, object]]:
    return list(json.loads(results_path().read_text())["workers"])


def built_packages() -> list[str]:
    return [str(entry["package"]) for entry in results() if entry["status"] == "built"]


def packages_here() -> list[str]:
    """Every package of the data plane but those that can't be built on this machine."""
    left_out = {entry["package"] for entry in results() if entry["status"] != "built"}
    return [name for name in (manifest["package"]["name"] for manifest, _ in manifests()) if name not in left_out]


def manifests() -> list[tuple[dict[str, Any], Path]]:
    paths = [
        path for folder in ("workers", "observers", "bench") for path in sorted(ROOT.glob(f"{folder}/**/Cargo.toml"))
    ]
    return [(tomllib.loads(path.read_text()), path) for path in paths]


def cargo(action: str, *packages: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    command = {
        "build": ["build"],
        "lint": ["clippy", "--all-targets"],
        "test": ["test"],
    }[action]
    denied = ["--", "--deny", "warnings"] if action == "lint" else []
    return subprocess.run(
        ["cargo", *command, "--release", "--locked", "--quiet", *(f"--package={name}" for name in packages), *denied],
        cwd=ROOT,
        text=True,
        stderr=subprocess.PIPE if capture else None,
        check=False,
    )


def executable_packages() -> list[str]:
    """Packages of `workers/` and `observers/` that are executables, the quickest to build first."""
    executables = [
        (manifest["package"]["name"], path) for manifest, path in manifests() if is_executable(manifest, path)
    ]
    return [name for name, _ in sorted(executables, key=lambda entry: (entry[1].parent / "build.rs").exists())]


def is_executable(manifest: dict[str, Any], path: Path) -> bool:
    """Workers, and observers: all of these have a `main.rs`; the libraries beside them do not."""
    has_main = "bin" in manifest or (path.parent / "src" / "main.rs").exists()
    return has_main and path.parent.parent.name in {"workers", "observers"}


def build(package: str) -> dict[str, object]:
    begin = time.monotonic()
    process = cargo("build", package, capture=True)
    result: dict[str, object] = {"status": "built", "reason": None, "seconds": round(time.monotonic() - begin, 1)}
    if process.returncode != 0:
        sys.stderr.write(process.stderr)
        result |= {"status": "left_out", "reason": reason(process.stderr)}
    return result


def reason(log: str) -> str:
    """What the build script said with `cargo::error`, else the first error, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [OF_PACKAGE.sub("", line) for line in lines if line.startswith("error")]
    return next(iter(errors), lines[-1] if lines else "cargo said nothing")


def write_results(outcomes: dict[str, dict[str, object]]) -> None:
    path = results_path()
    known = results() if path.exists() else []
    kept = {entry["package"]: entry for entry in known if (ROOT / str(entry["folder"])).is_dir()}
    for package, result in outcomes.items():
        name = package.removeprefix(WORKER_PREFIX).removeprefix(OBSERVER_PREFIX)
        folder = "workers" if package.startswith(WORKER_PREFIX) else "observers"
        kept[package] = {"worker": name, "package": package, "folder": f"{folder}/{name.replace('-', '_')}", **result}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"workers": [kept[name] for name in sorted(kept)]}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
