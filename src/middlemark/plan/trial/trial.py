"""A trial as it is planned: one execution of an experiment, and of a capacity search the step that it tries.

It plans nothing: `schedule` makes the trials of a campaign; `outcome` says how one ended.
"""

from dataclasses import dataclass, field
from typing import Annotated, Self

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)

from middlemark.plan.experiment import Experiment
from middlemark.suite import Model, Observation
from middlemark.suite.yaml.model import TrialId


class SearchStep(Model):
    """Which step of a capacity search's ladder a trial tries, and of which search."""

    search: Annotated[int, Field(ge=1, le=100)] | None
    """Its number, from 1; None in runs of several searches from before it was stored."""
    step: Annotated[int, Field(ge=0, lt=10**5)]
    """From 0, the lowest load."""


@dataclass
class SharedExperiments:
    """The context in which the trials of a plan are read: an experiment is one object for all of its trials.

    A plan has each experiment in every block: read for each trial anew, they would take most of the memory.
    """

    _read: dict[str, tuple[object, Experiment]] = field(default_factory=dict)
    """By id, as it was written and as it was read."""

    def experiment(self, written: object, read: ValidatorFunctionWrapHandler) -> Experiment:
        """What is written, read unless the same was read before."""
        name = str(written.get("id")) if isinstance(written, dict) else ""
        if name in self._read and self._read[name][0] == written:
            return self._read[name][1]
        experiment: Experiment = read(written)
        self._read[name] = written, experiment
        return experiment


class Trial(Model):
    """One execution of an experiment, from a cold start, in fresh processes."""

    id: TrialId
    """The name of its folder; sorts in the order of running."""
    number: Annotated[int, Field(ge=1, lt=10**9)]
    """Its place in the campaign's order, from 1."""
    block: Annotated[int, Field(ge=1, lt=10**9)]
    """From 1; each block holds each experiment once that has trials left, and once more for each observation."""
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    """For the payload and for random schedules; the same for all experiments of a block."""
    experiment: Experiment
    observation: Observation | None = None
    """What watches it; None for the trials that latency, loss and rates are taken from."""
    step: SearchStep | None = None
    """Of a trial of a capacity search: which step of which search it is."""

    @field_validator("experiment", mode="wrap")
    @classmethod
    def _is_read_once(cls, written: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
        shared = info.context
        return shared.experiment(written, read) if isinstance(shared, SharedExperiments) else read(written)

    @model_validator(mode="after")
    def _is_named_by_what_it_is(self) -> Self:
        number, _, experiment = self.id.partition("-")
        if int(number) != self.number or experiment != self.experiment.id:
            raise ValueError(f"{self.id} is not the name of trial {self.number} of {self.experiment.id}")
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _has_the_step_of_its_search(cls, written: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Stored trials of searches had no step once: the load says it, and where there is but one search, which."""
        trial = handler(written)
        search = trial.experiment.search
        if search is None:
            if trial.step is not None:
                raise ValueError(f"{trial.id} is of no search, and has a step of one")
            return trial
        value = trial.experiment.searched_value
        if trial.step is None:
            number = 1 if search.searches == 1 or trial.block == 1 else None
            return trial.model_copy(update={"step": SearchStep(search=number, step=search.step_of(value))})
        number, step = trial.step.search or 1, trial.step.step
        if number > search.searches or step > search.last_step or search.value_at(step) != value:
            raise ValueError(f"{trial.id} has another load than step {step} of search {number}")
        return trial
