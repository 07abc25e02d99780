"""The manifest of a campaign over many test-beds names them all, and is not written all the time."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from middlemark.campaign.fleet import measurement
from middlemark.campaign.fleet.blocks import MeasuredBlock
from middlemark.campaign.fleet.measurement import FleetMeasurement
from middlemark.campaign.manifest import new_manifest
from middlemark.campaign.progress import CampaignTrials, Progress
from middlemark.plan import Trial, Valid
from middlemark.results import manifest as stored
from middlemark.results.manifest import Manifest
from middlemark.results.progress import Unobserved
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from staged import placed, suite_text

BLOCKS, BLOCK_NS = 100, 100_000_000


@dataclass
class Clock:
    """What time it is: it goes on by what the test says."""

    now_ns: int = 0

    def monotonic_ns(self) -> int:
        return self.now_ns


@dataclass
class AnotherTestbedEach:
    """Has each block measured at once, by a test-bed of its own."""

    clock: Clock

    async def measured(self, _: Manifest, trials: Sequence[Trial]) -> AsyncIterator[MeasuredBlock]:
        for trial in trials:
            self.clock.now_ns += BLOCK_NS
            records = [TrialRecord(trial=trial, outcome=Valid())]
            yield MeasuredBlock(f"bed{trial.block}", stored.Testbed(machine={}, build={}), records, BLOCK_NS, 1)

    def repeated(self, _: Manifest, __: Sequence[Trial], ___: Mapping[str, int]) -> AsyncIterator[MeasuredBlock]:
        raise AssertionError("no trial is disturbed")

    async def leave(self, _: Manifest, __: Sequence[Trial]) -> int:
        raise AssertionError("this front stays")


@pytest.mark.parametrize(("takes_ns", "times"), [(1_000_000_000, 2), (30_000_000, 5), (0, BLOCKS)])
def test_a_manifest_is_written_as_often_as_that_takes_a_hundredth_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, takes_ns: int, times: int
) -> None:
    clock, writes, write = Clock(), 0, RunFolder.write_manifest

    def counted(run: RunFolder, manifest: Manifest) -> None:
        nonlocal writes
        writes, clock.now_ns = writes + 1, clock.now_ns + takes_ns
        write(run, manifest)

    manifest = new_manifest(placed(suite_text().replace("trials: 1", f"trials: {BLOCKS}")))
    with RunFolder.created(tmp_path / "run", manifest) as run:
        monkeypatch.setattr(RunFolder, "write_manifest", counted)
        monkeypatch.setattr(measurement, "time", SimpleNamespace(monotonic_ns=clock.monotonic_ns))
        trials, progress = CampaignTrials(run, manifest), Progress(run.path, Unobserved())
        fleet = FleetMeasurement(trials, AnotherTestbedEach(clock), progress)
        asyncio.run(fleet.measure(trials.to_run()))
        assert set(run.read_manifest().testbeds) == {f"bed{trial.block}" for trial in manifest.trials}
    assert writes == times
