"""The tables of a reproduced paper: its findings, what stood in for what, and its values beside ours.

It computes nothing: `analysis.decisions.paper_findings` has what was judged and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from middlemark.analysis.compare.published import Pair, PaperComparison, Ratio, by_group
from middlemark.analysis.decisions.paper_findings import JudgedFinding, ReproducedPaper
from middlemark.analysis.experiment.refused import Refused, refused_once
from middlemark.analysis.run import RunFindings
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.conclusions.claims import claims_shown
from middlemark.report.conclusions.comparison import UNITS
from middlemark.report.elements.formatting import ABSENT, MILLISECONDS, Unit, factor
from middlemark.report.elements.labels import deliveries_of
from middlemark.report.elements.tables import Cell, Column, Table, estimate_cell, named, sentences, table, values
from middlemark.suite import Dimension
from middlemark.suite.metrics import Metric
from middlemark.suite.papers import Paper
from middlemark.suite.yaml.quantity import plural

NO_COMMUNICATION = "nothing received"
WHY = "what refutes it, or why it is undecided"
BESIDE = "explained by, measured otherwise"
BOTH_SIDES = "the interval has values that agree with the claim and values that don't: run more trials"
FINDINGS = (
    "A finding holds where every part of its claims does, is refuted where one part is at a level that excludes chance "
    "among all of them, and is undecided otherwise."
)
Group = tuple[tuple[str, str], ...]


def findings_table(findings: Sequence[JudgedFinding]) -> Table:
    """Every finding with its verdict."""
    columns = (*named("finding", "verdict"), sentences("what the paper says"), *values("claims"))
    columns += (sentences(BESIDE), sentences(WHY))
    rows = [
        (
            str(finding.finding.finding),
            finding.judgement.value,
            finding.finding.says,
            came_to(finding),
            beside(finding),
            why(finding),
        )
        for finding in findings
    ]
    return table("Findings", columns, rows, FINDINGS)


def beside(finding: JudgedFinding) -> str:
    """The one setting that it comes from, and what was found otherwise, each with its judgement; empty without any."""
    explained = [f"{finding.explained.explanation.setting}: {finding.explained.judgement}"] if finding.explained else []
    return "; ".join([*explained, *(f"{other.otherwise.how}: {other.judgement}" for other in finding.otherwise)])


def came_to(finding: JudgedFinding) -> str:
    """`3 hold, 1 undecided of 4 (2 experiments not applicable)`."""
    if not finding.claims:
        return ABSENT
    words = {Judgement.HOLDS: "hold", Judgement.REFUTED: "refuted", Judgement.UNDECIDED: "undecided"}
    counts = [f"{finding.count(judgement)} {word}" for judgement, word in words.items() if finding.count(judgement)]
    n = finding.n_not_applicable
    left_out = f" ({plural(n, 'experiment')} not applicable)" if n else ""
    return f"{', '.join(counts)} of {len(finding.claims)}{left_out}"


def why(finding: JudgedFinding) -> str:
    """What refutes it, or why it is undecided and what would decide it; empty where it holds."""
    if finding.judgement is not Judgement.REFUTED:
        return what_decides(finding)
    lines = (shown.line for shown in claims_shown(finding.claims))
    against = [(number, line) for number, line in enumerate(lines, start=1) if line.judgement is Judgement.REFUTED]
    return "; ".join(f"claim {number}: {line.effect}" if line.effect else f"claim {number}" for number, line in against)


def what_decides(finding: JudgedFinding) -> str:
    """Why it is undecided, and what would decide it; empty where it is decided."""
    if finding.judgement is not Judgement.UNDECIDED:
        return ""
    reasons = dict.fromkeys(_reasons(finding))
    return " ".join(part for part in (_sentence("; ".join(reasons)), finding.finding.decided_by) if part)


def _reasons(finding: JudgedFinding) -> Iterable[str]:
    if finding.reason:
        yield finding.reason
    for claim in finding.claims:
        if claim.judgement is Judgement.UNDECIDED:
            parts = [part.reason for part in claim.parts if part.judgement is Judgement.UNDECIDED and part.reason]
            yield claim.reason or (parts[0] if parts else BOTH_SIDES)


def _sentence(text: str) -> str:
    """Without a capital: many begin with a middleware's name, which is written as it is."""
    return f"{text}." if text else ""


