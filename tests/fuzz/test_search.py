"""Each case that a search ever found is read within bounds again, as are the first inputs of every kind."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import search
from kinds import KINDS
from mutation import mutated

ROUNDS = 6


@pytest.mark.timeout(600)
def test_cases_that_were_found_and_the_first_inputs_are_read_within_bounds(tmp_path: Path) -> None:
    options = ["--most", str(ROUNDS), "--here", str(tmp_path / "current")]
    process = subprocess.run(
        [sys.executable, search.__file__, "tests", "300", *KINDS, *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    tried = [search.Tried(**json.loads(line)) for line in process.stdout.splitlines()]
    assert [each.findings for each in tried] == [{} for _ in KINDS]
    assert [each.inputs for each in tried] == [ROUNDS + len(search.cases(kind)) for kind in KINDS]


JUDGED = """
import json, os, bounds, kinds
from pathlib import Path

bounds.MOST_CPU_SECONDS, bounds.MOST_BYTES = 3, 600 << 20
outside = Path(os.environ["OUTSIDE"])

def spin(path):
    while True:
        pass

def fail(path):
    raise kinds.MiddlemarkError("it says why")

readers = {
    "internal error": lambda path: int("x"),
    "hang": spin,
    "file elsewhere": lambda path: outside.write_text("x"),
    "folder elsewhere": lambda path: outside.with_name("folder").mkdir(),
    "folder in an open one": lambda path: os.mkdir("other", dir_fd=os.open(outside.parent, os.O_RDONLY)),
    "program": lambda path: os.system("true"),
    "memory": lambda path: len(b"x" * (700 << 20)),
    "error that is told": fail,
    "file of its own": lambda path: path.with_name("y").write_bytes(b""),
}
for name, read in readers.items():
    kinds.KINDS[name] = kinds.Kind(read, list)
print(json.dumps({name: bounds.finding(name, b"") for name in readers}))
"""


@pytest.mark.timeout(600)
def test_whatever_breaks_a_bound_is_a_finding_and_nothing_else(tmp_path: Path) -> None:
    """In a process of its own, as the hooks of `bounds` stay."""
    environment = os.environ | {"PYTHONPATH": ":".join(filter(None, sys.path)), "OUTSIDE": str(tmp_path / "file")}
    process = subprocess.run(
        [sys.executable, "-c", JUDGED], env=environment, capture_output=True, text=True, check=True, timeout=500
    )
    found = json.loads(process.stdout)
    assert found.pop("error that is told") is None
    assert found.pop("file of its own") is None
    touched = ["touched open", "touched os.mkdir", "touched os.mkdir", "touched os.system"]
    said = ["ValueError", "CPU time", *touched, "MiB"]
    assert [
        (name, each) for (name, each), words in zip(found.items(), said, strict=True) if words not in str(each)
    ] == []


@pytest.mark.timeout(600)
def test_a_process_that_dies_is_a_finding_with_its_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(search, "CORPUS", tmp_path)
    tried = search.try_apart("no-such-kind", "s", 1, 1)
    assert list(tried.findings.values()) == ["the process ended with status 1"]
    assert [path.name for path in search.cases("no-such-kind")] == list(tried.findings)


def test_the_same_seed_makes_the_same_inputs() -> None:
    examples = [b'{"rate": 200}\n- a\n']
    made = [[mutated(examples, ("x",), random.Random(f"{seed} {n}")) for n in range(30)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
