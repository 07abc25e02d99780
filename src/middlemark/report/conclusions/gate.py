"""What a gate decided, for people and for CI: a terminal table, Markdown for a pull request, JUnit XML, data for JSON.

Undecided is never shown as passed; in JUnit's words it is skipped. It decides nothing: `analysis.decisions.gate` did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite
from rich.console import Console
from rich.text import Text

from middlemark.analysis.compare.pairing import Pairs
from middlemark.analysis.decisions.gate import JudgedCondition
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.conclusions.comparison import comparison_data as compared_data
from middlemark.report.conclusions.comparison import pair_deliveries, row, unit_of
from middlemark.report.elements.formatting import ABSENT
from middlemark.report.elements.labels import setting_words, stream_beside
from middlemark.report.elements.plain_text import markdown_text, plain_text
from middlemark.report.elements.terminal_tables import grid
from middlemark.suite.yaml.quantity import plural

_STYLES = {Judgement.REFUTED: "bold red", Judgement.HOLDS: "green", Judgement.UNDECIDED: "yellow"}
_MARKS = {Judgement.REFUTED: "❌ failed", Judgement.HOLDS: "✅ passed", Judgement.UNDECIDED: "❔ undecided"}
DECISIONS = {Judgement.REFUTED: "failed", Judgement.HOLDS: "passed", Judgement.UNDECIDED: "undecided"}
_READING = (
    "A condition fails only where the whole 95 % confidence interval is beyond its bound, and passes only where no "
    "part of it is. It is undecided where the bound lies within the interval, where there are too few trials, or "
    "where one side could not keep up more often than the other."
)
_HEADINGS = ("fails if", "base", "head", "difference (95 %)", "")


def headline(conditions: Sequence[JudgedCondition]) -> str:
    """`1 of 4 conditions failed, 2 passed, 1 undecided`."""
    count = Counter(condition.result.judgement for condition in conditions)
    return (
        f"{count[Judgement.REFUTED]} of {plural(len(conditions), 'condition')} failed, "
        f"{count[Judgement.HOLDS]} passed, {count[Judgement.UNDECIDED]} undecided"
    )


def _setting(condition: JudgedCondition) -> str:
    pair = condition.compared.pair
    return f"{pair.names[1]} against {pair.names[0]}, {setting_words(pair.setting)}"


def _condition_words(judged: JudgedCondition) -> str:
    """The condition, with its stream where the setting's words don't name that."""
    stream = stream_beside(judged.compared.pair.setting, judged.compared.stream)
    return f"{stream} {judged.condition.text}".strip()


def _cells(judged_condition: JudgedCondition) -> tuple[str, str, str, str]:
    """The condition, both sides, and their difference or why there is none."""
    shown = row(judged_condition.compared)
    base, head = (value if value == ABSENT else f"{value} {shown.unit}" for value in (shown.first, shown.second))
    difference = judged_condition.result.reason or _against_words(judged_condition) or shown.difference
    return _condition_words(judged_condition), base, head, difference


def _against_words(condition: JudgedCondition) -> str:
    """The interval of head alone that was held against a bound."""
    tested = condition.against
    if tested is None or tested.low is None or tested.high is None:
        return ""
    unit = unit_of(condition.compared.metric)
    return f"{unit.write(tested.low)} to {unit.write(tested.high)} {unit.name}"


def print_gated(conditions: Sequence[JudgedCondition], console: Console) -> None:
    """A table for each setting with one line a condition, then how many failed."""
    for setting, group in groupby(sorted(conditions, key=_setting), key=_setting):
        of_setting = list(group)
        console.print()
        console.print(Text(setting, "bold"))
        table = grid()
        for heading in _HEADINGS:
            table.add_column(heading, overflow="fold", no_wrap=heading in {"", "fails if"})
        for condition in of_setting:
            table.add_row(
                *map(Text, _cells(condition)),
                Text(DECISIONS[condition.result.judgement], _STYLES[condition.result.judgement]),
            )
        console.print(table)
        for words in _deliveries(of_setting):
            console.print(Text(words, "dim"))
    console.print(Text(headline(conditions), "bold"))


def _deliveries(conditions: Sequence[JudgedCondition]) -> list[str]:
    """A sentence for each pair whose sides have different deliveries."""
    return list(dict.fromkeys(filter(None, (pair_deliveries(condition.compared.pair) for condition in conditions))))


def markdown(conditions: Sequence[JudgedCondition], pairs: Pairs, *, undecided_fails: bool = True) -> str:
    """A summary for a pull request."""
    lines = [f"## Middlemark: {_mark(conditions, pairs, undecided_fails=undecided_fails)} {headline(conditions)}", ""]
    lines += [f"| setting | {' | '.join(_HEADINGS)} |", "|---|---|--:|--:|---|---|"]
    for condition in conditions:
        cells = (_setting(condition), *_cells(condition))
        lines.append(f"| {' | '.join(map(markdown_text, cells))} | {_MARKS[condition.result.judgement]} |")
    lines += ["", " ".join([_READING, *map(markdown_text, _deliveries(conditions))])]
    lines += ["", *(f"- {markdown_text(text)}" for text in pairs.alone)] if pairs.alone else []
    return "\n".join(lines) + "\n"


def _mark(conditions: Sequence[JudgedCondition], pairs: Pairs, *, undecided_fails: bool) -> str:
    """A tick only where everything was decided; the exit code says the same."""
    if any(condition.result.judgement is Judgement.REFUTED for condition in conditions):
        return "❌"
    if pairs.gone or any(condition.result.judgement is Judgement.UNDECIDED for condition in conditions):
        return "❌" if undecided_fails else "❔"
    return "✅"


def junit(conditions: Sequence[JudgedCondition], pairs: Pairs) -> str:
    """One test case a condition and setting, and one for each experiment that head no longer has."""
    suite = TestSuite("middlemark gate")
    for condition in conditions:
        _, base, head, difference = _cells(condition)
        pair = condition.compared.pair
        of_what = f"{pair.names[1]} against {pair.names[0]}, {pair.setting} {condition.compared.stream or ''}"
        case = TestCase(plain_text(condition.condition.text), classname=plain_text(of_what.strip()), time=0.0)
        words = plain_text(f"base {base}, head {head}: {difference}")
        if condition.result.judgement is Judgement.REFUTED:
            case.result = [Failure(words, "gate")]
        elif condition.result.judgement is Judgement.UNDECIDED:
            case.result = [Skipped(f"undecided: {words}")]
        else:
            case.system_out = words
        suite.add_testcase(case)
    for experiment in map(plain_text, pairs.gone):
        case = TestCase("measured in head too", classname=experiment, time=0.0)
        case.result = [Skipped(f"undecided: {experiment}")]
        suite.add_testcase(case)
    whole = JUnitXml("middlemark")
    whole.add_testsuite(suite)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    written: bytes = whole.tostring()  # type: ignore[no-untyped-call]
    return written.decode()


def as_data(conditions: Sequence[JudgedCondition]) -> list[dict[str, object]]:
    """Every condition for a program to read."""
    compared = compared_data(condition.compared for condition in conditions)
    return [
        {
            **data,
            "condition": condition.condition.text,
            "decision": DECISIONS[condition.result.judgement],
            "reason": condition.result.reason or data["reason"],
        }
        for condition, data in zip(conditions, compared, strict=True)
    ]
