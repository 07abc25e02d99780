"""How many instructions our own code takes for each message, as a table in Markdown: the same on a busy machine.

    python bench/instructions.py

It needs valgrind, and the executable that `make bench` builds. Callgrind counts a run with some messages and one with
twice as many: the difference has neither start nor end in it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[1] / "target" / "release" / "middlemark-bench"
PIECES = {
    "clock": "reading the clock",
    "receive": "receiving: stamp, count and record a sample",
    "publish": "publishing 64 B: body, header, stamps, record",
}
MESSAGES = 20_000


def main() -> None:
    if shutil.which("valgrind") is None:
        print("instructions: not available: valgrind is not installed: sudo apt-get install valgrind")
        return
    print("| of each message | instructions |\n| --- | ---: |")
    for piece, words in PIECES.items():
        each = (counted(piece, 2 * MESSAGES) - counted(piece, MESSAGES)) / MESSAGES
        print(f"| {words} | {each:.0f} |", flush=True)


def counted(piece: str, messages: int, program: Path = PROGRAM) -> int:
    """All instructions of a run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), piece, str(messages)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return collected(said)


def collected(said: str) -> int:
    """From what callgrind says at its end."""
    found = re.search(r"Collected : (\d+)", said)
    if found is None:
        raise ValueError(f"callgrind counted nothing: {said[-300:]}")
    return int(found[1])


if __name__ == "__main__":
    main()
