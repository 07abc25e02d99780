"""Builds, lints or tests every worker and observer; what is built or tested has a cargo call each: no features unify.

The quickest are built first, and each can measure as soon as it is there. A worker whose library can't be had is left
out with its reason, never a broken build: `middlemark doctor` shows it. It needs nothing but Python itself; the workers
and observers are the folders in `workers/` and `observers/`.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORKER_PREFIX = "middlemark-worker-"
OBSERVER_PREFIX = "middlemark-"
OF_PACKAGE = re.compile(r"^error: ([\w-]+@[\w.+-]+: )?")
"""What cargo puts before the words of a build script."""
TOLD_BY_BUILD_SCRIPT = re.compile(r"^error: [\w-]+@[\w.+-]+: ", re.MULTILINE)
"""A build script said with `cargo::error` what can't be had: cargo's other words add nothing."""
BAR = re.compile(r"Building \[[=> ]*\] (?P<done>\d+)/(?P<all>\d+)")
"""How cargo says how many of a package's crates and build scripts are done."""
STATUS = re.compile(r"\s+(Compiling|Finished|Downloading|Downloaded|Locking|Updating|Blocking)\b")
"""What cargo says of its own work."""
FEW_SECONDS = 5
"""What a build takes of which its manifest says nothing."""
BETWEEN_LINES_S = 60.0
"""How often it is told how far a build is, where that is no terminal."""


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


def build_all(packages: Sequence[str]) -> int:
    first = [package for package in packages if is_first(package)]
    if first:
        total = duration(sum(cost_s(package) for package in first))
        say(f"{len(first)} of {len(packages)} programs are built for the first time: about {total} on 2 cores")
        say("what is ready can be tried meanwhile, disturbed by the builds: .venv/bin/middlemark run quick")
    outcomes = [_built(package, f"{n} of {len(packages)}", package in first) for n, package in enumerate(packages, 1)]
    return 0 if any(outcome["status"] == "built" for outcome in outcomes) else 3


def _built(package: str, place: str, for_the_first_time: bool) -> dict[str, object]:  # noqa: FBT001 - what is told of it
    about = f", about {duration(cost_s(package))}" if for_the_first_time else ""
    say(f"building {package} ({place}){about}")
    outcome = build(package)
    write_results({package: outcome})
    if outcome["status"] != "built":
        say(f"{package} is left out: {outcome['reason']}")
    elif for_the_first_time:
        say(f"{package} is ready after {duration(float(str(outcome['seconds'])))}")
    return outcome


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def is_first(package: str) -> bool:
    """Whether nothing of it was ever built here, or tried."""
    tried = {entry["package"]: entry["status"] for entry in results()} if results_path().exists() else {}
    return tried.get(package, "built") == "built" and not (results_path().parent / package).exists()


def cost_s(package: str) -> int:
    """What its manifest says that the first build takes on two cores, after those that are quicker."""
    (declared,) = [manifest["package"] for manifest, _ in manifests() if manifest["package"]["name"] == package]
    return int(declared.get("metadata", {}).get("build", {}).get("seconds", FEW_SECONDS))


def results_path() -> Path:
    """Beside the programs: where cargo leaves them, also for another processor."""
    target, triple = os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), os.environ.get("CARGO_BUILD_TARGET", "")
    return Path(target, triple, "release", "middlemark-workers.json")


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


def cargo(action: str, *packages: str) -> subprocess.CompletedProcess[bytes]:
    command = {"lint": ["clippy", "--all-targets"], "test": ["test"]}[action]
    denied = ["--", "--deny", "warnings"] if action == "lint" else []
    return subprocess.run(
        ["cargo", *command, "--release", "--locked", "--quiet", *(f"--package={name}" for name in packages), *denied],
        cwd=ROOT,
        env=environment(),
        check=False,
    )


def executable_packages() -> list[str]:
    """Packages of `workers/` and `observers/` that are executables, the quickest to build first."""
    executables = [manifest["package"]["name"] for manifest, path in manifests() if is_executable(manifest, path)]
    return sorted(executables, key=lambda package: (cost_s(package), package))


def is_executable(manifest: dict[str, Any], path: Path) -> bool:
    """Workers, and observers: all of these have a `main.rs`; the libraries beside them do not."""
    has_main = "bin" in manifest or (path.parent / "src" / "main.rs").exists()
    return has_main and path.parent.parent.name in {"workers", "observers"}


def build(package: str) -> dict[str, object]:
    begin = time.monotonic()
    status, log = compiled(package)
    result: dict[str, object] = {"status": "built", "reason": None, "seconds": round(time.monotonic() - begin, 1)}
    if status != 0:
        if TOLD_BY_BUILD_SCRIPT.search(log) is None:
            sys.stderr.write(log)
        result |= {"status": "left_out", "reason": reason(log)}
    return result


def compiled(package: str) -> tuple[int, str]:
    """Builds it, and shows how far cargo is; gives cargo's exit status, and its words but for those of its own work."""
    bar = {"CARGO_TERM_PROGRESS_WHEN": "always", "CARGO_TERM_PROGRESS_WIDTH": "80", "CARGO_TERM_COLOR": "never"}
    command = ["cargo", "build", "--release", "--locked", f"--package={package}"]
    progress, log = Progress(package), []
    with subprocess.Popen(command, cwd=ROOT, env=environment() | bar, stderr=subprocess.PIPE, text=True) as cargo_build:
        assert cargo_build.stderr is not None
        for line in cargo_build.stderr:  # a bar ends with a return, which is the end of a line too
            if bar_shown := BAR.search(line):
                progress.show(int(bar_shown["done"]), int(bar_shown["all"]))
            elif (text := line.replace("\x1b[K", "")).strip() and STATUS.match(text) is None:
                log.append(text)
        progress.clear()
    return cargo_build.returncode, "".join(log)


class Progress:
    """How far a build is: a line that is written over on a terminal, else one a minute."""

    def __init__(self, package: str) -> None:
        self.package, self.begin_s, self.told_s = package, time.monotonic(), 0.0

    def show(self, done: int, of: int) -> None:
        """So many of so many crates are done."""
        passed_s = time.monotonic() - self.begin_s
        text = f"setup: {self.package}: {done} of {of} crates after {passed_s:.0f} s"
        if sys.stderr.isatty():
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
        elif passed_s - self.told_s >= BETWEEN_LINES_S:
            self.told_s = passed_s
            print(text, flush=True)

    def clear(self) -> None:
        """The line ends: what follows takes its place."""
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def environment() -> dict[str, str]:
    """Cargo's: without the jobs of a `make` that runs several, as it has as many of its own as there are CPUs."""
    return {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS"}}


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
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps({"workers": [kept[name] for name in sorted(kept)]}, indent=2) + "\n")
    partial.replace(path)  # whoever measures meanwhile reads it whole


if __name__ == "__main__":
    sys.exit(main())
