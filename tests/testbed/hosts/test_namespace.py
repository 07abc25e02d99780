"""What a host in namespaces is set up with: commands for a shell, in which a name is a word and nothing else."""

import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.testbed.hosts.namespace import Holder, PrivateFolders, breaking_with, held_namespaces, setting_up
from middlemark.testbed.processes import ledger
from testbeds import needs_namespaces, until


def test_a_name_is_one_word_of_the_commands_whatever_it_holds(tmp_path: Path) -> None:
    name = f"x; touch {tmp_path}/ran; $(touch {tmp_path}/ran)"
    first = setting_up(name, PrivateFolders(tmp_path, (), ())).splitlines()[0]
    assert shlex.split(first) == ["hostname", name.replace("_", "-")]
    subprocess.run(["sh", "-c", f"hostname() {{ :; }}; {first}"], check=True)
    assert not (tmp_path / "ran").exists()


@needs_namespaces
@pytest.mark.parametrize("script", ["kill -KILL $$", "sh -c 'kill -KILL $$'"], ids=["the holder", "a command"])
def test_a_killed_holder_or_command_broke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with ledger.opened() as entries, held_namespaces("host_0", entries) as holder:
        with pytest.raises(EnvironmentNotReady, match="no such thing") as lacking:
            holder.run("echo no such thing; exit 1")
        assert not isinstance(lacking.value, EnvironmentBroke)
        with pytest.raises(EnvironmentBroke, match="the namespaces of host_0 can't be set up"):
            holder.run(script)


@needs_namespaces
def test_what_fails_because_a_holder_was_killed_broke_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def fails(*gone: Holder) -> None:
        with breaking_with(gone):
            raise EnvironmentNotReady("no probe", remedy="make workers")

    with ledger.opened() as entries, held_namespaces("host_0", entries) as holder:
        with pytest.raises(EnvironmentNotReady, match=r"\Ano probe"):
            fails(holder)
        os.kill(holder.pid, signal.SIGKILL)
        until(lambda: not holder.is_alive)
        with pytest.raises(EnvironmentBroke, match="the namespaces of host_0 are gone: no probe"):
            fails(holder)
