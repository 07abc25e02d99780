"""Run folders as somebody else may have made them: stored ones in which bytes, values and files are not as they were.

Each change is drawn by a seeded chance; what it did is told, so that a failure can be looked at again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from middlemark.report.output.data import recompute_metrics
from middlemark.results.run_folder import RunFolder

ODD: list[Any] = [
    None, True, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 10**25, 1e308, float("inf"), float("nan"), 0.5, -0.0, "", "x", "../x",
    "a\0b", "imu", [], {}, [[]], {"": 1}, "\ud800", "x" * 70_000,
]  # fmt: skip

HOLE_BYTES = 1 << 42
"""Of a file that takes no disk, and more memory than there is when it is read."""


def damaged(stored: Path, into: Path, chance: random.Random) -> str:
    """A copy of a stored run, with two of its trials and one to three changes; says which."""
    trials = sorted(path.name for path in (stored / "trials").iterdir())
    left_out = set(trials) - set(chance.sample(trials, min(2, len(trials))))
    shutil.copytree(stored, into, ignore=lambda _, names: left_out.intersection(names))
    if chance.random() < 0.5:
        recompute_metrics(RunFolder(into))
    return "; ".join(chance.choice(CHANGES)(into, chance) for _ in range(chance.choice([1, 1, 1, 2, 3])))


def _a_file(run: Path, chance: random.Random, *endings: str) -> Path:
    """Of the kinds of files one, of that kind one: a kind of which there are few would seldom come up otherwise."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and not path.is_symlink()]
    files = [path for path in files if path.stat().st_size < HOLE_BYTES]  # an earlier change may have made that one
    kinds = sorted({path.name for path in files if not endings or path.name.endswith(endings)})
    kind = chance.choice(kinds or [files[0].name])
    return chance.choice([path for path in files if path.name == kind])


def _bytes(run: Path, chance: random.Random) -> str:
    path = _a_file(run, chance, ".parquet", ".json", ".hlog")
    content = bytearray(path.read_bytes() or b"\0")
    ends = chance.random() < 0.5  # where Parquet keeps what it says of itself
    for _ in range(chance.choice([1, 1, 4, 30])):
        low = max(len(content) - 600, 0) if ends else 0
        content[chance.randrange(low, len(content))] = chance.randrange(256)
    path.write_bytes(content)
    return f"bytes of {path.name}"


def _cut_off(run: Path, chance: random.Random) -> str:
    path = _a_file(run, chance)
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])
    return f"{path.name} cut off"


def _value(run: Path, chance: random.Random) -> str:
    """One value of a document, in the trial's record or the manifest."""
    path = _a_file(run, chance, "trial.json", "manifest.json", "metrics.json")
    try:
        document = json.loads(path.read_text())
    except ValueError:
        return "nothing"
    holder, key = _place(document, chance)
    if holder is None:
        return "nothing"
    fate = chance.random()
    odd = chance.choice(ODD)
    if fate < 0.1 and isinstance(holder, dict):
        del holder[key]
    elif fate < 0.15 and isinstance(holder, dict):
        holder["unheard_of"] = odd
    elif fate < 0.25 and isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] = odd = max(holder[key] + chance.choice([-1, 1, -1000, 1000]), 0)
    else:
        holder[key] = odd
    path.write_text(json.dumps(document))
    return f"{key} of {path.name}: {str(odd)[:40]!r}"


def _place(document: Any, chance: random.Random) -> tuple[Any, Any]:  # noqa: ANN401 - any JSON
    """A place in a document, at any depth."""
    holder: Any = None
    key: Any = None
    here = document
    while isinstance(here, dict | list) and here and (holder is None or chance.random() < 0.9):
        holder, key = here, chance.choice(list(here) if isinstance(here, dict) else range(len(here)))
        here = holder[key]
    return holder, key


def _swapped(run: Path, chance: random.Random) -> str:
    first, second = _a_file(run, chance), _a_file(run, chance)
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    return f"{first.name} for {second.name}"


def _replaced(run: Path, chance: random.Random) -> str:
    path = _a_file(run, chance)
    path.unlink()
    kind = chance.choice(["nothing", "pipe", "link", "loop", "device", "folder", "hole"])
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to("/etc/passwd")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "hole":
        with path.open("wb") as file:
            file.truncate(HOLE_BYTES)
    return f"{kind} for {path.name}"


def _moved(run: Path, chance: random.Random) -> str:
    """A trial under a name that is not its own, or elsewhere."""
    trials = sorted(path for path in (run / "trials").iterdir() if path.is_dir()) if (run / "trials").is_dir() else []
    if not trials:
        return "nothing"
    trial = chance.choice(trials)
    name = chance.choice(["x", "-rf", ".hidden", "a b", "0-x", "\x1b[31m", "ä" * 50])
    there = run / "trials" / name
    if there.exists() or there.is_symlink():
        return "nothing"
    if chance.random() < 0.3:
        there.symlink_to(trial)
    else:
        trial.rename(there)
    return f"a trial called {name!r}"


def _experiment(run: Path, chance: random.Random) -> str:
    """One value of an experiment, alike in the manifest and in all its trials, so that nothing contradicts it."""
    paths = [path for path in [run / "manifest.json", *sorted(run.glob("trials/*/trial.json"))] if path.is_file()]
    try:
        documents = [json.loads(path.read_text()) for path in paths]
        trials = [trial for each in documents for trial in each.get("trials", [each.get("trial")])]
        name = chance.choice(trials)["experiment"]["id"]
        seed, said = chance.random(), "nothing"
        for trial in trials:
            if trial["experiment"]["id"] == name:
                said = _altered(trial["experiment"], random.Random(seed))
        for path, document in zip(paths, documents, strict=True):
            path.write_text(json.dumps(document))
    except (ValueError, LookupError, TypeError, AttributeError, OSError):
        return "nothing"
    return f"everywhere in an experiment, {said}"


def _altered(document: Any, chance: random.Random) -> str:  # noqa: ANN401 - any JSON
    holder, key = _place(document, chance)
    if holder is None:
        return "nothing"
    old = holder[key]
    if isinstance(old, bool) or not isinstance(old, int | float):
        holder[key] = chance.choice(ODD)
    else:
        holder[key] = chance.choice([0, 1, 2, old * 1000, old // 1000, old + 1, 10**9, 2**53])
    return f"{key}: {str(holder[key])[:40]!r}"


CHANGES: list[Callable[[Path, random.Random], str]] = [
    _bytes, _bytes, _bytes, _cut_off, _value, _value, _value, _experiment, _experiment, _swapped, _replaced, _moved,
]  # fmt: skip
