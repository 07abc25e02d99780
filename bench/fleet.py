"""What a fleet costs its front: time and memory as trials and test-beds grow, with test-beds that take no time.

    PYTHONPATH=src:tests/support:tests/support/runs python bench/fleet.py [TESTBEDS [TRIALS …]]

Front, parcels and the run folder are the real ones; the scheduler is a stand-in that has a block's parcel at once, of
trials that hold a record and nothing else, and tells the end of one block at a time. What Dask itself adds to a block,
`tests/campaign/fleet` shows with a real scheduler. Each number of trials is simulated in a process of its own, and a
line of the table in Markdown.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import resource
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

from middlemark.campaign.fleet import front as front_module
from middlemark.campaign.fleet import roster as roster_module
from middlemark.campaign.fleet import testbed
from middlemark.campaign.fleet.front import Front
from middlemark.campaign.fleet.measurement import FleetMeasurement
from middlemark.campaign.fleet.parcel import PIECE_BYTES, Parcel
from middlemark.campaign.fleet.roster import Roster
from middlemark.campaign.manifest import origin_of
from middlemark.campaign.progress import CampaignTrials, Progress
from middlemark.plan import Valid, expand, order_trials
from middlemark.results.manifest import Library, Manifest, Middleware, Testbed
from middlemark.results.progress import Unobserved
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.suite import parse_suite

SUITE = """
suite: large
trials: {blocks}
middlewares: all
workloads: {{workload: imu, size: [100 B, 200 B, 300 B, 400 B, 500 B, 600 B, 700 B, 800 B, 900 B, 1 kB]}}
topologies: C1-1
"""
MIDDLEWARES = [f"m{number}" for number in range(10)]
USUAL = ((1000, 1000), (1000, 10_000), (1000, 100_000), (10, 10_000))
"""How many test-beds and trials, where nothing else is asked for."""
EXPERIMENTS = 100
"""Ten middlewares, ten sizes: so many trials has a block."""


@dataclass(frozen=True)
class Cost:
    """Of one campaign."""

    n_trials: int
    n_blocks: int
    front_s: float
    """Without the making of parcels, which is the test-beds' work."""
    looks: int
    """How often the scheduler was asked who is there."""
    peak_mib: float
    planned_mib: float
    """Before the first block came."""


@dataclass(eq=False)
class Done:
    """A task that has ended."""

    result: Callable[[], Any]
    key: str = ""

    def __await__(self) -> Generator[None, None, Any]:
        yield from ()
        return self.result()

    def release(self) -> None:
        """Nothing is held."""


@dataclass
class StandIn:
    """What the front asks a scheduler for, of test-beds that have measured at once."""

    folder: Path
    testbeds: int
    stated: str
    made_s: float = 0.0
    looks: int = 0
    _turn: int = 0

    @property
    def scheduler(self) -> StandIn:
        """It is asked in the same way."""
        return self

    async def identity(self, **_: object) -> dict[str, Any]:
        """Who is there."""
        self.looks += 1
        worker = {testbed.STATEMENT: self.stated}
        return {"workers": {f"tcp://{n}": {"name": f"bed{n}", **worker} for n in range(self.testbeds)}}

    async def list_datasets(self) -> list[str]:
        """No front has left anything."""
        return []

    async def cancel(self, _: Sequence[object]) -> None:
        """Nothing is under way."""

    def submit(self, function: Callable[..., object], first: str, second: object, *_: object, **__: object) -> Done:
        """A task: a block, or a piece of one."""
        result = _piece(first, cast("int", second)) if function is testbed.piece else self._measured(first)
        return Done(lambda: result)

    def _measured(self, request: str) -> tuple[str, str, str]:
        """It is measured as soon as it is handed out: its parcel then is on a test-bed, and in no memory here."""
        began = time.perf_counter()
        manifest = Manifest.model_validate_json(request)
        self._turn = (self._turn + 1) % self.testbeds
        path = self.folder / f"{manifest.trials[0].block}.tar"
        with tarfile.open(path, "w") as archive:
            for trial in manifest.trials:
                content = TrialRecord(trial=trial, outcome=Valid()).model_dump_json().encode()
                member = tarfile.TarInfo(f"{trial.id}/trial.json")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        parcel = Parcel(path=str(path), size_bytes=path.stat().st_size, sha256=digest)
        self.made_s += time.perf_counter() - began
        return f"bed{self._turn}", f"tcp://{self._turn}", parcel.model_dump_json()