def headline(judgements: Sequence[Judgement]) -> str:
    """`4 of 12 findings hold, 2 are refuted, 6 undecided`."""
    count = Counter(judgements)
    hold, are = ("holds" if count[Judgement.HOLDS] == 1 else "hold"), "is" if count[Judgement.REFUTED] == 1 else "are"
    return (
        f"{count[Judgement.HOLDS]} of {plural(len(judgements), 'finding')} {hold}, {count[Judgement.REFUTED]} {are} "
        f"refuted, {count[Judgement.UNDECIDED]} undecided"
    )


def equipment_table(paper: Paper) -> Table:
    """What the paper had, and what stands in its place."""
    columns = (sentences("in the paper"), sentences("here"))
    return table("Equipment", columns, [(equipment.theirs, equipment.here) for equipment in paper.equipment])


def features_table(paper: Paper) -> Table:
    """What the paper says that middlewares offer, and what their workers describe."""
    columns = (*named("feature", "middleware"), sentences("in the paper"), sentences("its worker here"))
    return table(
        "Features",
        columns,
        [(feature.feature, feature.middleware, feature.theirs, feature.here) for feature in paper.features],
    )


def suites_table(reproduced: ReproducedPaper) -> Table:
    """What was run, with a link to each suite's own report."""
    columns = (*named("suite"), *values("report", "experiments", "trials", "not run"), sentences("not applicable"))
    rows: list[tuple[Cell, ...]] = []
    for suite in reproduced.paper.suites:
        run = reproduced.runs.get(suite.suite)
        if run is None:
            reason = reproduced.reproduction.not_run.get(suite.suite, "not begun")
            rows.append((Cell(suite.suite), *(Cell(None) for _ in range(4)), Cell(reason)))
            continue
        reasons = dict.fromkeys(map(str, refused(run)))
        numbers = (len(run.experiments), run.n_trials, len(run.missing))
        left_out = reproduced.reproduction.left_out.get(suite.suite, {})
        reasons |= dict.fromkeys(f"{topology}: {reason}" for topology, reason in left_out.items())
        link = Cell("report", link=f"{suite.suite}/report.html")
        rows.append((Cell(suite.suite), link, *(Cell(float(number)) for number in numbers), Cell("; ".join(reasons))))
    return table("Suites", columns, rows)


def refused(run: RunFindings) -> tuple[Refused, ...]:
    """What workers refused of a suite, each reason once."""
    refusals = ((candidate.experiment, candidate.not_applicable) for candidate in run.experiments)
    return refused_once((experiment, reason) for experiment, reason in refusals if reason)


def value_tables(title: str, compared: PaperComparison) -> tuple[Table, ...]:
    """For each metric: every cell of the paper with ours beside it, and the order of the middlewares in both."""
    metrics = {pair.metric.name: pair.metric for pair in compared.pairs}
    return tuple(_value_table(title, metric, compared) for metric in metrics.values())


def _value_table(title: str, metric: Metric, compared: PaperComparison) -> Table:
    of_metric = [pair for pair in compared.pairs if pair.metric.name == metric.name]
    groups, unit = by_group(of_metric), shown_unit(metric)
    labels = list(dict.fromkeys(pair.series_label for pair in of_metric))
    pairs = (Column(f"{name}, {where}", unit.name) for name in labels for where in ("paper", "here"))
    columns = (*named(*_factors(groups)), *pairs, *named("order in the paper", "order here"))
    rows = [_value_row(group, cells, labels, unit) for group, cells in groups.items()]
    caption = f"Ours are estimates over trials with 95 % intervals. {paper_deliveries(of_metric)}".rstrip()
    return table(f"{title}: {metric.name}", columns, rows, caption)


