"""What a campaign could leave on a machine, of those whose names are drawn with a mark and whose ledgers are in a place."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

PLACES = (Path("/dev/shm"), Path("/run"), Path("/tmp"))  # noqa: S108 - they are looked at


def left_of(environment: Mapping[str, str], mark: str) -> dict[str, list[str]]:
    """By kind, all that is there; namespaces and their links live as long as their processes and mounts."""
    own = re.compile(rf"mm\d\d{mark}|middlemark-awake-{mark}|middlemark-{mark}|mm-{mark}|{environment['TMPDIR']}")
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    places = [path for place in PLACES for path in place.iterdir()]
    own_temporary = Path(environment["TMPDIR"])
    found = {
        "processes": sorted(processes_of(environment["XDG_STATE_HOME"])),
        "mounts": [mount for mount in mounts if own.search(mount)],
        "files": sorted(str(path) for path in places if own.search(path.name) and path != own_temporary),
        "temporary files": sorted(path.name for path in own_temporary.iterdir()),
        "cgroups": [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if own.search(folder)],
    }
    return {kind: left for kind, left in found.items() if left}


def processes_of(state: str) -> Iterator[str]:
    """What runs with these ledgers, but for this process."""
    wanted = f"XDG_STATE_HOME={state}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0") and process.name != str(os.getpid()):
                yield f"{process.name} {(process / 'cmdline').read_bytes().replace(bytes(1), b' ').decode(errors='replace')}"
        except OSError:
            continue
