"""Runs a campaign as root in places of its own, and says what another user could read or write of it meanwhile.

`watched.py HOW SUITE`, in mounts where the shared places are empty: all that lies there is then the campaign's. `HOW`
is where it is measured: `here`, by a `fleet` of one test-bed, or `apart`, with a machine that is reached by SSH; or
`shown`, which is here and then exported, reported and served.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from command_line import middlemark
from fleets import fleet
from middlemark.campaign import order
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet.front import connected
from middlemark.report.output.formats import ExportFormat
from middlemark.results.progress import Event, StepReached
from middlemark.results.run_folder import RunFolder
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from middlemark.suite import LoadedSuite, parse_suite
from middlemark.testbed.processes.procfs import MARK_VARIABLE
from serve_client import Client
from ssh_server import serving
from staged import marked_processes

NOBODY = 65534
EMPTY = ("/dev/shm", "/tmp", "/var/tmp")  # noqa: S108 - where processes meet; these are the campaign's own
PLACES = (*EMPTY, "/run", "/dev/mqueue")
STATE, BEDS, FAR, CACHE = (Path("/var/tmp", name) for name in ("state", "beds", "far", "cache"))  # noqa: S108
"""Made by the test: for ledgers, for test-beds, for temporary files of the machine that SSH reaches, for caches."""
KEPT = CACHE / "middlemark"
OPEN = (*map(Path, EMPTY), STATE, FAR, BEDS / "tmp-bed", BEDS / "state-bed", CACHE, KEPT, KEPT / "runs")
"""Folders that all may read; what lies in them has to be closed by itself."""
EVERY_S = 0.1


def held(pid: int) -> Iterator[Path]:
    """The files and sockets that a process has open or mapped."""
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


def there_now() -> set[Path]:
    """What the campaign has in places to which all users come: what lies there, and what its processes hold."""
    lying = {path for place in OPEN if place.is_dir() for path in place.iterdir()} - {*OPEN, BEDS}
    lying -= set(KEPT.glob("vega-*.js"))  # the script that draws charts, the same for everybody
    holding = {path for pid in marked_processes() for path in held(pid) if str(path).startswith(PLACES)}
    return {path for path in lying | holding if os.path.lexists(path)}


def masks() -> set[str]:
    """With which masks the campaign's workers make files."""
    ledgers = "".join(path.read_text() for place in OPEN for path in place.glob("middlemark/ledgers/*"))
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            status = (folder / "status").read_text()
        except OSError:  # it ended
            continue
        marks = [value for name, _, value in (each.partition("=") for each in variables) if name == MARK_VARIABLE]
        if status.startswith("Name:\tmiddlemark-work") and any(mark and mark in ledgers for mark in marks):
            found |= {line.split()[1] for line in status.splitlines() if line.startswith("Umask:")}
    return found


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
    """Looks at all that there is of a campaign, whenever a trial measures or is stored."""

    def __init__(self) -> None:
        self.found, self.seen, self.masks = dict[str, list[str]](), set[str](), set[str]()

    def observe(self, event: Event) -> None:
        if isinstance(event, StepReached) and event.step in {"measuring", "storing"}:
            self.look()

    def look(self) -> None:
        paths = there_now()
        self.seen |= {str(path) for path in paths}
        self.masks |= masks()
        for word, names in open_to_others(paths).items():
            self.found[word] = sorted({*self.found.get(word, ()), *names})

    @contextmanager
    def again_and_again(self) -> Iterator[None]:
        """Where no step of a trial is told."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(EVERY_S):
                self.look()

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def watched(how: str, text: str) -> dict[str, object]:
    looks, run = Looks(), Path("/var/tmp/run")  # noqa: S108
    with ExitStack() as stack:
        if how == "apart":
            text = text.replace("TARGET", stack.enter_context(far_machine()))
        suite = order.order_suite(
            LoadedSuite(file="x.yaml", text=text, suite=parse_suite(text, file="x.yaml")), [], None
        )
        if how == "fleet":
            BEDS.mkdir()
            os.environ["DASK_TEMPORARY_DIRECTORY"] = str(BEDS)  # of the scheduler, which is its owner's
            beds = stack.enter_context(fleet(BEDS, "bed"))
            stack.enter_context(looks.again_and_again())
            run_new(run, suite, None, lambda folder: connected(beds.address, folder, None))
        else:
            run_new(run, suite, looks)
            if how == "shown":
                show(run)
    looks.look()
    outcomes = [each.read_record().outcome.kind for each in RunFolder(run).stored_trials()]
    return {"outcomes": outcomes, "seen": sorted(looks.seen), "masks": sorted(looks.masks), "open": looks.found}


def show(run: Path) -> None:
    """Everything that commands make of a run, where they put it by themselves."""
    for words in (["report"], *(["export", "--format", form] for form in ExportFormat)):
        assert middlemark(*words, run).returncode == 0
    pages = Client(site([run.parent], Admission()))
    for path in ("/", "/history", "/runs/0/report"):
        assert pages.get(path).status_code == 200


@contextmanager
def far_machine() -> Iterator[str]:
    """A server of SSH with a temporary folder of its own; gives its target."""
    keys = Path(tempfile.mkdtemp(dir="/var/tmp"))
    FAR.mkdir()
    os.environ["MIDDLEMARK_SSH_CONFIG"] = str(keys / "config")
    with serving(keys, ["--mount"], f"mount --bind {FAR} /tmp") as target:
        yield target


if __name__ == "__main__":
    os.umask(0o022)  # as root has it
    os.environ |= {"XDG_STATE_HOME": str(STATE), "XDG_CACHE_HOME": str(CACHE)}
    STATE.mkdir()
    CACHE.mkdir()
    print(json.dumps(watched(*sys.argv[1:])))