def paper_deliveries(pairs: Iterable[Pair]) -> str:
    """In a sentence, which of ours has which delivery; empty where all have the same."""
    return deliveries_of((pair.series_label, pair.experiment) for pair in pairs if pair.experiment)


def _value_row(group: Group, cells: Mapping[str, Pair], labels: Sequence[str], unit: Unit) -> list[Cell]:
    setting = [Cell(value) for name, value in group if name != "metric"]
    return [*setting, *_cells(cells, labels, unit), *map(Cell, _orders(cells))]


def shown_unit(metric: Metric) -> Unit:
    """Times of a paper are milliseconds."""
    return MILLISECONDS if metric.dimension is Dimension.TIME else UNITS[metric.dimension]


def _factors(groups: Mapping[Group, object]) -> list[str]:
    return list(dict.fromkeys(name for group in groups for name, _ in group if name != "metric"))


def _cells(cells: Mapping[str, Pair], labels: Sequence[str], unit: Unit) -> Iterable[Cell]:
    for name in labels:
        pair = cells.get(name)
        if pair is None:
            yield from (Cell(None), Cell(None))
            continue
        yield Cell(pair.published.value, unit, reason=NO_COMMUNICATION)
        yield estimate_cell(pair.ours, unit) if pair.ours else Cell(None, unit, reason=pair.reason)


def _orders(cells: Mapping[str, Pair]) -> tuple[str, str]:
    """The middlewares from the best to the worst, of those that have both values."""
    with_both = [(name, pair.values) for name, pair in cells.items() if pair.values]
    if len(with_both) < 2:
        return ABSENT, ABSENT
    sign = 1 if next(iter(cells.values())).metric.lower_is_better else -1
    theirs, ours = ([name for name, _ in sorted(with_both, key=lambda pair: sign * pair[1][side])] for side in (0, 1))
    return ", ".join(theirs), ", ".join(ours)


def ratio_table(title: str, compared: PaperComparison) -> Table | None:
    """Every pair of middlewares in every cell that both have; None where there is none."""
    if not compared.ratios:
        return None
    names = _factors(dict.fromkeys(ratio.group for ratio in compared.ratios))
    columns = (*named(*names, "metric", "ratio"), *values("paper", "here"), *named("order"))
    rows = [(*_setting(ratio), *_ratio(ratio)) for ratio in compared.ratios]
    deliveries = paper_deliveries(pair for ratio in compared.ratios for pair in (ratio.first, ratio.second))
    return table(f"{title}: ratios between middlewares", columns, rows, deliveries)


def _setting(ratio: Ratio) -> list[str]:
    return [value for _, value in ratio.group]


def _ratio(ratio: Ratio) -> tuple[str, str, str, str]:
    pair = f"{ratio.first.series_label} / {ratio.second.series_label}"
    return pair, factor(ratio.published), factor(ratio.ours), "same" if ratio.agrees else "other"


def agreement_table(title: str, compared: PaperComparison) -> Table:
    """The rank correlation of each metric over all its cells."""
    columns = (*named("metric"), *values("cells", "rank correlation", "same order"))
    rows = []
    for correlation in compared.correlations:
        ratios = [ratio for ratio in compared.ratios if ratio.first.metric.name == correlation.metric.name]
        order = f"{sum(ratio.agrees for ratio in ratios)} of {plural(len(ratios), 'pair')}" if ratios else ABSENT
        coefficient = Cell(correlation.value, Unit(""), correlation.low, correlation.high, reason="too few cells")
        rows.append((Cell(correlation.metric.name), Cell(float(correlation.n_cells)), coefficient, Cell(order)))
    caption = (
        "Spearman's coefficient over all cells that have both values, with its 95 % interval: sizes and topologies "
        "weigh most in it. The order is that of two candidates in one cell."
    )
    return table(f"{title}: agreement", columns, rows, caption)


def agreement_words(compared: PaperComparison) -> str:
    """`the order of two candidates is the same in 30 of 36 pairs`."""
    if not compared.ratios:
        return "no two candidates have both values in one cell"
    return f"the order of two candidates is the same in {compared.n_agreeing} of {plural(len(compared.ratios), 'pair')}"
