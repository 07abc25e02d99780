"""Whether what a suite asks for by name is there: options and profiles of its middlewares, figures of its `stop`.

The suite's models can't know these, as only the workers and the analysis do; so it is asked here, before anything runs,
and answered with the place in the suite's file. Values are the worker's own to judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from middlemark.analysis.figure import figure
from middlemark.campaign.grounds import Worker
from middlemark.errors import UsageError
from middlemark.suite import ALL_MIDDLEWARES, LoadedDemand, LoadedSuite, MiddlewareChoice
from middlemark.suite.document import Path, read_document
from middlemark.suite.model import closest_first


def check(loaded: LoadedSuite, workers: Mapping[str, Worker]) -> None:
    """Refuses the first name in the suite that no worker knows."""
    _check_figures(loaded)
    _check(loaded, loaded.suite.middlewares, loaded.suite.profiles, workers)


def check_demand(loaded: LoadedDemand, workers: Mapping[str, Worker]) -> None:
    """Refuses the first name in the demand that no worker knows."""
    _check(loaded, loaded.demand.middlewares, loaded.demand.profiles or (), workers)


def _check(
    loaded: LoadedSuite | LoadedDemand,
    choices: Sequence[MiddlewareChoice],
    profiles: Sequence[str],
    workers: Mapping[str, Worker],
) -> None:
    if not workers:
        return  # that there are none is the first thing to say, and `plan` says it
    for path, problem, name, known in (*_options(choices, workers), *_profiles(choices, profiles, workers)):
        if name not in known:
            document = read_document(loaded.text, file=loaded.file)
            raise document.error(problem, path, closest_first(name, known))


def _check_figures(loaded: LoadedSuite) -> None:
    """Refuses a `stop` on what is no figure, or is a share: a width relative to a loss of nought says nothing."""
    for number, each in enumerate(loaded.suite.stop.figures or () if loaded.suite.stop else ()):
        path = ("stop", "figures", number)
        document = read_document(loaded.text, file=loaded.file)
        try:
            asked = figure(each.figure)
        except UsageError as unknown:
            raise document.error(unknown.text, path, unknown.remedy) from unknown
        if asked.of_search:
            problem = f"`{each.figure}` is of searches, which have `searches` and `max_trials` of their own"
            raise document.error(problem, path, "a latency, `first_message`, `goodput`, `cpu`, `memory`")
        if asked.is_share:
            others = "a latency, `first_message`, `goodput`, `cpu`, `memory`"
            problem = f"`{each.figure}` is a share, which may be nought and has no relative width"
            raise document.error(problem, path, others)


Asked = Iterator[tuple[Path, str, str, list[str]]]


def _options(choices: Sequence[MiddlewareChoice], workers: Mapping[str, Worker]) -> Asked:
    for number, choice in enumerate(choices):
        every = choice.middleware == ALL_MIDDLEWARES
        asked = list(workers) if every else [choice.middleware]
        known = sorted({each.name for name in asked if name in workers for each in workers[name].description.options})
        for option in choice.options if every or choice.middleware in workers else ():
            problem = f"`{choice.middleware}` has no option `{option}`"
            yield ("middlewares", number, "options", option), problem, option, known


def _profiles(choices: Sequence[MiddlewareChoice], profiles: Sequence[str], workers: Mapping[str, Worker]) -> Asked:
    known = sorted({profile for worker in workers.values() for profile in worker.description.profiles})
    for profile in profiles:
        yield ("profiles",), f"no middleware has a profile `{profile}`", profile, known
    for number, choice in enumerate(choices):
        for profile in choice.profiles or ():
            yield ("middlewares", number, "profiles"), f"no middleware has a profile `{profile}`", profile, known