def _piece(path: str, offset: int) -> bytes:
    """A parcel is removed with its last piece, as a test-bed forgets what the front has."""
    with Path(path).open("rb") as file:
        file.seek(offset)
        part = file.read(PIECE_BYTES)
    if len(part) < PIECE_BYTES:
        Path(path).unlink()
    return part


async def _ended(futures: Sequence[Any]) -> list[Any]:
    return list(futures[:1])


def _manifest(blocks: int) -> Manifest:
    text = SUITE.format(blocks=blocks)
    suite = parse_suite(text, file="bench")
    trials = order_trials(expand(suite, available=MIDDLEWARES), blocks=blocks, seed=1)
    library = Library(name="none", version="1", origin="the bench")
    middlewares = {name: Middleware(title=name, summary=name, library=library, sha256="0" * 64) for name in MIDDLEWARES}
    return Manifest(
        middlemark_version="0", suite="large", suite_text=text, seed=1, trials=trials,
        started_at="2026-01-31T12:00:00+00:00", middlewares=middlewares,
    )  # fmt: skip


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _merged(trials: CampaignTrials, stand_in: StandIn) -> None:
    front = Front(Roster(cast("Any", stand_in), "tcp://bench"), trials.run_folder, "bench")
    progress = Progress(trials.run_folder.path, Unobserved())
    await FleetMeasurement(trials, front, progress).measure(trials.to_run())


def simulated(testbeds: int, n_trials: int) -> Cost:
    """A campaign whose blocks all came: what that cost."""
    front_module.ended = roster_module.ended = _ended  # type: ignore[attr-defined]
    manifest = _manifest(max(1, n_trials // EXPERIMENTS))
    stated = Testbed(machine={"cpus": 2}, build=origin_of(manifest)).model_dump_json()
    with tempfile.TemporaryDirectory() as folder:
        stand_in = StandIn(Path(folder), testbeds, stated)
        with RunFolder.created(Path(folder, "run"), manifest) as run:
            planned_mib, began = _peak_mib(), time.perf_counter()
            asyncio.run(_merged(CampaignTrials(run, manifest), stand_in))
            front_s = time.perf_counter() - began - stand_in.made_s
            n_stored = sum(1 for _ in run.stored_trials())
            assert n_stored == len(manifest.trials), n_stored
    n_blocks = manifest.trials[-1].block
    return Cost(len(manifest.trials), n_blocks, front_s, stand_in.looks, _peak_mib(), planned_mib)


def main(campaigns: Sequence[tuple[int, int]]) -> None:
    """Each so many test-beds and so many trials."""
    headings = ("merged in, s", "a block, ms", "a trial, ms", "looks", "peak of the front, MiB", "planned, MiB")
    print(f"| test-beds | trials | {' | '.join(headings)} |\n|{' ---: |' * (len(headings) + 2)}")
    for testbeds, n_trials in campaigns:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            cost = pool.submit(simulated, testbeds, n_trials).result()
        of_block, of_trial = (1000 * cost.front_s / n for n in (cost.n_blocks, cost.n_trials))
        print(
            f"| {testbeds} | {cost.n_trials} | {cost.front_s:.1f} | {of_block:.0f} | {of_trial:.2f} | {cost.looks} "
            f"| {cost.peak_mib:.0f} | {cost.planned_mib:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    asked = [(words[0], n_trials) for n_trials in words[1:] or (10_000,)] if words else USUAL
    main(asked)
