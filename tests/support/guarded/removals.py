"""Refuses to remove what is no test's, before it is removed: a check that is broken must not cost the machine its files.

`guard` looks at what Python removes itself, and at `rm` in the commands that it starts; `sitecustomize`, beside it, puts
it into each Python program that has this folder on its path. What native programs remove by themselves is not seen.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from audited import absolute, changed_paths

PLACES_VARIABLE, REFUSED_VARIABLE = "TESTS_MAY_REMOVE_IN", "TESTS_REFUSED_REMOVALS"
"""In the environment: the folders below which all is a test's, and a file that gets a line for each refusal."""
DEFAULT_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - all users' temporary files and shared memory
_CHECKOUT = Path(__file__).resolve().parents[3]
_OWN = re.compile(
    r"/sys/fs/cgroup/(.+/)?(mm\d\d[0-9a-f]{10}-|middlemark-)[^/]+(/.+)?"
    r"|/run/(user/\d+/)?middlemark-[^/]+(/.+)?"
    r"|/.+/middlemark/((ledgers|runs|descriptions)/.+|\.[0-9a-f]{16}\.partial)"
    rf"|{re.escape(str(_CHECKOUT))}/(target/.+|\.hypothesis(/.+)?|(.+/)?__pycache__/.+)"
)
"""What has a name of Middlemark's where the machine has other things too, and what tools keep in the checkout."""
_REMOVALS = {"os.remove", "os.rmdir", "shutil.rmtree"}
_COMMAND = re.compile(r"\brm\s+(?:-[a-zA-Z]+\s+)+([^;&|{}\n]+)")


class NotOfTests(BaseException):
    """Something would have been removed that is no test's; no handler of errors stops it."""


def guard() -> None:
    """From now on, in this process and in those that it forks."""
    _watch.is_on = True
    if not _watch.is_there:
        _watch.is_there = True
        sys.addaudithook(_watch)


def release() -> None:
    """Until it guards again."""
    _watch.is_on = False


def places() -> list[str]:
    """The folders below which all is a test's."""
    named = os.environ.get(PLACES_VARIABLE)
    return named.split(os.pathsep) if named else [*DEFAULT_PLACES, os.environ.get("TMPDIR") or DEFAULT_PLACES[0]]


def is_of_tests(path: Path) -> bool:
    """Whether a path, of which only the last part may be a link, is below a place of the tests or has a name of ours."""
    around = [Path(os.path.realpath(place)) for place in places()]
    return any(place in path.parents for place in around) or _OWN.fullmatch(str(path)) is not None


class _Watch:
    """What the audit events say, which Python has before it does a thing."""

    is_there = False
    """A hook can't be taken out again."""
    is_on = False

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.is_on:
            return
        if event in _REMOVALS:
            for path in changed_paths(event, arguments):
                if event != "os.rmdir" or not _holds_something(path):
                    self._check(event, path)
        elif event == "subprocess.Popen":
            for path in _handed_to_rm(arguments[1]):
                self._check("rm", path)

    def _check(self, event: str, path: Path) -> None:
        if is_of_tests(path):
            return
        refusal = f"{event}: {path} is no test's, and was not removed"
        if report := os.environ.get(REFUSED_VARIABLE):
            with Path(report).open("a", encoding="utf-8") as file:
                file.write(f"{refusal}\n")
        raise NotOfTests(refusal)


_watch = _Watch()


def _holds_something(path: Path) -> bool:
    """Such a folder stays by itself; those who remove what has become empty, with its parents, end at it."""
    return path.is_dir() and next(path.iterdir(), None) is not None


def _handed_to_rm(command: object) -> list[Path]:
    """The absolute paths that a command hands to `rm`, by itself or in a script."""
    words = command if isinstance(command, list | tuple) else [command]
    text = " ".join(os.fsdecode(word) for word in words)
    paths = [path.strip("'\"") for given in _COMMAND.findall(text) for path in given.split()]
    return [absolute(path) for path in paths if path.startswith("/")]
