"""What is in a control group ends with it, whatever it did to its environment, and no more than it may have is born."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from middlemark.plan.topology.network import Host
from middlemark.suite import HostKind
from middlemark.testbed.hosts import limits
from middlemark.testbed.hosts.limits import limited
from middlemark.testbed.processes import abandoned, cgroup, ledger, procfs
from middlemark.testbed.processes.cgroup import Hierarchy

HIDING = "setsid env -i sh -c 'echo $$; exec sleep 600' & wait"
HOST = Host(name="ecu", kind=HostKind.LOCAL)
beside = next((place for place in cgroup._around_this_process() if cgroup._can_be_made(place)), None)

needs_groups = pytest.mark.skipif(cgroup.gathering() is None, reason="needs a control group that can be made")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@contextmanager
def hidden(prefix: tuple[str, ...]) -> Iterator[procfs.Identity]:
    """A process in the prefix's groups that nothing marks."""
    with subprocess.Popen([*prefix, "sh", "-c", HIDING], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        found = procfs.identity(int(shell.stdout.readline()))
        assert found is not None
        yield found


@needs_groups
@pytest.mark.parametrize("version", [1, 2])
def test_who_hides_from_the_mark_ends_with_the_host(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    place = beside if version == 2 else cgroup.gathering()
    if place is None or place.version != version:
        pytest.skip(f"no such group of version {version} here")
    monkeypatch.setattr(cgroup, "gathering", lambda: place)
    with ExitStack() as stack, ledger.opened() as entries:
        with limited(HOST, f"mm{version}0aaaaaaaaaa", entries) as prefix:
            child = stack.enter_context(hidden(prefix))
            assert procfs.is_alive(child)
        assert not procfs.is_alive(child)


@needs_groups
def test_a_sweep_ends_who_hid_when_the_owner_was_killed(tmp_path: Path) -> None:
    place = cgroup.gathering()
    assert place is not None
    group = place.top / "mm00aaaaaaaaaa-swept"
    script = (
        "import os, sys; from middlemark.testbed.processes import abandoned, ledger\n"
        f"with ledger.opened() as entries: entries.enter('cgroup', {str(group)!r}); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, check=False)
    cgroup.create_group(group, place, "pids", limits.settings(HOST, "pids", place))
    with hidden(cgroup.joining_group([group])) as child:
        assert [each.kind for each in abandoned.sweep()] == ["cgroup"]
        assert not procfs.is_alive(child)
    assert not group.exists()


def test_the_kernel_ends_a_group_at_once_where_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a made-up tree, where nothing but what is written to it tells who was to end the members."""
    monkeypatch.setattr(cgroup, "PATIENCE_S", 0.05)
    with subprocess.Popen(["sleep", "600"]) as member:
        try:
            (tmp_path / cgroup.MEMBERS).write_text(f"{member.pid}\n")
            (tmp_path / cgroup.KILL).write_text("")
            cgroup.remove_group(tmp_path)
            assert ((tmp_path / cgroup.KILL).read_text(), member.poll()) == ("1", None)
            (tmp_path / cgroup.KILL).unlink()
            cgroup.remove_group(tmp_path)
            assert (tmp_path / cgroup.MOST_MEMBERS).read_text() == "0"
            member.wait(timeout=10)  # its status is with whoever waited first; one that lives on ends the test here
        finally:
            member.kill()


@needs_groups
def test_no_more_processes_are_born_than_a_host_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    place = cgroup.gathering()
    if place is None or place.version != 1:
        pytest.skip("only groups of version 1 count processes here")
    monkeypatch.setattr(limits, "MOST_PROCESSES", 20)
    with ledger.opened() as entries, limited(HOST, "mm00cccccccccc", entries) as prefix:
        script = "for n in $(seq 100); do sleep 600 & done 2> /dev/null; wait"
        with subprocess.Popen([*prefix, "sh", "-c", script], stderr=subprocess.DEVNULL) as shell:
            members = place.top / "mm00cccccccccc-ecu" / "pids.current"
            while shell.poll() is None and int(members.read_text()) < 20:
                pass
            assert int(members.read_text()) <= 20
            shell.kill()


@pytest.mark.parametrize(
    ("enabled", "found"),
    [
        ({"": "cpu pids", "user": "memory pids", "user/own": ""}, [("user", True), ("user/own", False)]),
        ({"": "cpu pids", "user": "cpu pids", "user/own": ""}, [("user/own", False)]),
        ({"": "pids", "user": "", "user/own": ""}, [("", True), ("user/own", False)]),
        ({"": "", "user": "", "user/own": ""}, [("", True), ("user/own", False)]),
    ],
    ids=["a slice counts", "all allot CPU time", "the outermost counts", "the outermost can count"],
)
def test_a_group_of_version_2_counts_where_it_can_and_has_no_share_of_its_own(
    tmp_path: Path, enabled: dict[str, str], found: list[tuple[str, bool]]
) -> None:
    for group, controllers in enabled.items():
        (tmp_path / group).mkdir(exist_ok=True)
        (tmp_path / group / "cgroup.controllers").write_text("cpu memory pids\n")
        (tmp_path / group / "cgroup.subtree_control").write_text(f"{controllers}\n")
        if group:
            (tmp_path / group / "cgroup.type").write_text("domain\n")
    places = list(cgroup._around_this_process(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n", "0::/user/own\n"))
    assert [(place.top, cgroup.counts_members(place)) for place in places] == [
        (tmp_path / group, counted) for group, counted in found
    ]
    for place in places:
        limit = {cgroup.MOST_MEMBERS: str(limits.MOST_PROCESSES)} if cgroup.counts_members(place) else {}
        assert limits.settings(HOST, "pids", place) == limit


def test_a_host_with_limits_of_version_2_has_one_of_processes_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu pids\n")
    place = Hierarchy(tmp_path, 2)
    monkeypatch.setattr(cgroup, "hierarchies", lambda: {"cpu": place, "pids": place})
    with ledger.opened() as entries:
        marked = limited(Host(name="ecu", kind=HostKind.LOCAL, cpu_quota=0.5), "mm00dddddddddd", entries)
        monkeypatch.setattr(entries, "enter", lambda _kind, _what: "unlisted")
        with marked:
            group = tmp_path / "mm00dddddddddd-ecu"
            assert (group / cgroup.MOST_MEMBERS).read_text() == str(limits.MOST_PROCESSES)
            assert (group / "cpu.max").exists()


@pytest.mark.parametrize(
    ("place", "said", "is_ready"),
    [
        (None, "by their mark only, however many", False),
        (Hierarchy(Path("/nowhere"), 1), "by control group (v1), at most 16384", True),
        (Hierarchy(Path("/nowhere"), 2), "by control group (v2), however many", True),
    ],
)
def test_doctor_says_whether_processes_are_gathered_and_counted(
    monkeypatch: pytest.MonkeyPatch, place: Hierarchy | None, said: str, is_ready: object
) -> None:
    monkeypatch.setattr(cgroup, "gathering", lambda: place)
    if place is not None and place.version == 2:
        monkeypatch.setattr(cgroup, "counts_members", lambda _: False)
    fact = limits.gathering_fact()
    assert (fact.value, fact.ready) == (said, is_ready)
