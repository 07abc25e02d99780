"""What outlives a process lies in a folder that is its user's alone, and nobody else's place is taken."""

import os
import stat
from pathlib import Path

import pytest

from middlemark.errors import EnvironmentNotReady, ExitCode
from middlemark.testbed.processes import ledger
from middlemark.testbed.processes.state import make_private, state_folder

ANOTHER = 54321


def test_a_private_folder_is_closed_to_others_even_where_it_was_open(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    make_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be in another user's place")
@pytest.mark.parametrize("there", ["middlemark/ledgers", "."], ids=["with ledgers", "empty"])
def test_root_with_another_users_folders_is_told_what_to_do_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    (home / there).mkdir(parents=True, exist_ok=True)
    for path in (home, *home.rglob("*")):
        os.chown(path, ANOTHER, -1)
    before = sorted(home.rglob("*"))
    told = r"of the user who runs this \(root\), but of 54321"
    with pytest.raises(EnvironmentNotReady, match=told) as caught, ledger.opened():
        pytest.fail("a ledger of another user was opened")
    assert "sudo -H env -u XDG_STATE_HOME middlemark" in (caught.value.remedy or "")
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    assert sorted(home.rglob("*")) == before


def test_a_user_in_a_folder_that_root_made_is_told_how_to_have_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    own = os.geteuid()
    state_folder().mkdir()
    if own == 0:
        monkeypatch.setattr(os, "geteuid", lambda: ANOTHER)
    else:
        os_owner = own + 1
        monkeypatch.setattr(os, "geteuid", lambda: os_owner)
    with pytest.raises(EnvironmentNotReady, match="not a folder of the user") as caught:
        make_private(state_folder())
    assert f"sudo chown -R {os.geteuid()} {state_folder()}" in (caught.value.remedy or "")
