"""What a report calls things: series and their colours, libraries, deliveries, settings, and the trials behind each.

Colours go to middlewares in the order of their names, one each throughout a report; the dash of a line tells the
configurations of one middleware apart. A setting is a set of factors, as `analysis.compare` groups experiments by: in
words it is its load, and what tells it from a run's other settings. No middleware is known here by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from middlemark.plan import Experiment, Side
from middlemark.report.elements.formatting import count_range, listed
from middlemark.report.elements.tables import NOTHING, Cell, Column, Holds
from middlemark.results.manifest import Dissector, Library, Manifest
from middlemark.suite import OPTION
from middlemark.suite.metrics import Distribution

if TYPE_CHECKING:
    from middlemark.analysis.compare.comparison import Comparison, Setting
    from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome
    from middlemark.analysis.stats.estimate import Estimate
    from middlemark.worker import contract

PAIRED = " → "
"""Between the publishers and the subscribers of a pair."""
NO_LIBRARY = "none"
"""The name that sockets, the ring and the synthetic middleware give for their library."""
COLOURS = 12
"""As many as the style sheet has (`--series-0` …); tellable apart with any common colour blindness, light and dark."""
DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (14, 4))
"""Solid, dashed, dotted, dash and dot, long dashes: a middleware's configurations in the order of their names."""
LOAD = ("workload", "pattern", "size", "rate", "messages", "topics", "reliability", "topology")
"""The factors that words of a load have in any case."""
CONDITIONS = ("deployment", "cpu_load", "security", "faults", "link", "host")
"""Those that are said wherever they are set; those of one link or host begin with its word."""


