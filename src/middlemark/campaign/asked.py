"""Whether what a suite asks of its middlewares by name is there: their options and profiles.

The suite's models can't know these, as only the workers do; so it is asked here, before anything runs, and answered
with the place in the suite's file. Values are the worker's own to judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from middlemark.campaign.grounds import Worker
from middlemark.suite import ALL_MIDDLEWARES, LoadedSuite
from middlemark.suite.document import Path, read_document
from middlemark.suite.model import closest_first


def check(loaded: LoadedSuite, workers: Mapping[str, Worker]) -> None:
    """Refuses the first name in the suite that no worker knows."""
    if not workers:
        return  # that there are none is the first thing to say, and `plan` says it
    for path, problem, name, known in (*_options(loaded, workers), *_profiles(loaded, workers)):
        if name not in known:
            document = read_document(loaded.text, file=loaded.file)
            raise document.error(problem, path, closest_first(name, known))


Asked = Iterator[tuple[Path, str, str, list[str]]]


def _options(loaded: LoadedSuite, workers: Mapping[str, Worker]) -> Asked:
    for number, choice in enumerate(loaded.suite.middlewares):
        every = choice.middleware == ALL_MIDDLEWARES
        asked = list(workers) if every else [choice.middleware]
        known = sorted({each.name for name in asked if name in workers for each in workers[name].description.options})
        for option in choice.options if every or choice.middleware in workers else ():
            problem = f"`{choice.middleware}` has no option `{option}`"
            yield ("middlewares", number, "options", option), problem, option, known


def _profiles(loaded: LoadedSuite, workers: Mapping[str, Worker]) -> Asked:
    known = sorted({profile for worker in workers.values() for profile in worker.description.profiles})
    for profile in loaded.suite.profiles:
        yield ("profiles",), f"no middleware has a profile `{profile}`", profile, known
    for number, choice in enumerate(loaded.suite.middlewares):
        for profile in choice.profiles or ():
            yield ("middlewares", number, "profiles"), f"no middleware has a profile `{profile}`", profile, known
