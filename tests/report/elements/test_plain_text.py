"""What somebody else wrote is read, and obeyed by no terminal, no Markdown and no reader of XML."""

import io
import re
from xml.etree import ElementTree as ET

import pytest
from rich.table import Table
from rich.text import Text

from middlemark.report.elements.plain_text import Screen, csv_text, markdown_text, plain_text
from pages import ROOT

COMMANDS = [
    "\x1b]52;c;Y2F0\x07",
    "\x1b[2J",
    "\x9b31m",
    "\x00",
    "\r",
    "\x08",
    "\x7f",
    "\u202e",
    "\u2066",
    "\ud800",
    "\uffff",
]


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_no_character_is_a_command(command: str) -> None:
    shown = plain_text(f"a{command}b\n\tc ü→µ")
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\uffff]", shown) is None
    assert shown.startswith("a")
    assert shown.endswith("b\n\tc ü→µ")
    ET.fromstring(f"<x>{shown.replace('<', '')}</x>")  # noqa: S314 - of this test


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_a_screen_shows_text_and_obeys_only_its_own_styles(command: str) -> None:
    def shown(text: str) -> str:
        screen = Screen(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=200)
        table = Table(text)
        table.add_row(text, title := Text(text, "bold"))
        for each in (text, title, table):
            screen.print(each)
        file = screen.file
        assert isinstance(file, io.StringIO)
        return file.getvalue()

    assert "\x1b[1m" in shown("title")
    without_styles = re.sub(r"\x1b\[[\d;]*m", "", shown(f"a{command}b"))
    assert without_styles == plain_text(without_styles)
    assert without_styles.count(f"a{plain_text(command)}b") == 5


@pytest.mark.parametrize("text", ["[/x]", "[bold]x", "[link=https://example.org]x[/link]", ":warning:"])
def test_markup_in_a_text_is_text(text: str) -> None:
    screen = Screen(file=io.StringIO(), force_terminal=False, width=100)
    screen.print(text)
    table = Table(text, title=text)
    table.add_row(text)
    screen.print(table)
    file = screen.file
    assert isinstance(file, io.StringIO)
    assert file.getvalue().count(text) == 4


def test_a_line_of_markdown_opens_nothing_and_mentions_nobody() -> None:
    line = markdown_text("a\n# head\n\n@someone <b>|[x](https://example.org) `code`")
    assert "\n" not in line
    assert "@someone" not in line
    for opening in ("#", "<", "|", "[", "]", "`"):
        assert f"\\{opening}" in line
        assert re.search(rf"(?<!\\){re.escape(opening)}", line) is None


def test_only_a_screen_is_a_terminal() -> None:
    sources = (ROOT / "src").rglob("*.py")
    made = [path for path in sources if re.search(r"\bConsole\(", path.read_text(encoding="utf-8"))]
    assert [path.name for path in made] == [], "what is printed goes to a `Screen`, where all text is text"


@pytest.mark.parametrize(
    "formula",
    ["=1+1", "+1+1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1", "-", "=", "+x", "-1;=2", "\x00=1", '-1"&A1'],
)
def test_no_cell_of_csv_is_computed(formula: str) -> None:
    assert csv_text(formula) == f"'{plain_text(formula)}"


@pytest.mark.parametrize(
    "cell", ["-1", "+2.5", "-1e-05", "-0.3 %", "-12\u202f345 µs", "+3 ×", "1=2", "a-b", "", "−3", "'="]
)
def test_a_number_and_a_word_are_as_they_were_in_csv(cell: str) -> None:
    assert csv_text(cell) == cell
