"""How many instructions our own code takes for each message, as a table in Markdown: the same on a busy machine.

    python bench/instructions.py

It needs valgrind, and the executable that `make bench` builds. Callgrind counts a run with some messages and one with
twice as many: the difference has neither start nor end in it. Beside ours are those of a library that takes few.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
OURS = BUILT / "middlemark-bench"
ICEORYX2 = BUILT / "middlemark-reference-iceoryx2"
PIECES = {
    "reading the clock": (OURS, "clock"),
    "receiving: stamp, count and record a sample": (OURS, "receive"),
    "publishing 64 B: body, header, stamps, record": (OURS, "publish"),
    "a round trip of 64 B: both ends of a ping-pong": (OURS, "round_trip"),
    "iceoryx2 alone: 64 B sent and taken": (ICEORYX2, "polling"),
    "iceoryx2 alone: the same, written and read": (ICEORYX2, "written"),
    "iceoryx2 alone: 64 B sent and taken with an event": (ICEORYX2, "own_thread"),
}
MESSAGES = 20_000
MEMORY = "/dev/shm"  # noqa: S108 - the folders within it are tempfile's


def main() -> None:
    if shutil.which("valgrind") is None:
        print("instructions: not available: valgrind is not installed: sudo apt-get install valgrind")
        return
    print("| of each message | instructions |\n| --- | ---: |")
    for words, (program, piece) in PIECES.items():
        if not program.exists():
            print(f"| {words} | not counted: {program.name} is not built |")
            continue
        each = (counted(program, piece, 2 * MESSAGES) - counted(program, piece, MESSAGES)) / MESSAGES
        print(f"| {words} | {each:.0f} |", flush=True)


def counted(program: Path, piece: str, messages: int) -> int:
    """All instructions of a run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), piece, str(messages)]
    with tempfile.TemporaryDirectory(prefix="bench-instructions-", dir=MEMORY) as folder:
        environment = os.environ | {"BENCH_PEERS_FOLDER": folder}
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr
        for left in Path(MEMORY).glob(f"{Path(folder).name}?*"):  # shared memory that a library leaves
            left.unlink()
    return collected(said)


def collected(said: str) -> int:
    """From what callgrind says at its end."""
    found = re.search(r"Collected : (\d+)", said)
    if found is None:
        raise ValueError(f"callgrind counted nothing: {said[-300:]}")
    return int(found[1])


if __name__ == "__main__":
    main()