@dataclass(frozen=True)
class Series:
    """A middleware in one configuration."""

    middleware: str
    label: str
    title: str
    configuration: str
    """Profile and options in words."""
    version: str
    baseline: bool
    """Raw sockets or shared memory: the limit of the machine, not a middleware."""
    number: int
    """The middleware's among those of the run."""
    place: int
    """The configuration's among the middleware's."""
    dissectors: tuple[Dissector, ...] = ()
    """By which Wireshark shows what it puts on the wire."""
    titles: tuple[str, ...] = ()
    """Of a pair, who publishes and who subscribes; of all others the one title."""

    @property
    def colour(self) -> str:
        """The style sheet's variable."""
        return f"var(--series-{self.number % COLOURS})"

    @property
    def dash(self) -> tuple[int, ...]:
        """The line's pattern in charts; it tells those apart, too, that share a colour because there are so many."""
        return DASHES[(self.place + self.number // COLOURS) % len(DASHES)]

    @property
    def key(self) -> str:
        """The address of its line in legends, which the page draws once."""
        return f"key-{self.number % COLOURS}-{DASHES.index(self.dash)}"

    @property
    def dash_array(self) -> str:
        """The same for SVG."""
        return "none" if self.dash == DASHES[0] else " ".join(map(str, self.dash))


def series_by_experiment(manifest: Manifest, experiments: Iterable[Experiment]) -> dict[str, Series]:
    """By experiment id. A profile is part of the label only where a run has several of that middleware."""
    listed = list(experiments)
    order = sorted({experiment.middleware for experiment in listed})
    configurations: dict[str, set[str]] = {name: set() for name in order}
    for experiment in listed:
        configurations[experiment.middleware].add(_configuration(experiment))
    by_id = {}
    for experiment in listed:
        stored = manifest.base if experiment.side is Side.BASE else manifest.middlewares
        accounts = [stored.get(name) for name in experiment.middlewares]
        titles = tuple(
            account.title if account else name for account, name in zip(accounts, experiment.middlewares, strict=True)
        )
        title = PAIRED.join(titles)
        several = len(configurations[experiment.middleware]) > 1
        by_id[experiment.id] = Series(
            middleware=experiment.middleware,
            label=f"{title} ({_configuration(experiment)})" if several else title,
            title=title,
            titles=titles,
            configuration=_configuration(experiment),
            version=PAIRED.join(account.library.version if account else "unknown" for account in accounts),
            baseline=all(account is not None and account.library.name == NO_LIBRARY for account in accounts),
            number=order.index(experiment.middleware),
            place=sorted(configurations[experiment.middleware]).index(_configuration(experiment)),
            dissectors=tuple(dict.fromkeys(shown for account in accounts if account for shown in account.dissectors)),
        )
    return by_id


def _configuration(experiment: Experiment) -> str:
    options = [f"{name}={value}" for name, value in sorted(experiment.options.items())]
    return ", ".join([experiment.profile, *options, *([experiment.side] if experiment.side else [])])


Trials = tuple[tuple[str, tuple["TrialOutcome", ...]], ...]
"""By name, with how each ended."""


def trials_of(comparison: Comparison, series_of: Mapping[str, Series]) -> Trials:
    """Those of a setting, observed ones too."""
    return trials_behind(
        (series_of[candidate.experiment.id].label, findings)
        for candidate in comparison.experiments
        for findings in (candidate, *candidate.observed.values())
    )


def trials_behind(shown: Iterable[tuple[str, ExperimentFindings]]) -> Trials:
    """Those of all that stands under one name together."""
    by_name: dict[str, tuple[TrialOutcome, ...]] = {}
    for name, candidate in shown:
        by_name[name] = (*by_name.get(name, ()), *candidate.outcomes)
    return tuple(by_name.items())


def n_of_distribution(drawn: Sequence[ExperimentFindings], comparison: Comparison, kind: Distribution) -> str:
    """The n of a distribution of the setting's stream or chain.

    It may be drawn with too few messages for a quantile.
    """
    subject, metric = comparison.setting.subject, comparison.criterion.metric
    noun = "path" if comparison.setting.of_chain else "message"
    words = n_words((candidate.estimate(subject, metric) for candidate in drawn), noun)
    samples = [candidate.shapes.curves[comparison.setting.stream, kind].n for candidate in drawn]
    return words or f"n = {count_range(samples, noun)} of all trials together."


def n_words(estimates: Iterable[Estimate | None], noun: str = "message") -> str:
    """`n = 3 trials of 300 messages each.`; empty where nothing was estimated."""
    with_trials = [estimate for estimate in estimates if estimate is not None and estimate.n_trials]
    if not with_trials:
        return ""
    messages = [estimate.n_messages // estimate.n_trials for estimate in with_trials]
    trials = [estimate.n_trials for estimate in with_trials]
    return f"n = {count_range(trials, 'trial')} of {count_range(messages, noun)} each."


def n_trials(estimates: Iterable[Estimate | None]) -> str:
    """`n = 2 to 3 trials.`, of figures that a trial has one of."""
    numbers = [estimate.n_trials for estimate in estimates if estimate is not None and estimate.n_trials]
    return f"n = {count_range(numbers, 'trial')}." if numbers else ""


DAYS_OF_A_YEAR = 365.25


def library_words(library: Library | contract.Library, on: date) -> str:
    """`fastrtps 2.9.1 of 2023-01-31, 3.8 years old`; its age is known where its worker tells it."""
    named = f"{'none, version' if library.name == NO_LIBRARY else library.name} {library.version}"
    if library.released is None:
        return named
    years = (on - date.fromisoformat(library.released)).days / DAYS_OF_A_YEAR
    return f"{named} of {library.released}, {years:.1f} years old"


DELIVERY = Column("delivery", holds=Holds.NAMES)
"""Who called the applications with messages, which makes a part of every latency."""
DIFFER = "; deliveries differ"
"""What ends a headline about middlewares whose deliveries differ."""


def delivery_cell(candidate: ExperimentFindings) -> Cell:
    """The delivery of a row of `DELIVERY`; unknown in runs from before it was recorded."""
    return Cell(candidate.configuration.delivery or "unknown") if candidate.configuration.effective else NOTHING


def deliveries_cell(experiments: Iterable[ExperimentFindings]) -> Cell:
    """The same of a row that is of several experiments: each delivery once."""
    cells = [delivery_cell(candidate) for candidate in experiments]
    return Cell(", ".join(sorted({cell.text for cell in cells if not cell.is_missing})) or None)


def differing_deliveries(experiments: Iterable[ExperimentFindings], series_of: Mapping[str, Series]) -> str:
    """In a sentence, who has which delivery; empty where all have the same."""
    return deliveries_of((series_of[candidate.experiment.id].label, candidate) for candidate in experiments)


def deliveries_of(labelled: Iterable[tuple[str, ExperimentFindings]]) -> str:
    """The same of experiments with names of their own; those that most have are not named one by one."""
    having: dict[str, dict[str, None]] = {}
    for label, candidate in labelled:
        delivery = delivery_cell(candidate)
        if not delivery.is_missing:
            having.setdefault(delivery.text, {})[label] = None
    if len(having) < 2:
        return ""
    *fewer, (usual, labels) = sorted(having.items(), key=lambda item: (len(item[1]), item[0]))
    words = [f"{delivery} ({listed(list(names))})" for delivery, names in fewer]
    last = f"{usual} ({next(iter(labels))})" if len(labels) == 1 else f"all others {usual}"
    return f"Deliveries differ: {'; '.join([*words, last])}."


def distinguishing(comparisons: Sequence[Comparison]) -> frozenset[str]:
    """The factors that tell settings of one workload apart."""
    varying: set[str] = set()
    for workload in {comparison.setting.workload for comparison in comparisons}:
        settings = [
            dict(comparison.setting.factors) for comparison in comparisons if comparison.setting.workload == workload
        ]
        names = {name for factors in settings for name in factors}
        varying |= {name for name in names if len({factors.get(name) for factors in settings}) > 1}
    return frozenset(varying)


def describe_load(setting: Setting, varying: frozenset[str] = frozenset()) -> str:
    """The load in words: `4 MB at 20 Hz, reliable, C1-1`."""
    factors = dict(setting.factors)
    conditions = [
        condition_words(name, value)
        for name, value in factors.items()
        if name not in LOAD and (name in varying or name.split(".")[0] in CONDITIONS)
    ]
    chain = [f"chain {setting.stream.replace('_', ' ')}"] if setting.of_chain else []
    return ", ".join([*chain, load_words({name: factors[name] for name in LOAD if name in factors}), *conditions])


def load_words(factors: Mapping[str, str]) -> str:
    """A load without what is left out of `factors`, conditions as far as they are set."""
    size = factors.get("size", "")
    if "rate" in factors:
        many = f"{factors['messages']} × " if factors.get("pattern") == "burst" and "messages" in factors else ""
        size = f"{many}{size} at {factors['rate']}"
    topics = f"{factors['topics']} topics" if "topics" in factors else ""
    words = [
        size,
        topics,
        factors.get("pattern", "").replace("_", "-"),
        factors.get("reliability", "").replace("_", " "),
    ]
    conditions = [condition_words(name, value) for name, value in factors.items() if name.split(".")[0] in CONDITIONS]
    return ", ".join(word for word in [*words, factors.get("topology", ""), *conditions] if word)


FACTOR_BOUNDARY = re.compile(r" (?=[\w.]+=)")
"""Between the factors of a setting, `size=1 kB rate=200 Hz`, whose values may hold spaces."""


def setting_words(setting: str) -> str:
    """A setting as it is stored, in words: `udp, imu: 1 kB at 200 Hz, best effort, congestion drop`."""
    factors = dict(factor.split("=", 1) for factor in FACTOR_BOUNDARY.split(setting) if "=" in factor)
    names = [factors.pop(name).replace("_", " ") for name in ("middleware", "workload") if name in factors]
    others = [
        condition_words(name.removeprefix(OPTION), value)
        for name, value in factors.items()
        if name not in LOAD and name.partition(".")[0] not in CONDITIONS
    ]
    load = ", ".join(part for part in (load_words(factors), *others) if part)
    return ": ".join(part for part in (", ".join(names), load) if part)


def stream_beside(setting: str, stream: str | None) -> str:
    """A stream's name where the words of its stored setting don't have it; else nothing."""
    is_said = f"workload={stream}" in FACTOR_BOUNDARY.split(setting)
    return "" if stream is None or is_said else stream


def condition_words(name: str, value: str) -> str:
    """A factor as it is said beside others."""
    kind, _, target = name.partition(".")
    value = value.replace("_", " ")
    words = {
        "faults": f"faults: {value}",
        "cpu_load": f"CPU load {value}",
        "security": "without security" if value == "none" else value,
        "link": f"link {target} {value}" if target else f"links {value}",
        "host": f"host {target} {value}",
    }
    named = {"true": name.replace("_", " "), "false": f"not {name.replace('_', ' ')}"}
    plain = kind in {"deployment", "durability", "history"}
    return words.get(kind) or named.get(value) or (value if plain else f"{name.replace('_', ' ')} {value}")
