"""A whole run, from its folder to its findings: reads every stored trial and puts experiments and comparisons together.

A trial that can't be read, or whose accounting does not add up, is named and left out; all others are still analysed.
It writes nothing; `dataframes` makes the table that the report stores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from middlemark.analysis.compare.comparison import Comparison, comparisons
from middlemark.analysis.compare.independence import SerialCorrelation, serial_correlations, with_dependence_cautions
from middlemark.analysis.compare.scaling import Growth, Scaling, growths, scalings
from middlemark.analysis.experiment.aggregate import experiment_findings
from middlemark.analysis.experiment.distance import with_distance_cautions
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.experiment.variance import outside_window_ns
from middlemark.analysis.metrics.accounting import AccountingError
from middlemark.analysis.metrics.stored import load_or_measure
from middlemark.analysis.search.capacity import Capacity, capacities, capacity_findings
from middlemark.errors import StoreError
from middlemark.plan import Experiment, only
from middlemark.results.manifest import Manifest
from middlemark.results.record import TrialRecord, is_valid
from middlemark.results.run_folder import RunFolder
from middlemark.results.trial_folder import TrialFolder


@dataclass(frozen=True)
class Damage:
    """A stored trial that can't be used."""

    trial: str
    problem: str


@dataclass(frozen=True)
class RunFindings:
    """All that a run says."""

    folder: RunFolder
    manifest: Manifest
    experiments: tuple[ExperimentFindings, ...]
    comparisons: tuple[Comparison, ...]
    """Of experiments whose rate was given."""
    capacities: tuple[Capacity, ...]
    """Of those whose rate was searched for."""
    damaged: tuple[Damage, ...]
    scalings: tuple[Scaling, ...]
    growths: tuple[Growth, ...]
    """Of streams that are sent on several topics."""
    missing: tuple[str, ...]
    """Planned trials that are not stored: the run was interrupted, or goes on."""
    serial_correlations: tuple[SerialCorrelation, ...] = ()
    """How alike trials are to those before them, of all that is ranked and has trials enough."""
    outside_window_ns: float | None = None
    """What a trial takes outside its window."""

    @property
    def comparable(self) -> tuple[ExperimentFindings, ...]:
        """What is compared: the experiments whose load was given, and each search as one."""
        given = (candidate for candidate in self.experiments if candidate.experiment.search is None)
        return (*given, *map(capacity_findings, self.capacities))

    @property
    def claimable(self) -> tuple[ExperimentFindings, ...]:
        """What claims may speak of: every load that was tried, and each search as one."""
        return (*self.experiments, *map(capacity_findings, self.capacities))

    @property
    def n_trials(self) -> int:
        """How many stored trials could be read."""
        return sum(
            len(findings.outcomes)
            for candidate in self.experiments
            for findings in (candidate, *candidate.observed.values())
        )


def analyse(
    folder: RunFolder, conditions: Sequence[str] = (), on_measuring: Callable[[], None] | None = None
) -> RunFindings:
    """Read and analyse a run, or the part that `only` leaves of it; only a folder that is no run is an error.

    `on_measuring` is called for each trial without stored metrics of this version, before they are computed.
    """
    manifest = folder.read_manifest()
    stored = list(folder.stored_trials())
    records, damaged = read_records(stored, manifest)
    experiments: list[ExperimentFindings] = []
    for experiment, own_records in _chosen(_by_experiment(manifest, records), conditions):
        findings, broken = _analyse_experiment(folder, experiment, own_records, on_measuring)
        experiments.append(findings)
        damaged += broken
    stored_ids = {trial.id for trial in stored}
    compared = comparisons(candidate for candidate in experiments if candidate.experiment.search is None)
    correlated = serial_correlations(compared)
    experiments = with_distance_cautions(with_dependence_cautions(experiments, correlated))
    given = [candidate for candidate in experiments if candidate.experiment.search is None]
    return RunFindings(
        folder=folder,
        manifest=manifest,
        experiments=tuple(experiments),
        comparisons=tuple(comparison.of(experiments) for comparison in compared),
        capacities=capacities(experiments),
        damaged=tuple(damaged),
        scalings=scalings(given),
        growths=growths(given),
        missing=tuple(trial.id for trial in manifest.trials if trial.id not in stored_ids),
        serial_correlations=correlated,
        outside_window_ns=outside_window_ns(records),
    )


def read_records(stored: Sequence[TrialFolder], manifest: Manifest) -> tuple[list[TrialRecord], list[Damage]]:
    """The records of trials, and those that can't be read or are not of the trial that was planned."""
    planned = {trial.id: trial for trial in manifest.trials}
    records, damaged = [], []
    for folder in stored:
        try:
            records.append(folder.read_record_of(planned.get(folder.id)))
        except StoreError as error:
            damaged.append(Damage(folder.id, str(error)))
    return records, damaged


def _by_experiment(manifest: Manifest, records: Sequence[TrialRecord]) -> list[tuple[Experiment, list[TrialRecord]]]:
    planned = {trial.experiment.id: trial.experiment for trial in manifest.trials}
    stored = {record.trial.experiment.id: record.trial.experiment for record in records}
    groups: dict[str, list[TrialRecord]] = {name: [] for name in sorted(planned | stored)}
    for record in records:
        groups[record.trial.experiment.id].append(record)
    return [((planned | stored)[name], group) for name, group in groups.items() if group]


def _chosen(
    groups: list[tuple[Experiment, list[TrialRecord]]], conditions: Sequence[str]
) -> list[tuple[Experiment, list[TrialRecord]]]:
    if not conditions:
        return groups
    chosen = {experiment.id for experiment in only([experiment for experiment, _ in groups], conditions)}
    return [group for group in groups if group[0].id in chosen]


def _analyse_experiment(
    folder: RunFolder,
    experiment: Experiment,
    records: Sequence[TrialRecord],
    on_measuring: Callable[[], None] | None,
) -> tuple[ExperimentFindings, list[Damage]]:
    """The findings of its unobserved trials, and with them those of its observed ones."""
    unobserved = [record for record in records if record.trial.observation is None]
    findings, damaged = _findings(folder, experiment, unobserved, on_measuring)
    observed = {}
    for observation in sorted({record.trial.observation for record in records if record.trial.observation}):
        with_observer = [record for record in records if record.trial.observation is observation]
        observed[observation], broken = _findings(folder, experiment, with_observer, on_measuring)
        damaged += broken
    return replace(findings, observed=observed), damaged


def _findings(
    folder: RunFolder,
    experiment: Experiment,
    records: Sequence[TrialRecord],
    on_measuring: Callable[[], None] | None,
) -> tuple[ExperimentFindings, list[Damage]]:
    """One trial is looked at at a time; of each there stays the sketch of its samples."""
    measured, damaged = [], []
    for record in records:
        if is_valid(record):
            try:
                measured.append(load_or_measure(folder.trial(record.trial.id), record, on_measuring))
            except (StoreError, AccountingError) as error:
                damaged.append(Damage(record.trial.id, str(error)))
    broken = {damage.trial for damage in damaged}
    usable = [record for record in records if record.trial.id not in broken]
    return experiment_findings(experiment, usable, measured), damaged
