"""Tries what the native part reads with drawn inputs, for a time: `native.py SEED SECONDS`.

The properties are tests of the crates, their names begin with `whatever_`; each round draws other inputs, within a
bound of memory and of time. What fails is kept by proptest in the crate's folder `proptest-regressions`, from where
every later run of the tests draws it first.
"""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = 20_000
"""Of each property in a round: a round takes seconds."""
MOST_SECONDS = 120
"""A round that takes longer hangs."""
MOST_BYTES = 1 << 30
CRATES = {
    "middlemark-runtime": ("--lib", "--features", "harness"),
    "middlemark-sockets": ("--lib",),
    "middlemark-ring": ("--lib",),
    "middlemark-relay": ("--bins",),
    "middlemark-probe": ("--bins",),
}


@dataclass
class Tried:
    """What one crate came to."""

    crate: str
    inputs: int = 0
    findings: list[str] = field(default_factory=list)


def built(crate: str) -> Path:
    """The crate's unit tests, as a program."""
    command = ["cargo", "test", "--release", "--locked", "--quiet", "--no-run", "-p", crate, *CRATES[crate]]
    process = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    messages = (json.loads(line) for line in process.stdout.splitlines())
    programs = [message["executable"] for message in messages if message.get("profile", {}).get("test")]
    return Path(programs[-1])


def try_round(tests: Path, folder: Path, seed: int, cases: int, tried: Tried) -> None:
    """Draws `cases` inputs for each property of one crate, in its folder, where what fails is kept."""
    drawn = {"PROPTEST_RNG_SEED": str(seed), "PROPTEST_CASES": str(cases)}
    try:
        ended = subprocess.run(
            [tests, "whatever_"],
            cwd=folder,
            env=os.environ | drawn,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MOST_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES)),
            check=False,
        )
    except subprocess.TimeoutExpired:
        tried.findings.append(f"seed {seed}: no end within {MOST_SECONDS} s")
        return
    tried.inputs += cases * sum(map(int, re.findall(r"(\d+) passed", ended.stdout)))
    if ended.returncode != 0:
        tried.findings.append(f"seed {seed}: status {ended.returncode}\n{ended.stdout[-4000:]}")


def folder_of(crate: str) -> Path:
    name = crate.removeprefix("middlemark-")
    return next(path for path in (ROOT / "workers" / name, ROOT / "observers" / name) if path.is_dir())


def table(all_tried: list[Tried]) -> str:
    lines = [f"{'crate':<20} {'inputs':>9} {'findings':>9}"]
    lines += [f"{t.crate:<20} {t.inputs:>9} {len(t.findings):>9}" for t in all_tried]
    lines += [f"\n{t.crate}, {finding}" for t in all_tried for finding in t.findings]
    total = sum(t.inputs for t in all_tried)
    return "\n".join([*lines, f"{total} inputs, {sum(len(t.findings) for t in all_tried)} findings"])


def main() -> int:
    chance, seconds = random.Random(sys.argv[1]), float(sys.argv[2])
    programs = {crate: built(crate) for crate in CRATES}  # no part of the time
    all_tried = {crate: Tried(crate) for crate in CRATES}
    end = time.monotonic() + seconds
    while time.monotonic() < end and not any(tried.findings for tried in all_tried.values()):
        for crate, tests in programs.items():
            try_round(tests, folder_of(crate), chance.getrandbits(32), CASES, all_tried[crate])
    print(table(list(all_tried.values())))
    return int(any(tried.findings for tried in all_tried.values()))


if __name__ == "__main__":
    sys.exit(main())
