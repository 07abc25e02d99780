"""Soak: campaigns in which anything is killed at random instants, the front too; then nothing is left, and all is measured.

`python soak.py KILLS SEED FOLDER`. Each campaign is resumed until it is complete; a kill waits for a condition (there is
something to kill, the trial under way has got further), then for a drawn moment. It says as JSON what was found.
"""

import importlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from command_line import MIDDLEMARK
from killed_campaigns import be_a_campaign, draw_names_with
from left_behind import left_of
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from middlemark.testbed.processes import abandoned
from middlemark.testbed.processes.remote import CONFIGURATION_VARIABLE
from soaked_suites import suites
from soaking import Found, Soak
from ssh_server import serving, sshd
from victims import kind_of, victims_of

LONGEST_S = 1.0
"""From the condition to the kill: a trial takes several times as long."""
FRONT_SHARE = 0.4
PATIENCE_S = 120.0


@dataclass
class FoundOnMachine(Found):
    """What the kills came to."""

    disturbed: int = 0
    """Trials of which something was killed."""


@dataclass(kw_only=True)
class MachineSoak(Soak):
    """Campaigns on this machine, and on one that SSH reaches."""

    mark: str
    machine: Path | None
    """The temporary folder of the machine that SSH reaches, as it is seen from here."""
    found: FoundOnMachine = field(default_factory=FoundOnMachine)

    def to_its_end(self, folder: Path) -> None:
        """Runs it, and goes on with it after each kill of its front."""
        run, disturbed, goes_on = RunFolder(folder / "run"), set[str](), True
        stored: set[str] = set()
        while goes_on:
            front = self._start(folder)
            goes_on = self._kill_while_it_runs(front, run, disturbed)
            if goes_on and self.chance.random() < 0.5:
                abandoned.sweep()  # else the next start does
                self._check_left("after a sweep")
            stored = self.stored_since(run, stored)
        self._check_left("after the campaign")
        if run.manifest_path.is_file():
            self._check_run(run, disturbed)
        else:
            self.problem("there is no run")

    def _start(self, folder: Path) -> int:
        front = os.fork()
        if front == 0:
            try:
                resume = (folder / "run/manifest.json").exists()
                words = ["--resume", folder / "run"] if resume else [folder / "suite.yaml", "--out", folder / "run"]
                be_a_campaign(*words, log=str(folder / "log"))
            except SystemExit as ended:
                os._exit(ended.code if isinstance(ended.code, int) else 0)
            finally:
                os._exit(70)
        return front

    def _kill_while_it_runs(self, front: int, run: RunFolder, disturbed: set[str]) -> bool:
        """Kills until the front is killed, or has ended; gives whether it was killed."""
        while True:
            status = self._await_something(front)
            if status is None and self.found.all_kills < self.wanted:
                time.sleep(self.chance.uniform(0, LONGEST_S))  # the instant of the kill is what is random here
                if self.chance.random() < FRONT_SHARE:
                    before = {each.id for each in run.stored_trials()}
                    os.kill(front, signal.SIGKILL)
                    _, status = os.waitpid(front, 0)
                    if os.WIFSIGNALED(status):
                        self.found.kills["front"] += 1
                        self._check_lost(run, before)
                        return True
                else:
                    disturbed |= self._kill_another(front, run)
                    continue
            elif status is None:
                _, status = os.waitpid(front, 0)
            if os.WEXITSTATUS(status) not in {0, 1}:
                self.problem(f"the front ended with {os.WEXITSTATUS(status)}")
            return False

    def _await_something(self, front: int) -> int | None:
        """Waits until the ledger of the front lists a living process; gives its status where it ends before."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            pid, status = os.waitpid(front, os.WNOHANG)
            if pid:
                return status
            if victims_of(front):
                return None
            time.sleep(0.005)
        self.problem(f"nothing to kill for {PATIENCE_S:.0f} s")
        return None

    def _kill_another(self, front: int, run: RunFolder) -> set[str]:
        """Kills one of them; gives the trials that this may have disturbed."""
        under_way = _under_way(run)
        if not (victims := victims_of(front)):
            return set()
        kinds = sorted({kind_of(what) for what, _ in victims})
        kind = self.chance.choice(kinds)
        victim = self.chance.choice(sorted((process.pid for what, process in victims if kind_of(what) == kind)))
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return set()
        self.found.kills[kind] += 1
        # A trial may have begun meanwhile, and what outlasts trials, a connection say, is missed by the next.
        later = _under_way(run)
        return {name for each in (under_way, later) for name in each}

    def _check_lost(self, run: RunFolder, before: set[str]) -> None:
        after = {each.id for each in run.stored_trials()}
        if not before <= after:
            self.problem(f"the kill of the front lost {sorted(before - after)}")
        if (run.path / "manifest.json").exists() and len(_under_way(run)) > 1:
            self.problem(f"more than one trial was under way: {_under_way(run)}")

    def _check_left(self, when: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.05)
        if left:
            self.problem(f"{when}: {left}")

    def _left(self) -> dict[str, list[str]]:
        elsewhere = sorted(path.name for path in self.machine.iterdir()) if self.machine else []
        return left_of(os.environ, self.mark) | ({"on the other machine": elsewhere} if elsewhere else {})

    def _check_run(self, run: RunFolder, disturbed: set[str]) -> None:
        """All that was planned is there, once; what nobody disturbed is as if nothing had been killed."""
        manifest = run.read_manifest()
        records = {each.id: each.read_record() for each in run.stored_trials()}
        if set(records) != {trial.id for trial in manifest.trials}:
            self.problem(f"{len(records)} of {len(manifest.trials)} trials are stored")
        for name, record in records.items():
            self.found.trials += 1
            if name in disturbed:
                self.found.disturbed += 1
            else:
                self.count(record)
        if run.report_path.is_file() and run.summary_path.is_file():
            self._check_like_undisturbed(run, records)
        else:
            self.problem("there is no report")

    def _check_like_undisturbed(self, run: RunFolder, records: Mapping[str, TrialRecord]) -> None:
        """The report has what that of an undisturbed run of the same trials has, and nothing of the disturbed ones."""
        valid = Counter(
            (each.trial.experiment.id, each.trial.observation)
            for each in records.values()
            if each.outcome.kind == "valid"
        )
        # As its user makes it again: to read tables here would leave threads behind that no fork has.
        said = subprocess.run([*MIDDLEMARK, "report", run.path, "--json"], capture_output=True, check=False)
        counted = {
            (row["experiment"], row["observation"]): row["n_trials"]
            for row in (json.loads(said.stdout)["estimates"] if said.returncode == 0 else [])
            if row["subject"] == "trial" and row["metric"] == "voluntary_switches_hz" and row["n_trials"]
        }
        if counted != dict(valid):
            self.problem(f"the report counts {counted}, and valid are {dict(valid)}")


def _under_way(run: RunFolder) -> list[str]:
    """The trials that have a folder and are not stored."""
    trials = run.path / "trials"
    return [each.name for each in trials.iterdir() if not (each / "trial.json").exists()] if trials.is_dir() else []


@contextmanager
def own_places(folder: Path) -> Iterator[Path]:
    """Folders of its own for all that a campaign makes; short, as paths of sockets have to be."""
    with tempfile.TemporaryDirectory(prefix="mms", dir="/tmp") as temporary:
        os.environ |= {"XDG_STATE_HOME": str(folder / "state"), "TMPDIR": temporary}
        tempfile.tempdir = None
        yield Path(temporary)


def main() -> int:
    wanted, seed, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    mark = secrets.token_hex(2)
    draw_names_with(mark)
    for module in ("middlemark.campaign.campaign", "middlemark.report.output.live", "middlemark.report.output.html"):
        importlib.import_module(module)
    with ExitStack() as stack:
        temporary = stack.enter_context(own_places(folder))
        target = machine = None
        if sshd() is not None:
            keys = folder / "sshd"
            keys.mkdir()
            # A trial's folder has the same path on each machine.
            target = stack.enter_context(serving(keys, ["--mount"], f"mount -t tmpfs tmpfs {temporary}"))
            machine = Path("/proc", (keys / "pid").read_text(), "root", temporary.relative_to("/"))
            os.environ[CONFIGURATION_VARIABLE] = str(keys / "config")
        chance = random.Random(seed)
        soak = MachineSoak(folder=folder, mark=mark, machine=machine, wanted=wanted, chance=chance)
        soak.run(list(suites(target)))
        abandoned.sweep()
    return soak.report(seed)


if __name__ == "__main__":
    sys.exit(main())
