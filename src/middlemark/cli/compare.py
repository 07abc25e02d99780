"""`middlemark compare`: what differs between two runs, or within one run between the values of a factor.

It reads the runs and finds base and head in them, also for `middlemark gate`; `analysis.compare` pairs and compares
their experiments, and `report.conclusions.comparison` shows the result.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.arguments import Trust, analysed
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from middlemark.analysis.compare.metrics import MetricComparison
    from middlemark.analysis.compare.pairing import Pairs
    from middlemark.suite.metrics import Metric


def check_sides(command: str, runs: Sequence[Path], by: str | None, base: str | None, *, trust: bool) -> None:
    """Refuses anything but several runs, or one run and a factor."""
    from middlemark.errors import UsageError

    is_single = len(runs) == 1
    if is_single is (by is None) and (not is_single or not _has_sides(runs[0], trust)):
        several = "two runs" if command == "compare" else "runs of the base and the head"
        others = f"{runs[0]} OTHER_RUN" if command == "compare" else f"BASE_1 BASE_2 BASE_3 {runs[-1]}"
        raise UsageError(
            f"{command} takes {several}, or one run with `--by`, or one run that was made with `--against`",
            remedy=f"middlemark {command} {runs[0]} --by middleware, or middlemark {command} {others}",
        )
    if base is not None and by is None:
        raise UsageError(
            "`--base` names a value of the factor that `--by` names",
            remedy=f"middlemark {command} {runs[0]} --by middleware --base {base}; of runs the last is the head",
        )


def _has_sides(run: Path, trust: bool) -> bool:
    from middlemark.results.run_folder import RunFolder

    return bool(RunFolder(run, is_trusted=trust).read_manifest().against)


def pair_two_runs(first: Path, second: Path, only: Sequence[str], *, trust: bool) -> "Pairs":
    """Read and analyse two runs, and pair their experiments."""
    from middlemark.analysis.compare.pairing import pair_runs

    return pair_runs(*(analysed(path, only, trust=trust) for path in (first, second)))


def pair_within(run: Path, by: str | None, base: str | None, only: Sequence[str], *, trust: bool) -> "Pairs":
    """Read and analyse one run, and pair its experiments by a factor, or by the sides that it has."""
    from middlemark.analysis.compare.pairing import pair_within_run
    from middlemark.plan import Side
    from middlemark.plan.factors import SIDE_FACTOR

    findings = analysed(run, only, trust=trust)
    return pair_within_run(findings.comparable, by or SIDE_FACTOR, base if by else Side.BASE)


def pair_with_bases(runs: Sequence[Path], only: Sequence[str], *, across_machines: bool, trust: bool) -> "Pairs":
    """Read and analyse runs of the base and, the last, the head, and pair their experiments."""
    from middlemark.analysis.compare.pairing import check_alike, pair_with_base_runs
    from middlemark.results.run_folder import RunFolder

    folders = [RunFolder(path, is_trusted=trust) for path in runs]
    check_alike([(str(folder.path), folder.read_manifest()) for folder in folders], across_machines=across_machines)
    *bases, head = (analysed(path, only, trust=trust) for path in runs)
    return pair_with_base_runs(bases, head)


def command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    first: Annotated[Path, typer.Argument(metavar="A", help="A run folder: the base.")],
    second: Annotated[Path | None, typer.Argument(metavar="B", help="The run to compare with it.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="FACTOR", help="Within one run: compare the values of this factor.")
    ] = None,
    base: Annotated[str | None, typer.Option(metavar="VALUE", help="With --by: compare only with this value.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Only experiments with this factor value; may be repeated.")
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "--figure",
            metavar="NAME",
            help="Compare this metric: `p99(latency)`, `loss`, `cpu`, …; may be repeated.",
        ),
    ] = None,
    streams: Annotated[
        bool, typer.Option("--streams", help="For pipelines, compare every stream too, not only the chains.")
    ] = False,
    margin: Annotated[
        float,
        typer.Option(metavar="PERCENT", min=0, max=100, help="Ratios within this percentage of 1 count as equal."),
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")] = False,
    trust: Trust = False,
) -> None:
    """Compare two runs, or the values of one factor within a run, and show significant differences."""
    check_sides("compare", [first] if second is None else [first, second], by, base, trust=trust)
    from middlemark.analysis.compare.metrics import compare_metrics, compare_usual_metrics, over_settings
    from middlemark.suite.metrics import metric_named as named
    from middlemark.suite.metrics import usual_metrics

    _check_streams(streams, wanted)
    metrics = [named(name) for name in wanted or ()]
    chosen = only or []
    pairs = (
        pair_two_runs(first, second, chosen, trust=trust)
        if second
        else pair_within(first, by, base, chosen, trust=trust)
    )
    compared = (
        compare_metrics(pairs.pairs, metrics, margin / 100)
        if metrics
        else compare_usual_metrics(pairs.pairs, margin / 100, streams=streams)
    )
    _check_metrics(compared, metrics or usual_metrics())
    if as_json:
        _print_data(compared, pairs, margin / 100)
        return
    from middlemark.report.conclusions.comparison import print_compared
    from middlemark.report.elements.plain_text import Screen
    from middlemark.report.output.terminal import print_over_settings

    print_compared(compared, margin / 100, Screen())
    print_over_settings(over_settings(compared), Screen())
    for text in pairs.alone:
        say(text)
    if not metrics and not streams and any(pair.sides[0].experiment.chains for pair in pairs.pairs):
        say("For pipelines the chains are compared; --streams adds every stream.")


def _print_data(compared: "Sequence[MetricComparison]", pairs: "Pairs", margin: float) -> None:
    from middlemark.analysis.compare.metrics import over_settings
    from middlemark.report.conclusions import over_settings as means
    from middlemark.report.conclusions.comparison import comparison_data

    document = {
        "margin_share": margin,
        "comparisons": comparison_data(compared),
        "over_settings": means.means_data(over_settings(compared)),
        "alone": pairs.alone,
    }
    say(json.dumps(document, indent=2))


def _check_streams(streams: bool, wanted: list[str] | None) -> None:
    from middlemark.errors import UsageError

    if streams and wanted:
        raise UsageError(
            "--streams adds the usual metrics of streams, and --metric names those to compare",
            remedy="omit one of the two: a metric of streams, such as `p99(latency)`, is compared for every stream",
        )


def _check_metrics(compared: "Sequence[object]", metrics: "Sequence[Metric]") -> None:
    from middlemark.errors import UsageError

    if not compared:
        raise UsageError(
            f"no stream of these runs has {', '.join(metric.name for metric in metrics)}",
            remedy="messages have a latency, ping-pongs a round trip; `middlemark report` shows all metrics",
        )
