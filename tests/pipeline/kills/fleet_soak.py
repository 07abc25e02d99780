"""A fleet of four test-beds in which anything is killed at random instants: no trial is lost, doubled or altered.

`python fleet_soak.py KILLS SEED FOLDER`, as root. Test-beds, the scheduler and the front have a network namespace each;
`synthetic` loses messages by a formula, so that what each stored trial must hold is known. It says as JSON what it found.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from command_line import MIDDLEMARK
from fate import Program, fate
from fleet_lab import Lab, lab
from middlemark.analysis.run import analyse
from middlemark.results.run_folder import RunFolder
from soaking import Found, Soak

BEDS = ("bed1", "bed2", "bed3", "bed4")
BLOCKS, MESSAGES = 8, 400
PROGRAM = Program(delay_ns=2_000_000, loss_per_million=50_000)
PATIENCE_S = 300.0
LONGEST_S = 3.0
"""From when a block is under way to the kill."""
CUT_S = 30.0
"""Longer than the scheduler waits for a test-bed that says nothing."""
VICTIMS = {"bed": 12, "front": 6, "scheduler": 2, "link": 1}
SUITE = {
    "suite": "fleet_soak",
    "trials": BLOCKS,
    "middlewares": [
        {"middleware": "synthetic", "options": asdict(PROGRAM) | {"delay_ns": [2_000_000, 4_000_000]}},
    ],
    "workloads": [{"workload": "imu", "rate": "1 kHz", "size": "100 B"}],
    "windows": {"warm_up": "50 ms", "window": "400 ms", "drain": "300 ms"},
    "disturbance": {"steal": "100 %"},
}
DASK = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20s", "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "100"}


@dataclass
class FoundOfFleet(Found):
    """What the kills came to."""

    again: int = 0
    """Trials whose block had begun elsewhere."""
    resumed: int = 0


@dataclass
class Machine:
    """A process on a machine of its own, and how it is started."""

    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=os.environ | self.environment)

    @property
    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass(kw_only=True)
class FleetSoak(Soak):
    """Campaigns of a fleet in namespaces."""

    places: Path
    lab: Lab
    machines: dict[str, Machine] = field(default_factory=dict)
    found: FoundOfFleet = field(default_factory=FoundOfFleet)

    def set_up(self) -> None:
        """Starts the scheduler and the test-beds, and makes a place for the front."""
        address = self.lab.add("scheduler")
        dask = (
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            address,
            "--port",
            "8786",
            "--no-dashboard",
        )
        self.machines["scheduler"] = self._machine("scheduler", (*dask, "--dashboard-address", f"{address}:0"), DASK)
        self.address = f"tcp://{address}:8786"
        for name in BEDS:
            self.lab.add(name)
            self.machines[name] = self._machine(name, (*MIDDLEMARK, "testbed", "join", self.address, "--name", name))
        self.lab.add("front")
        self._revive()

    def _machine(self, name: str, command: tuple[str, ...], environment: dict[str, str] | None = None) -> Machine:
        own = {"XDG_STATE_HOME": str(self.places / f"s-{name}"), "TMPDIR": str(self.places / name)}
        (self.places / name).mkdir()
        full = (*self.lab.at(name), "setpriv", "--pdeathsig", "KILL", *command)
        return Machine(list(full), own | (environment or {}), self.folder / f"{name}.log")

    def _revive(self) -> None:
        """Starts whoever is gone; a test-bed that lost its scheduler has left."""
        for name in ("scheduler", *BEDS):
            if not self.machines[name].lives:
                self.machines[name].start()

    def to_its_end(self, folder: Path) -> None:
        run, stored = RunFolder(folder / "run"), set[str]()
        (self.places / "front").mkdir(exist_ok=True)
        while True:
            begins = run.manifest_path.exists()
            words = ("--resume", str(run.path)) if begins else (str(folder / "suite.yaml"), "--out", str(run.path))
            command = (*MIDDLEMARK, "run", *words, "--fleet", self.address)
            front = Machine(
                [*self.lab.at("front"), "setpriv", "--pdeathsig", "KILL", *command],
                {"XDG_STATE_HOME": str(self.places / "s-front"), "TMPDIR": str(self.places / "front")},
                folder / "front.log",
            )
            front.start()
            self._kill_while_it_runs(front, run)
            stored = self.stored_since(run, stored)
            if run.manifest_path.exists() and len(stored) == len(run.read_manifest().trials):
                break
            self.found.resumed += 1
            self._revive()
        self._check(run)

    def _kill_while_it_runs(self, front: Machine, run: RunFolder) -> None:
        """Kills until the front has ended or was killed."""
        deadline, before = time.monotonic() + PATIENCE_S, self._n_stored(run)
        while front.lives:
            if time.monotonic() > deadline:
                self.problem(f"no end and no new trial for {PATIENCE_S:.0f} s: {front.log.read_text()[-2000:]}")
                front.kill()
                return
            if self.found.all_kills >= self.wanted or not self._wait_for_block(front, deadline):
                time.sleep(0.1)
            else:
                time.sleep(self.chance.uniform(0, LONGEST_S))  # the instant of the kill is what is random here
                self._kill(front)
            self._revive()
            if (stored := self._n_stored(run)) > before:
                deadline, before = time.monotonic() + PATIENCE_S, stored

    def _n_stored(self, run: RunFolder) -> int:
        return sum(1 for _ in run.stored_trials()) if run.trials_path.exists() else 0

    def _wait_for_block(self, front: Machine, deadline: float) -> bool:
        return _until(lambda: self._measuring() or not front.lives, deadline) and front.lives

    def _measuring(self) -> list[str]:
        return [name for name in BEDS if any((self.places / name).glob("middlemark-block-*/run/trials/*/logs"))]

    def _kill(self, front: Machine) -> None:
        kind = self.chance.choices(list(VICTIMS), list(VICTIMS.values()))[0]
        measuring = self._measuring()
        if kind == "front":
            front.kill()
        elif kind == "scheduler":
            self.machines["scheduler"].kill()
        elif not measuring:
            return
        elif kind == "bed":
            self.machines[self.chance.choice(measuring)].kill()
        else:
            name = self.chance.choice(measuring)
            self.lab.cut(name, off=True)
            time.sleep(CUT_S)
            self.lab.cut(name, off=False)
        self.found.kills[kind] += 1

    def _check(self, run: RunFolder) -> None:
        """Each planned trial is there once, with what was programmed, and each block is of one test-bed."""
        received = sum(not fate(PROGRAM, sequence).lost for sequence in range(MESSAGES))
        beds: dict[int, set[str | None]] = {}
        for folder in run.stored_trials():
            record = folder.read_record()
            self.found.trials += 1
            self.found.again += any(warning.kind == "elsewhere" for warning in record.warnings)
            beds.setdefault(record.trial.block, set()).add(record.testbed)
            received_by = [counts.received for counts in record.counts.subscribers]
            if self.count(record) and received_by != [received]:
                self.problem(f"{folder.id}: {record.counts.subscribers}, and {received} were programmed")
        if any(len(names) != 1 for names in beds.values()):
            self.problem(f"blocks of several test-beds: {beds}")
        if (run.path / "arriving").exists():
            self.problem("what arrived is still there")
        if damaged := analyse(run).damaged:
            self.problem(f"damaged: {damaged}")

    def end(self) -> None:
        """Ends the test-beds as their user does, and says what they left."""
        for name in BEDS:
            process = self.machines[name].process
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_S)
        self.machines["scheduler"].kill()


def _until(holds: Callable[[], object], deadline: float) -> bool:
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def main() -> int:
    wanted, seed, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with ExitStack() as stack:
        places = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mmf", dir="/tmp")))
        chance = random.Random(seed)
        soak = FleetSoak(folder=folder, places=places, lab=stack.enter_context(lab()), wanted=wanted, chance=chance)
        stack.callback(soak.end)
        soak.set_up()
        soak.run([json.dumps(SUITE)])
    return soak.report(seed)


if __name__ == "__main__":
    sys.exit(main())
