"""An observer begins with what it is told, or is ended there and then, whatever it observes."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.testbed.processes import child, ledger, procfs
from middlemark.testbed.processes.child import Lifeline, LineProcess, NativeProcess


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


def test_what_an_observer_makes_is_its_users_alone() -> None:
    with ledger.opened() as entries:
        process, _ = child.start("observes", ["sh", "-c", "umask"], entries)
        output, _ = process.communicate()
    assert int(output, 8) == 0o077


def test_an_observer_that_refuses_is_ended_and_says_why() -> None:
    with ledger.opened() as entries:
        observer = NativeProcess(
            "observes", saying('{"event": "refused", "reason": "there is no such interface"}'), entries
        )
        with pytest.raises(EnvironmentNotReady, match="no such interface"):
            observer.begin({})
        assert procfs.identity(observer.pid) is None


@pytest.mark.parametrize(
    "said",
    ["{", "[1]", '{"event": 3}', '{"no": "event"}', "{" + "[" * 5000, '{"event": "ready"', "\\377\\376"],
    ids=["cut off", "a list", "a number", "no event", "deep", "no end", "no text"],
)
def test_what_is_no_event_is_told_and_ends_the_observer(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PATIENCE_S", 5.0)  # behind what is a remark an event may come
    with ledger.opened() as entries:
        observer = NativeProcess("observes", ["sh", "-c", f"read spec; printf '{said}\\n'; exec cat"], entries)
        with pytest.raises(EnvironmentNotReady, match="what observes fails"):
            observer.begin({})
        assert procfs.identity(observer.pid) is None


@pytest.mark.parametrize("limit", ["MOST_SAID_BYTES", "LONGEST_LINE_BYTES"])
def test_an_observer_that_talks_without_end_is_heard_only_so_far(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(child, limit, 1 << 20)
    monkeypatch.setattr(child, "PATIENCE_S", 3.0)  # it does not end by itself
    with ledger.opened() as entries:
        observer = NativeProcess("observes", ["sh", "-c", "read spec; exec cat /dev/zero"], entries)
        with pytest.raises(EnvironmentNotReady, match="what observes fails"):
            observer.begin({})


@pytest.mark.parametrize("limit", ["MOST_SAID_BYTES", "LONGEST_LINE_BYTES"])
def test_of_a_line_without_end_no_more_is_heard_than_of_any(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(child, limit, 1 << 20)
    with ledger.opened() as entries:
        observer = LineProcess("observes", ["cat", "/dev/zero"], entries)
        room_bytes = observer._left_bytes
        assert len(observer.line() or "") == child.LONGEST_REMARK
        assert room_bytes - observer._left_bytes < 2 << 20
        monkeypatch.setattr(child, "PATIENCE_S", 0.1)  # it does not end by itself
        observer.end()


def test_an_event_without_what_it_should_say_is_told() -> None:
    with ledger.opened() as entries:
        observer = NativeProcess("observes", saying('{"event": "ready"}'), entries)
        observer.tell({})
        with pytest.raises(EnvironmentNotReady, match="something else"), observer.understood():
            assert observer.hear("ready")["address"]
        observer.end()


def test_what_a_lifeline_says_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "ENDING_S", 0.3)
    before = psutil.Process().memory_info().rss
    with ledger.opened() as entries:
        lifeline = Lifeline("is held open", ["sh", "-c", "read line; echo; exec cat /dev/zero"], entries, "none")
        lifeline.end()
        assert not lifeline.is_alive
    assert psutil.Process().memory_info().rss - before < 64 << 20


@pytest.mark.parametrize(
    "ending", ["kill -KILL $$", "exit 137", "sh -c 'kill -KILL $$'"], ids=["it", "inside", "below"]
)
def test_a_killed_observer_broke_and_is_not_taken_for_one_that_this_machine_lacks(ending: str) -> None:
    with ledger.opened() as entries:
        observer = NativeProcess("observes", ["sh", "-c", f"read spec; {ending}"], entries)
        with pytest.raises(EnvironmentBroke, match="what observes fails"):
            observer.begin({})
        with pytest.raises(EnvironmentBroke, match="does not start"):
            Lifeline("is held open", ["sh", "-c", f"read line; {ending}"], entries, "none")


@pytest.mark.parametrize("ending", ["echo no such thing; exit 1", "exec nonesuch"])
def test_an_observer_that_can_not_run_is_lacking_and_did_not_break(ending: str) -> None:
    with ledger.opened() as entries:
        observer = NativeProcess("observes", ["sh", "-c", f"read spec; {ending}"], entries)
        with pytest.raises(EnvironmentNotReady, match="what observes fails") as lacking:
            observer.begin({})
        assert not isinstance(lacking.value, EnvironmentBroke)
