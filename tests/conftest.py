"""What all tests share: what they may remove, how properties are searched, and runs to look at."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from guarding import nothing_else_is_removed, refused_removals  # noqa: F401 - fixtures of all tests
from middlemark.analysis.catalogue import index
from shared_runs import SharedRuns

# Never judged by the clock, as other work may run beside the tests; `--hypothesis-profile=search` looks further.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=3000)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest come first, so that no process is still at one of them when the others have nothing left."""
    items.sort(key=lambda item: "pipeline" not in item.path.parts)


@pytest.fixture(scope="session", autouse=True)
def nothing_survives_a_power_cut() -> Iterator[None]:
    """No test waits for the disk; what is written in which order, `power_cuts` follows."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(scope="session", autouse=True)
def own_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests read of runs is not kept in the user's cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedRuns]:
    """Runs, each of them built and analysed once."""
    shared = SharedRuns(tmp_path_factory.mktemp("shared"))
    yield shared
    assert shared.changed() == [], "a test changed a run that others look at: it needs a copy"
