"""Another user of the machine writes nothing of a campaign of root, and reads nothing that tells what is measured."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.results.progress import Event, StepReached
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.worker import executables
from staged import marked_processes

NOBODY = 65534
PLACES = ("/dev/shm", "/tmp", "/var/tmp", "/run", "/dev/mqueue")  # noqa: S108 - where processes meet
MIDDLEWARES = ("uds", "shm", "zenoh", "fastdds", "cyclonedds", "iceoryx2", "vsomeip", "mqtt")
SUITE = """
suite: watched
trials: 1
middlewares: {middleware}
workloads: [{{workload: imu, rate: 100 Hz}}]
topologies: C1-1
{observed}
windows: {{first_message: 60 s, warm_up: 50 ms, window: 300 ms, drain: 100 ms}}
disturbance: {{steal: 100 %, repeats: 0}}
"""

pytestmark = [
    pytest.mark.worker,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user as well"),
]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place that all users reach, as those of campaigns may be."""
    with tempfile.TemporaryDirectory(prefix="mmo", dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("XDG_STATE_HOME", f"{folder}/state")
        yield Path(folder)


def held(pid: int) -> Iterator[Path]:
    """The files and sockets that a process has open or mapped where others come too."""
    sockets = set()
    try:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            sockets.add(target.removeprefix("socket:[").removesuffix("]"))
            yield Path(target)
        yield from (Path(line.split(maxsplit=5)[5]) for line in _lines(f"/proc/{pid}/maps") if line.count("/") > 1)
    except OSError:  # it ended
        return
    for line in _lines("/proc/net/unix"):
        fields = line.split()
        if len(fields) == 8 and fields[6] in sockets:
            yield Path(fields[7])


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def open_to_others(paths: set[Path]) -> dict[str, list[str]]:
    """What user nobody can read or write of these and of what lies below them, asked as that user."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            found = {
                word: sorted({str(each) for path in paths for each in below(path) if os.access(each, mode)})
                for word, mode in {"readable": os.R_OK, "writable": os.W_OK}.items()
            }
            os.write(writer, json.dumps(found).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        found = json.loads(said.read())
    os.wait()
    return {word: each for word, each in found.items() if each}


def below(path: Path) -> Iterator[Path]:
    yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in ("", *names))


class Looks:
    """Looks at all that there is of a campaign while its trials measure."""

    def __init__(self, public: Path) -> None:
        self.public, self.found, self.looked = public, dict[str, list[str]](), 0

    def observe(self, event: Event) -> None:
        if isinstance(event, StepReached) and event.step in {"measuring", "storing"}:
            files = {path for pid in marked_processes() for path in held(pid) if str(path).startswith(PLACES)}
            self.looked += len(files)
            self.look({path for path in files if path.exists()})

    def look(self, files: set[Path]) -> None:
        for word, paths in open_to_others(files | {*self.public.glob("run*/*"), *self.public.glob("state/*")}).items():
            self.found[word] = sorted({*self.found.get(word, ()), *paths})


@pytest.mark.parametrize("middleware", [name for name in MIDDLEWARES if name in executables.workers()])
def test_nobody_else_reads_or_writes_what_a_campaign_of_root_makes(public: Path, middleware: str) -> None:
    text = SUITE.format(middleware=middleware, observed="observe: resources" if middleware == "uds" else "")
    looks = Looks(public)
    run_new(
        public / "run",
        order.order_suite(LoadedSuite(file="x.yaml", text=text, suite=parse_suite(text, file="x.yaml")), [], None),
        looks,
    )
    assert [each.read_record().outcome.kind for each in RunFolder(public / "run").stored_trials()][:1] != ["failed"]
    assert looks.looked
    looks.look(set())
    assert looks.found == {}, json.dumps(looks.found, indent=1)
