"""Writes what a run found into the pages of its middlewares, as a table between two marks that name the run's suite.

`python setup/pages/measurements.py RUN`, of the suite `sizes` or of one in `setup/pages/settings`. A row is a
configuration, a column a load. A run of `delivery` is one table of all middlewares, on the page about fairness. A page
without the marks is left as it is, and so is all that stands beside them.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import middlemark
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.stats.estimate import Estimate
from middlemark.plan import Experiment
from middlemark.report.elements.formatting import MICROSECONDS, MILLISECONDS, Unit, interval
from middlemark.results.manifest import Manifest
from middlemark.suite.metrics import TRIAL, Key, stream_subject

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES, FAIRNESS = DOCS / "middlewares", DOCS / "background/fairness.md"
BEGIN, END = "<!-- what follows is written by setup/pages/measurements.py: {suite} -->", "<!-- until here -->"
SETTINGS = "settings"
"""The name of every suite in the folder of that name."""
DELIVERY = "delivery"
FIRST, FIRST_MESSAGE = "first message", "first_message_ns"
ONE_WAY, ROUND_TRIP, GOODPUT = "latency_from_send_p50_ns", "round_trip_p50_ns", "goodput_bytes_per_s"
UNDELIVERED = "undelivered_share"
KINDS = {
    "periodic": ("one way", "", ONE_WAY),
    "ping_pong": ("round trips", "round trip, ", ROUND_TRIP),
    "unthrottled": ("as fast as possible", "messages a second, ", GOODPUT),
}
"""By pattern: what its loads are called, how the titles of its columns begin, and its metric."""
WORDS = (
    "each process on a CPU of its own that is kept awake. Medians over trials of each trial's median, with their "
    "intervals."
)


def main() -> None:
    run = middlemark.load(sys.argv[1])
    in_order = sorted(run.findings.experiments, key=lambda each: each.experiment.middleware)
    if run.manifest.suite == DELIVERY:
        write(FAIRNESS, DELIVERY, about(run.manifest, DELIVERY, in_order), by_delivery(in_order))
        return
    for middleware, group in groupby(in_order, key=lambda each: each.experiment.middleware):
        found = list(group)
        suite = run.manifest.suite
        shown = suite if suite != SETTINGS else f"setup/pages/settings/{middleware}.yaml"
        library = f", library {run.manifest.middlewares[middleware].library.version}"
        write(PAGES / f"{middleware}.md", suite, about(run.manifest, shown, found, library), table(found))


def write(page: Path, suite: str, said: str, body: str) -> None:
    """Puts it between the marks of this suite."""
    page.write_text(replaced(page.read_text(encoding="utf-8"), suite, said, body), encoding="utf-8")


def about(manifest: Manifest, suite: str, found: Sequence[ExperimentFindings], library: str = "") -> str:
    """How and where it was measured."""
    where = f"{manifest.started_at[:10]}, {manifest.machine_in_short}{library}"
    return f"`middlemark run {suite}`, {where}: {loads([each.experiment for each in found])}; {WORDS}"


def loads(experiments: Sequence[Experiment]) -> str:
    """Of each kind of load its reliability, and what happens where there is no room; where these differ, by size."""
    sizes: dict[str, dict[str, list[str]]] = {pattern: defaultdict(list) for pattern in KINDS}
    for each in sorted(experiments, key=_place):
        reliability = each.factors["reliability"].replace("_", " ")
        with_qos = sizes[each.factors["pattern"]][f"{reliability} (`{each.factors['congestion']}`)"]
        with_qos += [size for size in [each.factors["size"]] if size not in with_qos]
    said = {KINDS[pattern][0]: by_qos for pattern, by_qos in sizes.items() if by_qos}
    return "; ".join(f"{kind} {_by_size(by_qos)}" for kind, by_qos in said.items())


def _by_size(by_qos: Mapping[str, list[str]]) -> str:
    if len(by_qos) == 1 or len(set(map(tuple, by_qos.values()))) == 1:
        return " or ".join(by_qos)
    return ", ".join(f"{qos} with {' and '.join(of_qos)}" for qos, of_qos in by_qos.items())


def table(found: Sequence[ExperimentFindings]) -> str:
    """In Markdown, a row for each configuration and a column for each load."""
    named = row_factors([each.experiment for each in found])
    in_order = sorted(found, key=lambda each: _place(each.experiment))
    columns = dict.fromkeys(column(each.experiment) for each in in_order)
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for each in reversed(in_order):
        cells = rows[row(each.experiment, named)]
        cells[column(each.experiment)] = cell(each)
        # Of the smallest load, which comes last.
        cells[FIRST] = written(each.estimates.get(Key(TRIAL, FIRST_MESSAGE)), "")
    columns[FIRST] = None
    return markdown(list(columns), rows)


def by_delivery(found: Sequence[ExperimentFindings]) -> str:
    """In Markdown, a row for each middleware and a column for each delivery."""
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for each in found:
        rows[f"`{each.experiment.middleware}`"][f"`{each.experiment.factors[DELIVERY]}`"] = cell(each)
    return markdown(sorted({column for cells in rows.values() for column in cells}), rows)


def markdown(columns: Sequence[str], rows: Mapping[str, Mapping[str, str]]) -> str:
    """A table with its rows in the order of their names."""
    head = f"| | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}"
    lines = [f"| {name} | {' | '.join(rows[name].get(column, '–') for column in columns)} |" for name in sorted(rows)]
    return "\n".join([head, *lines])


def _place(experiment: Experiment) -> tuple[int, int]:
    """Of a column: by the kind of its load, then by size."""
    return list(KINDS).index(experiment.factors["pattern"]), experiment.streams[0].size_bytes


def row_factors(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    """The factors that name a row: those of its configuration, and its reliability where a load is sent with both."""
    options = dict.fromkeys(name for each in experiments for name in each.factors if name.startswith("option."))
    of_configuration = ("profile", *options, "delivery", "level")
    cells = Counter((column(each), row(each, of_configuration)) for each in experiments)
    return (*of_configuration, *(["reliability"] if max(cells.values()) > 1 else []))


def row(experiment: Experiment, named: Sequence[str]) -> str:
    """What a configuration sets."""
    profile, *others = [(name, experiment.factors[name]) for name in named if name in experiment.factors]
    return ", ".join([f"`{profile[1]}`", *(f"`{name.removeprefix('option.')}: {value}`" for name, value in others)])


def column(experiment: Experiment) -> str:
    """What is sent."""
    _, title, _ = KINDS[experiment.factors["pattern"]]
    return f"{title}{experiment.factors['size']}"


def cell(found: ExperimentFindings) -> str:
    """What a load is judged by, with its interval, and how much of it never came."""
    (stream,) = found.experiment.streams
    subject = stream_subject(stream.name)
    _, _, metric = KINDS[found.experiment.factors["pattern"]]
    lost = found.estimates.get(Key(subject, UNDELIVERED))
    missing = f", {100 * lost.value:.2g} % undelivered" if lost is not None and lost.value else ""
    return written(found.estimates.get(Key(subject, metric)), missing, stream.size_bytes * (metric == GOODPUT))


def written(judged: Estimate | None, missing: str, size_bytes: int = 0) -> str:
    """A time, or of a goodput how many messages of this size a second; in one unit with its interval."""
    if judged is None or judged.value is None:
        return f"–{missing}"
    is_long = max(judged.value, judged.high or 0) >= 1e6
    unit = Unit("thousand", 1000 * size_bytes) if size_bytes else MILLISECONDS if is_long else MICROSECONDS
    ends = interval(judged, unit)
    return f"{unit.write(judged.value)} {unit.name}{f' ({ends})' * bool(ends)}{missing}"


def replaced(page: str, suite: str, said: str, body: str) -> str:
    """The page with this between the marks of this suite, where it has them."""
    before, mark, rest = page.partition(BEGIN.format(suite=suite))
    _, end, after = rest.partition(END)
    return f"{before}{mark}\n\n{said}\n\n{body}\n\n{end}{after}" if mark and end else page


if __name__ == "__main__":
    main()
