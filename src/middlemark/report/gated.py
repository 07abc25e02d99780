"""What a gate decided, for people and for CI: a terminal table, Markdown for a pull request, JUnit XML, data for JSON.

Undecided is told apart from passed everywhere; in JUnit's words it is skipped. It decides nothing: `analysis.gate` did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from middlemark.analysis.gate import Decision, Gated
from middlemark.analysis.pairing import Pairs
from middlemark.report.compared import as_data as compared_data
from middlemark.report.compared import row
from middlemark.report.display import plural

_STYLES = {Decision.FAILED: "bold red", Decision.PASSED: "green", Decision.UNDECIDED: "yellow"}
_MARKS = {Decision.FAILED: "❌ failed", Decision.PASSED: "✅ passed", Decision.UNDECIDED: "❔ undecided"}
_READING = (
    "A condition fails only where the whole 95 % interval is beyond its bound. Where the bound lies within the "
    "interval nothing is decided, and more trials would tell."
)
_HEADINGS = ("setting", "fails if", "base", "head", "difference (95 %)", "")


def headline(found: Sequence[Gated]) -> str:
    """`1 of 4 conditions failed, 2 passed, 1 undecided`."""
    count = Counter(each.decision for each in found)
    return (
        f"{count[Decision.FAILED]} of {plural(len(found), 'condition')} failed, {count[Decision.PASSED]} passed, "
        f"{count[Decision.UNDECIDED]} undecided"
    )


def _cells(each: Gated) -> tuple[str, str, str, str, str]:
    shown = row(each.compared)
    unit = f" {shown.unit}"
    pair = each.compared.pair
    setting = f"{pair.setting} {each.compared.stream or ''}".strip()
    if pair.paired:  # of one run, which may have many sides
        setting = f"{pair.names[1]} against {pair.names[0]}, {setting}"
    difference = each.reason or shown.difference
    return setting, each.condition.text, f"{shown.first}{unit}", f"{shown.second}{unit}", difference


def print_gated(found: Sequence[Gated], console: Console) -> None:
    """One line a condition, then how many failed."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for heading in _HEADINGS:
        table.add_column(heading, overflow="fold")
    for each in found:
        table.add_row(*map(Text, _cells(each)), Text(each.decision.value, _STYLES[each.decision]))
    console.print(table)
    console.print(Text(headline(found), "bold"))


def markdown(found: Sequence[Gated], pairs: Pairs, *, strict: bool = False) -> str:
    """A summary for a pull request."""
    lines = [f"## Middlemark: {_mark(found, pairs, strict=strict)} {headline(found)}", ""]
    lines += [f"| {' | '.join(_HEADINGS)} |", "|---|---|--:|--:|---|---|"]
    lines += [f"| {' | '.join(_escaped(cell) for cell in _cells(each))} | {_MARKS[each.decision]} |" for each in found]
    lines += ["", _READING]
    lines += ["", *(f"- {_escaped(each)}" for each in pairs.alone)] if pairs.alone else []
    return "\n".join(lines) + "\n"


def _mark(found: Sequence[Gated], pairs: Pairs, *, strict: bool) -> str:
    """A tick only where everything was decided; the exit code says the same."""
    if any(each.decision is Decision.FAILED for each in found):
        return "❌"
    if pairs.gone or any(each.decision is Decision.UNDECIDED for each in found):
        return "❌" if strict else "❔"
    return "✅"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def junit(found: Sequence[Gated], pairs: Pairs) -> str:
    """One test case a condition and setting, and one for each experiment that head no longer has."""
    suite = TestSuite("middlemark gate")
    for each in found:
        setting, text, base, head, difference = _cells(each)
        case = TestCase(text, classname=setting, time=0.0)
        said = f"base {base}, head {head}: {difference}"
        if each.decision is Decision.FAILED:
            case.result = [Failure(said, "gate")]
        elif each.decision is Decision.UNDECIDED:
            case.result = [Skipped(f"undecided: {said}")]
        else:
            case.system_out = said
        suite.add_testcase(case)
    for experiment in pairs.gone:
        case = TestCase("measured in head too", classname=experiment, time=0.0)
        case.result = [Skipped(f"undecided: {experiment}")]
        suite.add_testcase(case)
    whole = JUnitXml("middlemark")
    whole.add_testsuite(suite)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    written: bytes = whole.tostring()  # type: ignore[no-untyped-call]
    return written.decode()


def as_data(found: Sequence[Gated]) -> list[dict[str, object]]:
    """Every condition for a program to read."""
    compared = compared_data(each.compared for each in found)
    return [
        {"condition": each.condition.text, "decision": each.decision.value, "reason": each.reason or None, **data}
        for each, data in zip(found, compared, strict=True)
    ]
