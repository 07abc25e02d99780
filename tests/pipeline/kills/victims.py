"""What a campaign has running that can be killed, by what its ledger says that it does."""

import os
from pathlib import Path

from middlemark.testbed.processes import ledger, procfs
from middlemark.testbed.processes.entry import Entry
from middlemark.testbed.processes.podman import _processes_of
from middlemark.testbed.processes.remote import REMOTE_VARIABLE


def victims_of(front: int) -> list[tuple[str, procfs.Identity]]:
    """All but the front itself."""
    ledgers = Path(os.environ["XDG_STATE_HOME"], "middlemark", "ledgers")
    entries = [entry for path in ledgers.glob(f"{front}-*.jsonl") for entry in ledger.read(path)]
    own = [entry for entry in entries if entry.kind == "process"]
    running = procfs.marked(entry.mark for entry in own)
    victims = [(entry.what, process) for entry in own for process in running[entry.mark]]
    for entry in entries:
        victims += [(f"{entry.kind} of another", each) for each in _of_folder(entry)]
    return [(what, process) for what, process in victims if process.pid != front]


def _of_folder(entry: Entry) -> list[procfs.Identity]:
    """What runs for containers or for a folder on another machine, which has no mark of the ledger's."""
    if entry.kind == "containers":
        return _processes_of(Path(entry.what))
    if entry.kind != "remote_folder":
        return []
    wanted, found = f"{REMOTE_VARIABLE}=/{entry.what.rpartition(':/')[2]}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(procfs.identity(int(process.name)))
        except OSError:
            continue
    return [each for each in found if each is not None]


def kind_of(what: str) -> str:
    """Processes of one kind have one chance together, however many there are."""
    words = what.split()
    return words[1] if words[0].startswith("middlemark-worker-") else " ".join(words[:2])
