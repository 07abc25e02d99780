"""Every campaign of a test has the fake worker, and ledgers, slots and caches of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.campaign.campaign import run_new
from middlemark.results.progress import Observer
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from staged import own_machine, placed


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_machine(tmp_path, monkeypatch)


@pytest.fixture
def campaign(tmp_path: Path) -> Callable[..., list[TrialRecord]]:
    """Runs a suite's campaign to its end; gives the stored records in their order."""

    def run(text: str, observer: Observer | None = None) -> list[TrialRecord]:
        run_new(tmp_path / "run", placed(text), observer)
        return [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]

    return run
