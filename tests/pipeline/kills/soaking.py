"""What every soak does: campaign after campaign until enough was killed, and what is counted and held of them.

How a campaign runs, what is killed of it and what must be true of it afterwards, each soak says for itself.
"""

import json
import random
import shutil
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder

BY_MACHINE = {"invalid"}
"""What a busy machine makes of a trial that nobody killed anything of."""


@dataclass
class Found:
    """What the kills came to."""

    kills: Counter[str] = field(default_factory=Counter)
    campaigns: int = 0
    trials: int = 0
    by_machine: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def all_kills(self) -> int:
        return sum(self.kills.values())


@dataclass(kw_only=True)
class Soak(ABC):
    """One campaign after another until enough was killed."""

    folder: Path
    wanted: int
    chance: random.Random
    found: Found = field(default_factory=Found)

    @abstractmethod
    def to_its_end(self, folder: Path) -> None:
        """Runs the campaign of this folder, and goes on with it after each kill of its front."""

    def run(self, suites: Sequence[str]) -> None:
        while self.found.all_kills < self.wanted:
            text = suites[self.found.campaigns % len(suites)]
            self.found.campaigns += 1
            folder = self.folder / str(self.found.campaigns)
            folder.mkdir()
            (folder / "suite.yaml").write_text(text)
            before = len(self.found.problems)
            self.to_its_end(folder)
            # Whoever ends a soak early knows what it came to.
            print(f"{self.found.campaigns} campaigns, kills: {dict(self.found.kills)}", file=sys.stderr, flush=True)
            if len(self.found.problems) == before:  # else somebody will want to look
                shutil.rmtree(folder)

    def stored_since(self, run: RunFolder, before: set[str]) -> set[str]:
        """The trials that are stored, of which none may be gone that was."""
        stored = {trial.id for trial in run.stored_trials()}
        if missing := before - stored:
            self.problem(f"stored trials are gone: {sorted(missing)}")
        return stored

    def count(self, record: TrialRecord) -> bool:
        """Counts a trial of which nothing was killed; gives whether it is valid."""
        kind = record.outcome.kind
        if kind in BY_MACHINE:
            self.found.by_machine[kind] += 1
        elif kind != "valid":
            self.problem(f"{record.trial.id}, of which nothing was killed: {kind}: {record.outcome.detail}")
        return kind == "valid"

    def problem(self, text: str) -> None:
        self.found.problems.append(f"campaign {self.found.campaigns}, kill {self.found.all_kills}: {text}")
        print(self.found.problems[-1], file=sys.stderr, flush=True)

    def report(self, seed: int) -> int:
        """Prints as JSON what was found; gives the exit status."""
        print(json.dumps({**vars(self.found), "all_kills": self.found.all_kills, "seed": seed}, indent=1))
        return 1 if self.found.problems else 0
