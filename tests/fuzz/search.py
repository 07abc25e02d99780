"""Tries inputs of every kind within bounds, for a time: `search.py SEED SECONDS [KIND…]`.

Each kind has a process of its own, two at a time, so that one that dies is a finding too. A finding is kept in
`corpus/<kind>`, from where the tests replay it. The table at the end says what was tried.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

from kinds import KINDS
from mutation import mutated

CORPUS = Path(__file__).with_name("corpus")
AT_ONCE = 2
PATIENCE_S = 300
"""Beyond its time, until a process that does not end is ended: an input may hang where no signal is handled."""


@dataclass
class Tried:
    """What one kind came to. `findings` are what was wrong, each once, by the name of the case that shows it."""

    kind: str
    inputs: int = 0
    peak_bytes: int = 0
    findings: dict[str, str] = field(default_factory=dict)


def inputs_of(kind: str, seed: str) -> Iterator[bytes]:
    """The cases that are kept, the examples, and then mutations without end."""
    yield from (path.read_bytes() for path in cases(kind))
    examples = KINDS[kind].examples()
    yield from examples[:20]
    for number in count():
        chance = random.Random(f"{seed} {kind} {number}")
        yield mutated(examples, KINDS[kind].words, chance) if kind != "run" else f"{seed} {number}".encode()


def cases(kind: str) -> list[Path]:
    return sorted((CORPUS / kind).glob("*"))


def try_kind(kind: str, seed: str, seconds: float, most: int, current: Path) -> Tried:
    """In this process; the input that is being read lies at `current`."""
    from bounds import finding, peak_bytes  # noqa: PLC0415 - its hook stays in the process that imports it

    tried, end, kept = Tried(kind), time.monotonic() + seconds, cases(kind)
    for content in inputs_of(kind, seed):
        current.write_bytes(content)
        wrong = finding(kind, content)
        tried.inputs += 1
        tried.peak_bytes = max(tried.peak_bytes, peak_bytes())
        if wrong is not None and wrong not in tried.findings.values():
            tried.findings[keep(kind, content)] = wrong
        if time.monotonic() > end or tried.inputs >= most + len(kept):
            break
    return tried


def keep(kind: str, content: bytes) -> str:
    path = CORPUS / kind / hashlib.sha256(content).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path.name


def try_apart(kind: str, seed: str, seconds: float, most: int) -> Tried:
    """In a process of its own, whose death is a finding."""
    with tempfile.TemporaryDirectory(prefix="middlemark-fuzz-") as folder:
        current = Path(folder) / "current"
        command = [sys.executable, __file__, seed, str(seconds), kind, "--most", str(most), "--here", str(current)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            said, _ = process.communicate(timeout=seconds + PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        if process.returncode == 0:
            return Tried(**json.loads(said.splitlines()[-1]))
        content = current.read_bytes() if current.exists() else b""
        return Tried(kind, findings={keep(kind, content): f"the process ended with status {process.returncode}"})


def table(tried: list[Tried]) -> str:
    lines = [f"{'kind':<12} {'inputs':>8} {'peak MiB':>9} {'findings':>9}"]
    lines += [f"{t.kind:<12} {t.inputs:>8} {t.peak_bytes >> 20:>9} {len(t.findings):>9}" for t in tried]
    lines += [f"\ncorpus/{each.kind}/{name}: {wrong}" for each in tried for name, wrong in each.findings.items()]
    total = sum(each.inputs for each in tried)
    return "\n".join([*lines, f"{total} inputs, {sum(len(each.findings) for each in tried)} findings"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed")
    parser.add_argument("seconds", type=float, help="for all kinds together")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument(
        "--most", type=int, default=sys.maxsize, help="inputs of each kind, beside the cases that are kept"
    )
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here is not None:
        for kind in given.kinds:
            print(json.dumps(asdict(try_kind(kind, given.seed, given.seconds, given.most, given.here))), flush=True)
        return 0
    kinds = given.kinds or list(KINDS)
    each = given.seconds * AT_ONCE / len(kinds)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        tried = list(pool.map(lambda kind: try_apart(kind, given.seed, each, given.most), kinds))
    print(table(tried))
    return int(any(one.findings for one in tried))


if __name__ == "__main__":
    sys.exit(main())
