"""The guard of what is removed, for each test and for the Python programs that it starts; whatever is refused fails it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import removals


@pytest.fixture(scope="session", autouse=True)
def refused_removals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that gets a line for each refusal, wherever it was."""
    refused = tmp_path_factory.mktemp("removals") / "refused"
    removals.guard()
    with pytest.MonkeyPatch.context() as patched:
        places = [*removals.places(), str(tmp_path_factory.getbasetemp())]
        patched.setenv(removals.PLACES_VARIABLE, os.pathsep.join(places))
        patched.setenv(removals.REFUSED_VARIABLE, str(refused))
        patched.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
        yield refused
    removals.release()  # what pytest itself keeps in the checkout is its own


@pytest.fixture(autouse=True)
def nothing_else_is_removed(refused_removals: Path) -> Iterator[None]:
    """A refusal that a program, a thread or a handler of errors has kept to itself is told too."""
    yield
    if refused_removals.exists():
        told = refused_removals.read_text(encoding="utf-8")
        refused_removals.unlink()
        pytest.fail(told, pytrace=False)
