"""What would run, as `run --dry-run` and `recommend --dry-run` print it: experiments, their trials in order, the time.

It plans nothing; `campaign.order` does. `run` and `recommend` run what was planned.
"""

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rich.text import Text

    from middlemark.campaign.order import Order
    from middlemark.plan import Experiment, NotApplicable, Trial
    from middlemark.report.elements.plain_text import Screen

MOST_STREAMS_SHOWN = 12
"""More streams than these are counted in a plan; the file has each of them."""
_IMPLIED_BY_WORKLOAD = ("pattern", "arrival")


def show_plan(order: "Order", as_json: bool) -> None:
    """Print what would run."""
    if as_json:
        say(json.dumps([trial.model_dump(mode="json") for trial in order.trials], indent=2))
        return
    from middlemark.campaign.checks.refusals import refusals
    from middlemark.report.elements.plain_text import Screen

    refused = refusals(order.trials, order.workers)
    print_plan(order.trials, Screen(), refused)
    for line in (*left_out_words(order), *_refused_words(order, refused), *_left_to_results(order)):
        say(line)


def left_out_words(order: "Order") -> list[str]:
    """What the suite would measure had it a worker here."""
    return [f"{middleware} is left out: {reason}" for middleware, reason in order.left_out.items()]


def _refused_words(order: "Order", refused: "Mapping[str, NotApplicable]") -> list[str]:
    """Which experiments will have no trial, each reason once."""
    from middlemark.analysis.experiment.refused import refused_once

    experiments = {trial.experiment.id: trial.experiment for trial in order.trials}
    reasons = refused_once((experiments[id_], reason.reason) for id_, reason in refused.items())
    return [f"not applicable: {reason}" for reason in reasons]


def _left_to_results(order: "Order") -> list[str]:
    """Which trials can't be planned yet."""
    from middlemark.suite import Suite

    stop = order.definition.stop if isinstance(order.definition, Suite) else None
    of_searches = [trial.experiment.search.max_trials for trial in order.trials if trial.experiment.search]
    narrow = (
        [f"then more blocks until intervals are narrow enough, at most {stop.max_trials} trials each"] if stop else []
    )
    return narrow + ([f"then each search continues, with at most {max(of_searches)} trials"] if of_searches else [])


def print_plan(trials: "Sequence[Trial]", console: "Screen", refused: "Collection[str]" = ()) -> None:
    """Print the plan as a table, one row an experiment; those that are refused take no time."""
    from rich import box
    from rich.table import Table

    from middlemark.plan import varying_factors

    numbers: dict[str, list[str]] = defaultdict(list)
    for trial in trials:
        observation = f" ({trial.observation})" if trial.observation else ""
        numbers[trial.experiment.id].append(f"{trial.number}{observation}")
    experiments = list({trial.experiment.id: trial.experiment for trial in trials}.values())
    experiments.sort(key=lambda experiment: list(experiment.factors.values()))

    varying = varying_factors(experiments)
    shown = [name for name in varying if name not in _IMPLIED_BY_WORKLOAD]
    table = Table(box=box.SIMPLE_HEAD)
    for name in shown:
        table.add_column(name)
    table.add_column("window", justify="right")
    table.add_column("runs as trial", style="dim")
    for experiment in experiments:
        table.add_row(*_cells(experiment, shown, numbers[experiment.id]))
    console.print(table)
    _print_graphs(experiments, console)
    console.print(_shared(experiments[0], varying))
    console.print(_total(experiments, trials, refused))


def _print_graphs(experiments: "Sequence[Experiment]", console: "Screen") -> None:
    """Each pipeline once on each topology, whatever middleware it runs on."""
    from rich.text import Text

    from middlemark.report.elements.topology_text import pipeline_text

    graphs = {
        (experiment.workload, experiment.topology, pipeline_text(experiment)): None
        for experiment in experiments
        if experiment.nodes
    }
    for workload, topology, text in graphs:
        console.print(Text(f"{workload} on {topology}", style="bold"))
        console.print(Text(text), soft_wrap=True)


def _cells(experiment: "Experiment", varying: "Sequence[str]", numbers: "Sequence[str]") -> "list[Text]":
    from rich.text import Text

    window = f"{experiment.windows.window_ns / 1e9:g} s"
    cells = [*(experiment.factors.get(name, "") for name in varying), window, ", ".join(numbers)]
    return [Text(cell) for cell in cells]


def _shared(experiment: "Experiment", varying: "Sequence[str]") -> "Text":
    from rich.text import Text

    shared = {name: value for name, value in experiment.factors.items() if name not in varying}
    streams = [name for name in shared if name.startswith("stream.")]
    if len(streams) > MOST_STREAMS_SHOWN:
        shared = {name: value for name, value in shared.items() if name not in streams}
        shared[f"{len(streams)} streams"] = "as the file has them"
    return Text(f"all of them: {', '.join(f'{name} {value}' for name, value in shared.items())}", style="dim")


def _total(experiments: "Sequence[Experiment]", trials: "Sequence[Trial]", refused: "Collection[str]") -> str:
    from middlemark.plan import campaign_duration_ns
    from middlemark.suite.yaml.quantity import plural

    measured = [trial for trial in trials if trial.experiment.id not in refused]
    minutes, seconds = divmod(round(campaign_duration_ns(measured) / 1e9), 60)
    blocks = trials[-1].block
    observed = sum(trial.observation is not None for trial in trials) // len(experiments)
    trials_of_one = f"({blocks} unobserved + {observed} observed) trials" if observed else plural(blocks, "trial")
    without = f", {len(trials) - len(measured)} of them not applicable," if refused else ""
    return (
        f"{plural(len(experiments), 'experiment')} × {trials_of_one} = "
        f"{plural(len(trials), 'trial')}{without} in {plural(blocks, 'block')}, about {minutes} min {seconds:02} s"
    )
