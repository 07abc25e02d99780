"""Every distribution of a run as one HdrHistogram: all valid trials of an experiment, whether or not they left samples.

One trial's samples are in memory at a time, so that runs of any length can be read. These tables are for other tools'
plots; intervals over trials are `estimate`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

from middlemark.analysis.accounting import AccountingError
from middlemark.analysis.clocks import can_tell
from middlemark.analysis.condensed import Condensed
from middlemark.analysis.histogram import bucketed, empty, of_samples, percentile_table
from middlemark.analysis.measuring import metrics_of_samples
from middlemark.analysis.run import Damage
from middlemark.analysis.samples import Distribution
from middlemark.errors import StoreError
from middlemark.results.record import is_valid
from middlemark.results.run_folder import RunFolder, TrialFolder


@dataclass
class _Gathered:
    histogram: HdrHistogram = field(default_factory=empty)
    negative: int = 0
    lost: int = 0
    trials: int = 0
    bound_ns: int = 0

    @property
    def is_told(self) -> bool:
        """Whether there is any of it that clocks of different machines tell."""
        return self.histogram.get_total_count() > 0 and can_tell(self.histogram.get_max_value(), self.bound_ns)


@dataclass(frozen=True)
class PercentileTable:
    """One distribution of one stream of one experiment."""

    experiment: str
    stream: str
    distribution: Distribution
    text: str

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.experiment}.{self.stream}.{self.distribution}.hgrm"


def percentile_tables(folder: RunFolder) -> tuple[list[PercentileTable], list[Damage]]:
    """The tables of all distributions that a run has, by experiment, and the trials that can't be used."""
    gathered: dict[tuple[str, str, Distribution], _Gathered] = {}
    damaged = []
    for trial in folder.stored_trials():
        try:
            found = _samples(trial)
        except (StoreError, AccountingError) as error:
            damaged.append(Damage(trial.id, str(error)))
            continue
        for (experiment, stream, kind), samples in found.items():
            whole = gathered.setdefault((experiment, stream, kind), _Gathered())
            histogram, negative = of_samples(samples)
            whole.histogram.add(histogram)
            whole.negative += negative
            whole.lost += samples.lost
            whole.trials += 1
            whole.bound_ns = max(whole.bound_ns, samples.bound_ns)
    return [_table(key, whole) for key, whole in sorted(gathered.items()) if whole.is_told], damaged


def _table(key: tuple[str, str, Distribution], whole: _Gathered) -> PercentileTable:
    clocks = f", ClockBound = {whole.bound_ns}" if whole.bound_ns else ""
    counts = f"Trials = {whole.trials}, Negative = {whole.negative}, Lost = {whole.lost}"
    facts = f"#[Unit = ns, {counts}{clocks}]\n"
    return PercentileTable(*key, percentile_table(whole.histogram, whole.bound_ns) + facts)


def _samples(trial: TrialFolder) -> Mapping[tuple[str, str, Distribution], Condensed]:
    """Each distribution as far as a histogram tells its values apart."""
    record = trial.read_record()
    if not is_valid(record) or record.trial.observation is not None:
        return {}
    experiment = record.trial.experiment
    with trial.reading_samples() as samples:
        metrics = metrics_of_samples(trial, record, samples, bucketed)
    return {(experiment.id, *key): found for key, found in metrics.samples.items()}
