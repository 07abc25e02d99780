"""What `middlemark run --dry-run` prints: the experiments, their trials in the order of running, and how long it takes.

It plans nothing: it shows a plan that is given.
"""

from collections import defaultdict
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from middlemark.plan import Experiment, Trial, campaign_duration_ns, varying_factors
from middlemark.report.pipeline_text import pipeline_text

_IMPLIED_BY_WORKLOAD = ("pattern", "arrival")


def print_plan(trials: Sequence[Trial], console: Console) -> None:
    """Print the plan as a table, one row an experiment."""
    numbers: dict[str, list[str]] = defaultdict(list)
    for trial in trials:
        watched = f" ({trial.observation})" if trial.observation else ""
        numbers[trial.experiment.id].append(f"{trial.number}{watched}")
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
    console.print(_total(experiments, trials))


def _print_graphs(experiments: Sequence[Experiment], console: Console) -> None:
    """Each pipeline once on each topology, whatever carries it."""
    graphs = {(each.workload, each.topology, pipeline_text(each)): None for each in experiments if each.nodes}
    for workload, topology, text in graphs:
        console.print(Text(f"{workload} on {topology}", style="bold"))
        console.print(Text(text), soft_wrap=True)


def _cells(experiment: Experiment, varying: Sequence[str], numbers: Sequence[str]) -> list[Text]:
    window = f"{experiment.windows.window_ns / 1e9:g} s"
    cells = [*(experiment.factors.get(name, "") for name in varying), window, ", ".join(numbers)]
    return [Text(cell) for cell in cells]


def _shared(experiment: Experiment, varying: Sequence[str]) -> Text:
    shared = ", ".join(f"{name} {value}" for name, value in experiment.factors.items() if name not in varying)
    return Text(f"all of them: {shared}", style="dim")


def _total(experiments: Sequence[Experiment], trials: Sequence[Trial]) -> str:
    minutes, seconds = divmod(round(campaign_duration_ns(trials) / 1e9), 60)
    blocks = trials[-1].block
    observations = len({trial.observation for trial in trials}) - 1
    each = f"{blocks} × (1 unobserved + {observations} observed)" if observations else f"{blocks}"
    return (
        f"{len(experiments)} experiments × {each} trials = {len(trials)} trials in {blocks} blocks, "
        f"about {minutes} min {seconds:02} s"
    )
