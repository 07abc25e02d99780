"""What a suite or a demand names and no worker, metric or experiment has is refused, with its line in the user's file.

It knows what workers say of themselves, and neither finds them nor plans: `order` does both and asks here first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from middlemark.errors import SuiteError, UsageError
from middlemark.plan import Experiment, is_selected
from middlemark.suite import ALL_MIDDLEWARES, LoadedDemand, LoadedSuite, MiddlewareChoice, Selection
from middlemark.suite.claims.claim import STREAM
from middlemark.suite.metrics import PLAIN, metric_named
from middlemark.suite.yaml.document import KeyPath, read_document
from middlemark.suite.yaml.model import closest_first
from middlemark.worker.contract import Description

_WITH_A_WIDTH = ", ".join(
    ("a latency", *(f"`{row.name}`" for row in PLAIN if not (row.of_search or row.is_share or row.observed_by)))
)
"""The metrics that a `stop` may be on, in words."""


def check_settings(loaded: LoadedSuite, descriptions: Mapping[str, Description]) -> None:
    """Refuses the first name in the suite that no worker knows."""
    _check_stop(loaded)
    _check(loaded, loaded.suite.middlewares, loaded.suite.profiles, descriptions)


def check_demand(loaded: LoadedDemand, descriptions: Mapping[str, Description]) -> None:
    """Refuses the first name in the demand that no worker knows."""
    _check(loaded, loaded.demand.middlewares, loaded.demand.profiles or (), descriptions)


def _check(
    loaded: LoadedSuite | LoadedDemand,
    choices: Sequence[MiddlewareChoice],
    profiles: Sequence[str],
    descriptions: Mapping[str, Description],
) -> None:
    if not descriptions:
        return  # that there are none is the first thing to say, and `plan` says it
    of_pairs, of_options = _pairs(choices, descriptions), _options(choices, descriptions)
    for path, problem, name, allowed in (*of_pairs, *of_options, *_profiles(choices, profiles, descriptions)):
        if name not in allowed:
            document = read_document(loaded.text, file=loaded.file)
            raise document.error(problem, path, closest_first(name, allowed) or "none that is here")


def _check_stop(loaded: LoadedSuite) -> None:
    """Refuses a `stop` on what is no metric, or is a share: a width relative to a loss of zero says nothing."""
    for number, precision in enumerate(loaded.suite.stop.figures or () if loaded.suite.stop else ()):
        path = ("stop", "figures", number)
        document = read_document(loaded.text, file=loaded.file)
        try:
            metric = metric_named(precision.figure)
        except UsageError as unknown:
            raise document.error(unknown.text, path, unknown.remedy) from unknown
        if metric.of_search:
            problem = f"`{precision.figure}` belongs to searches, which have `searches` and `max_trials` of their own"
            raise document.error(problem, path, _WITH_A_WIDTH)
        if metric.is_share:
            problem = f"`{precision.figure}` is a share, which may be 0 and so has no relative width"
            raise document.error(problem, path, _WITH_A_WIDTH)
        if metric.observed_by is not None:
            problem = f"`{precision.figure}` is measured in trials with the observation {metric.observed_by} alone"
            raise document.error(problem, path, _WITH_A_WIDTH)


Choices = Iterator[tuple[KeyPath, str, str, list[str]]]
"""Where the suite names something, what is wrong where it is not known, its name, and the names that are known."""


def _options(choices: Sequence[MiddlewareChoice], descriptions: Mapping[str, Description]) -> Choices:
    for number, choice in enumerate(choices):
        every = choice.middleware == ALL_MIDDLEWARES
        described = [name for name in (descriptions if every else choice.workers) if name in descriptions]
        allowed = sorted({row.name for name in described for row in descriptions[name].options})
        for option in choice.options if every or len(described) == len(choice.workers) else ():
            problem = f"`{choice.middleware}` has no option `{option}`"
            yield ("middlewares", number, "options", option), problem, option, allowed


def _pairs(choices: Sequence[MiddlewareChoice], descriptions: Mapping[str, Description]) -> Choices:
    """The subscribers of a pair are among those that its publishers have a protocol with."""
    for number, choice in enumerate(choices):
        publishers, subscribers = choice.pair or ("", "")
        if publishers in descriptions and subscribers in descriptions:
            spoken = descriptions[publishers].protocols or []
            allowed = [
                name
                for name, other in descriptions.items()
                if name != publishers and any(protocol in spoken for protocol in other.protocols or ())
            ]
            problem = f"`{subscribers}` speaks no protocol in which it understands `{publishers}`"
            yield ("middlewares", number, "subscribers"), problem, subscribers, allowed


def _profiles(
    choices: Sequence[MiddlewareChoice], profiles: Sequence[str], descriptions: Mapping[str, Description]
) -> Choices:
    allowed = sorted({profile for description in descriptions.values() for profile in description.profiles})
    for profile in profiles:
        yield ("profiles",), f"no middleware has a profile `{profile}`", profile, allowed
    for number, choice in enumerate(choices):
        for profile in choice.profiles or ():
            yield ("middlewares", number, "profiles"), f"no middleware has a profile `{profile}`", profile, allowed


def check_claims(loaded: LoadedSuite, experiments: Sequence[Experiment], left_out: Collection[str] = ()) -> None:
    """Refuses the first claim that selects no experiment."""
    every = any(choice.middleware == ALL_MIDDLEWARES for choice in loaded.suite.middlewares)
    for number, claim in enumerate(loaded.suite.claims):
        for selection in claim.selections:
            middleware = dict(selection.factors).get("middleware")
            if middleware is not None and (every or middleware in left_out):
                selection = _without_middleware(selection)  # noqa: PLW2901 - who has no worker here is left out, not wrong
            if not any(is_selected(experiment, selection) for experiment in experiments):
                raise _refusal(loaded, number, selection, experiments)


def _without_middleware(selection: Selection) -> Selection:
    return Selection(tuple(pair for pair in selection.factors if pair[0] != "middleware"))


def _refusal(loaded: LoadedSuite, number: int, selection: Selection, experiments: Sequence[Experiment]) -> SuiteError:
    document = read_document(loaded.text, file=loaded.file)
    for name, value in selection.factors:
        values = _values(name, experiments)
        if not values:
            factors = sorted({factor for experiment in experiments for factor in experiment.factors} | {STREAM})
            return document.error(f"no factor `{name}`", ("claims", number), closest_first(name, factors))
        if not any(is_selected(experiment, Selection(((name, value),))) for experiment in experiments):
            problem = f"no experiment of the suite has {name}={value}"
            return document.error(problem, ("claims", number), f"{name}: {closest_first(value, values)}")
    return document.error(
        f"no experiment of the suite has all of {selection}",
        ("claims", number),
        "a selection that an experiment has; `middlemark run --dry-run` shows them",
    )


def _values(name: str, experiments: Sequence[Experiment]) -> list[str]:
    if name == STREAM:
        return sorted({stream.name for experiment in experiments for stream in experiment.streams})
    return sorted({experiment.factors[name] for experiment in experiments if name in experiment.factors})
