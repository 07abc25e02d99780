"""Runs pytest, and the tests that failed once more: what else the machine does can spoil a measurement.

Only a second failure counts, and each second try is listed at the end, so that a test which needs one is seen and
mended. More of them than allowed fail the run at once: so many are no accident of the machine.

    python setup/try_twice.py MOST_SECOND_TRIES PYTEST_ARGUMENT...
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS_FAILED = 1
"""What pytest ends with where tests failed, and nothing else was wrong."""


def main(most: int, arguments: list[str]) -> int:
    """The exit status: 0 where each test passed, at the latest at its second try."""
    with TemporaryDirectory() as cache:
        status = _pytest(cache, *arguments)
        if status != TESTS_FAILED:
            return status
        failed = list(json.loads((Path(cache) / "v" / "cache" / "lastfailed").read_text(encoding="utf-8")))
        if len(failed) > most:
            print(f"{len(failed)} tests failed; no more than {most} are tried once more.")
            return status
        print("The tests that failed are tried once more.", flush=True)
        status = _pytest(cache, "--last-failed", "--last-failed-no-failures", "none", *arguments)
    print("Second tries, to be mended:", *failed, sep="\n  ")
    return status


def _pytest(cache: str, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments], check=False
    ).returncode


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2:]))
