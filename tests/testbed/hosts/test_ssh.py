"""A machine reached by SSH is a host like any other: commands, copies, folders; and nothing is left on it."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from middlemark.analysis.metrics.resources import resource_values
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.errors import EnvironmentBroke, EnvironmentNotReady
from middlemark.plan import Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.suite.metrics import Key, host_subject, process_subject
from middlemark.testbed.hosts import clock_sync, ssh
from middlemark.testbed.hosts.host import ALONE, Attachment
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.processes import abandoned, child, ledger, procfs, remote
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.remote import RemoteFolder
from middlemark.worker import executables
from ssh_server import DEADLINE_S, made, nothing_is_left, serving, sshd, started
from testbeds import HEARS_LINES, answers_each_line_and_ends_as_it_said

pytestmark = [
    pytest.mark.skipif(sshd() is None, reason="there is no sshd: apt-get install openssh-server"),
    pytest.mark.skipif(os.geteuid() != 0, reason="sshd separates privileges as root only"),
]


AHEAD_S = 3600


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("sshd"), ["--mount"]) as target:
        yield target


@pytest.fixture
def another_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server with temporary files and a clock of its own, as another machine has."""
    folder = tmp_path_factory.mktemp("another")
    monkeypatch.setenv(remote.CONFIGURATION_VARIABLE, str(folder / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    apart = ["--mount", "--time", "--monotonic", str(AHEAD_S), "--fork", "--kill-child"]
    with serving(folder, apart, "mount -t tmpfs tmpfs /tmp && mount -t tmpfs tmpfs /dev/shm") as target:
        yield target
        nothing_is_left(folder / "state")


@pytest.fixture
def entries(
    server: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Ledger]:
    settings = next(tmp_path_factory.getbasetemp().glob("sshd*/config"))
    monkeypatch.setenv(remote.CONFIGURATION_VARIABLE, str(settings))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with ledger.opened() as opened:
        yield opened
    nothing_is_left(tmp_path / "state")
    assert list(temporary.iterdir()) == []
    assert not remote.control_path(server).exists()


@pytest.fixture
def host(server: str, entries: Ledger) -> SshHost:
    return made(server, entries)


def test_lines_go_both_ways_as_they_come_and_the_exit_status_is_passed(host: SshHost) -> None:
    with started(host, "sh", "-c", HEARS_LINES) as process:
        answers_each_line_and_ends_as_it_said(process)


def test_words_arrive_as_they_are(host: SshHost) -> None:
    words = ["a b", "$HOME", "it's", '"', "`id`", "*", "", "ü\n"]
    with started(host, "printf", "%s|", *words) as process:
        said, _ = process.communicate(timeout=DEADLINE_S)
    assert said == "".join(f"{word}|" for word in words)


def test_a_program_has_the_clients_mark_and_makes_files_for_its_user_alone(host: SshHost) -> None:
    script = f"printenv {procfs.MARK_VARIABLE} {remote.REMOTE_VARIABLE}; umask"
    with started(host, "sh", "-c", script, mark="a1b2") as process:
        said, _ = process.communicate(timeout=DEADLINE_S)
    assert said.split() == ["a1b2", str(host.connection.folder.path), "0077"]


def test_without_an_address_it_has_the_one_that_the_client_reached(host: SshHost) -> None:
    assert [(each.network, each.address, each.interface) for each in host.attachments] == [("lan", "127.0.0.1", "lo")]


def test_this_machine_is_beside_it_by_the_address_that_it_sees(host: SshHost) -> None:
    here = ssh.attachments_here(["lan", "elsewhere"], [host])
    assert here == (Attachment("lan", "127.0.0.1", "lo"),)
    assert ssh.attachments_here(["elsewhere"], [host]) == (ALONE,)


def test_an_address_that_is_translated_on_the_way_is_refused(host: SshHost) -> None:
    behind = replace(host, client_address="192.0.2.9")
    with pytest.raises(EnvironmentNotReady, match=r"this machine has no interface with the address 192\.0\.2\.9"):
        ssh.attachments_here(["lan"], [behind])


def test_executables_are_copied_with_their_own_libraries_and_run_from_the_copy(
    server: str, entries: Ledger, tmp_path: Path
) -> None:
    worker = tmp_path / "middlemark-worker-own"
    worker.write_text('#!/bin/sh\necho "$0"; cat "$0.lib/own"')
    worker.chmod(0o755)
    (tmp_path / "middlemark-worker-own.lib").mkdir()
    (tmp_path / "middlemark-worker-own.lib/own").write_text("bundled\n")
    host = made(server, entries, worker)
    with started(host, str(worker)) as process:
        said, _ = process.communicate(timeout=DEADLINE_S)
    assert said == f"{host.connection.folder.path}/{worker.name}\nbundled\n"
    assert host.connection.folder.path != tmp_path


def test_what_arrives_as_something_else_is_refused(
    server: str, entries: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker"
    worker.write_text("#!/bin/sh\n")
    monkeypatch.setattr(ssh, "file_hash", lambda *_: "0" * 64)
    with pytest.raises(EnvironmentNotReady, match="was changed on its way to"):
        made(server, entries, worker)


def test_a_folder_is_made_there_collected_here_and_removed(host: SshHost, entries: Ledger, tmp_path: Path) -> None:
    folder, mark = host.create_folder("mm00bbbbbbbbbb", entries)
    with started(host, "sh", "-c", f"echo there > {folder}/a.received.npy") as process:
        process.wait(DEADLINE_S)
    assert (host.collect(folder, tmp_path / "collected") / "a.received.npy").read_text() == "there\n"
    entries.remove(mark)
    assert not folder.exists()


def test_what_the_remote_shell_refuses_is_said_with_the_host(host: SshHost) -> None:
    with pytest.raises(EnvironmentNotReady, match=r"on root@127.0.0.1:\d+: .*no/folder"):
        host.connection.run("mkdir /no/folder")


def test_a_host_that_is_not_there_is_named_with_a_remedy(entries: Ledger) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(EnvironmentNotReady, match=f"the connection to nobody@127.0.0.1:{port} does not start"):
        made(f"nobody@127.0.0.1:{port}", entries)


def test_after_kill_9_a_sweep_ends_what_runs_there_and_removes_the_folders(server: str, entries: Ledger) -> None:
    program = f"""
import os, signal, subprocess
from middlemark.plan.topology.network import Host
from middlemark.testbed.hosts.ssh import ssh_host
from middlemark.testbed.processes import abandoned, ledger
with ledger.opened() as entries:
    host = ssh_host(Host(name="far", kind="ssh", ssh={server!r}), ["lan"], [], entries)
    stuck = "trap '' HUP TERM; echo $$; exec sleep 600"  # it does not look at its standard input
    child = subprocess.Popen(host.command(["sh", "-c", stuck]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {{"MIDDLEMARK_MARK": entries.enter("process", "stuck")}})
    print(child.stdout.readline().strip(), host.connection.folder.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    pid, folder = killed.stdout.split()
    entries.enter("process", "so that this test's own ledger is not swept")
    removed = abandoned.sweep()
    assert ("remote_folder", f"{server}:{folder}") in {(each.kind, each.what) for each in removed}
    assert [each.problem for each in removed if each.problem] == []
    assert not Path(folder).exists()
    assert procfs.identity(int(pid)) is None


@pytest.mark.usefixtures("entries")
def test_what_cannot_be_reached_is_reported_and_not_forgotten(tmp_path: Path, server: str) -> None:
    folder = tmp_path / "mm-00000000000a"
    folder.mkdir()
    gone = f"nobody@127.0.0.1:1:{folder}"
    left = tmp_path / "state/middlemark/ledgers/1-abandoned.jsonl"
    entry = {"op": "create", "mark": "a", "kind": "remote_folder", "what": gone}
    left.write_text(json.dumps(entry) + "\n")
    for _ in range(2):
        (kept,) = abandoned.sweep()
        assert kept.what == gone
        assert kept.problem is not None
        assert "Connection refused" in kept.problem
    left.write_text(json.dumps(entry | {"what": str(RemoteFolder(server, folder))}) + "\n")
    assert [each.problem for each in abandoned.sweep()] == [None]
    assert not folder.exists()
    assert not left.exists()


def test_the_clock_of_a_host_with_this_machines_clock_is_found_to_be_the_same(server: str, entries: Ledger) -> None:
    try:
        probe = child.executable("probe")
    except EnvironmentNotReady as missing:
        pytest.skip(missing.missing)
    found = clock_sync.measured_offset(made(server, entries, probe), probe, entries)
    assert found.low_ns <= 0 <= found.high_ns
    assert found.bound_ns < 10_000_000


@pytest.mark.worker
@pytest.mark.skipif("udp" not in executables.workers(), reason="the worker `udp` is not built")
def test_a_trial_between_this_machine_and_another_is_measured_on_one_clock(
    another_machine: str, tmp_path: Path
) -> None:
    text = f"""
suite: apart
trials: 1
middlewares: udp
workloads: imu
observe: resources
topologies:
  - topology: two_machines
    hosts: [{{name: here, kind: local}}, {{name: there, kind: ssh, ssh: "{another_machine}"}}]
    applications:
      - {{name: publisher_0, host: here, roles: [publisher]}}
      - {{name: subscriber_0, host: there, roles: [subscriber]}}
windows: {{warm_up: 50 ms, window: 300 ms, drain: 1 s}}
disturbance: {{steal: 100 %}}
"""
    suite = LoadedSuite(file="apart.yaml", text=text, suite=parse_suite(text, file="apart.yaml"))
    run_new(tmp_path / "run", order.order_suite(suite, [], None))
    records = [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]
    assert [record.outcome for record in records] == [Valid()] * 2
    for record in records:
        assert record.clocks["there"].bound_ns > 0
        assert abs(record.clocks["there"].offset_ns - AHEAD_S * 1_000_000_000) <= record.clocks["there"].bound_ns
        assert "clock_offset" in {caution.kind for caution in record.warnings}
        assert [(each.host, each.to, each.when) for each in record.links] == [
            ("here", "there", "before"),
            ("here", "there", "after"),
        ]
        for each in record.links:
            told = ("round_trip_median_ns", "outgoing_rate_bits_per_s", "incoming_rate_bits_per_s", "incoming_frames")
            assert all(each.figures[name] for name in told)
    for folder, record in zip(RunFolder(tmp_path / "run").stored_trials(), records, strict=True):
        if record.trial.observation is not None:
            is_seen_on_both_machines(record, folder.read_processes(), folder.read_machine())


def is_seen_on_both_machines(record: TrialRecord, processes: pl.DataFrame, machine: pl.DataFrame) -> None:
    """On this machine's clock, and with nothing left out."""
    assert record.window is not None
    assert not [what for what in record.unavailable if what.startswith("resources")]
    assert set(machine["host"]) == {None, "there"}
    for name in ("publisher_0", "subscriber_0"):
        values = resource_values(record, processes.filter(process=name), machine)
        assert Key(process_subject(name), "unique_bytes") in values
    assert Key(host_subject("there"), "observer_cpu_percent_of_core") in values


def test_a_shell_that_prints_by_itself_is_told_as_such(
    entries: Ledger, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_script = remote.run_script
    monkeypatch.setattr(remote, "run_script", lambda *asked: f"Welcome!\n{run_script(*asked)}")
    with pytest.raises(EnvironmentNotReady, match="prints by itself: 'Welcome!'") as caught:
        made(server, entries)
    assert "bashrc" in (caught.value.remedy or "")


def test_the_sockets_of_connections_are_in_a_folder_of_this_user_alone(host: SshHost) -> None:
    socket = remote.control_path(host.connection.target)
    assert socket.is_socket()
    assert socket.parent.stat().st_mode & 0o777 == 0o700
    assert socket.parent.stat().st_uid == os.geteuid()


def test_a_target_is_never_an_option_of_the_client() -> None:
    for target in ("-oProxyCommand=true", "host"):
        *_, separator, address = remote.client(target)
        assert (separator, address) == ("--", target)


def test_what_a_machine_sends_in_place_of_samples_is_refused(host: SshHost, entries: Ledger, tmp_path: Path) -> None:
    folder, _ = host.create_folder("mm00aaaaaaaaaa", entries)
    host.connection.run(f"ln -s /etc/passwd {folder}/publisher_0.published.npy")
    with pytest.raises(EnvironmentBroke, match="no regular file"):
        host.collect(folder, tmp_path / "collected")
    assert list((tmp_path / "collected").iterdir()) == []
