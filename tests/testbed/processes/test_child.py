"""An observer begins with what it is told, or is ended there and then, whatever it observes."""

from __future__ import annotations

from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes import ledger, procfs
from middlemark.testbed.processes.child import NativeProcess


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def saying(event: str) -> list[str]:
    """Says an event to its first line, and then lives for as long as its standard input does."""
    return ["sh", "-c", f"read spec; echo '{event}'; cat > /dev/null"]


def test_an_observer_that_is_ready_goes_on() -> None:
    with ledger.opened() as entries:
        observer = NativeProcess("observes", saying('{"event": "ready"}'), entries)
        observer.begin({})
        assert procfs.identity(observer.pid) is not None
        observer.end()


def test_an_observer_that_refuses_is_ended_and_says_why() -> None:
    with ledger.opened() as entries:
        observer = NativeProcess(
            "observes", saying('{"event": "refused", "reason": "there is no such interface"}'), entries
        )
        with pytest.raises(EnvironmentNotReady, match="no such interface"):
            observer.begin({})
        assert procfs.identity(observer.pid) is None
