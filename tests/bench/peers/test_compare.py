"""What a peer is given and started with is in the ledger, so that a sweep removes it after a kill."""

import os

import compare
import processes
from middlemark.testbed.processes import ledger
from peer import Command


def test_a_peer_and_its_memory_are_in_the_ledger_as_long_as_they_are_there() -> None:
    with ledger.opened() as entries:
        folder = compare.memory_folder(entries)
        command = Command(("sleep", "60"), (min(os.sched_getaffinity(0)),))
        with processes.peer_process(command, folder / "0.log", entries) as process:
            (folder.parent / f"{folder.name}-of-a-library").touch()
            memory, peer = ledger.read(entries.path)
        assert process.returncode is not None
        assert [left.kind for left in ledger.read(entries.path)] == ["shared_memory"]
    assert (memory.kind, memory.what) == ("shared_memory", folder.name)
    assert (peer.kind, peer.what) == ("process", "sleep")
    assert peer.process is not None
    assert peer.process.pid == process.pid
    assert not list(folder.parent.glob(f"{folder.name}*"))
