"""The pages on security: each test that is named is there, who reports is led to them, and levels are those of the workers."""

import re

import pytest

from middlemark.worker import executables
from middlemark.worker.description import describe
from pages import ROOT

PAGE = ROOT / "docs/background/security.md"
GUIDE = ROOT / "docs/guide/security.md"


def levels() -> dict[str, tuple[str, str]]:
    """Of each middleware what the guide says of `authenticated` and of `encrypted`."""
    text = GUIDE.read_text(encoding="utf-8")
    section = text[text.index("## What each middleware has") : text.index("## What it costs")]
    rows = [[cell.strip() for cell in line.split("|")] for line in section.splitlines() if line.startswith("| ")]
    return {
        name.strip("[").partition("]")[0]: (authenticated, encrypted)
        for _, name, authenticated, encrypted, *_ in rows[2:]
    }


def promises() -> dict[str, list[tuple[str, str]]]:
    """Each promise with its tests, and each of these with its file."""
    text = PAGE.read_text(encoding="utf-8")
    section = text[text.index("## How each promise is tested") : text.index("## What is not promised")]
    found = {}
    for promise, tests in re.findall(r"^\| (.+) \| (`.+) \|$", section, re.MULTILINE):
        of_files = re.findall(r"`([\w/]+\.(?:py|rs))`: ((?:`\w+`(?:, )?)+)", tests)
        found[promise] = [(file, name) for file, names in of_files for name in re.findall(r"`(\w+)`", names)]
    return found


def test_every_promise_has_tests_and_each_of_them_is_there() -> None:
    assert len(promises()) > 40
    assert [promise for promise, tests in promises().items() if not tests] == []
    missing = [
        f"{file}: {name}"
        for tests in promises().values()
        for file, name in tests
        if not re.search(rf"\b(?:def|fn) {name}\(", (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []


def test_who_reports_a_vulnerability_is_led_to_what_is_promised() -> None:
    assert str(PAGE.relative_to(ROOT)) in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("middleware", sorted(levels().keys() & executables.workers().keys()))
def test_the_guide_has_the_levels_that_a_worker_describes(middleware: str) -> None:
    has = {security.level for security in describe(executables.worker(middleware)).capabilities.security}
    cells = dict(zip(("authenticated", "encrypted"), levels()[middleware], strict=True))
    assert {level for level, cell in cells.items() if not cell.startswith("refused")} == has


def test_the_guide_has_every_middleware() -> None:
    pages = {page.stem for page in (ROOT / "docs/middlewares").glob("*.md")} - {"index"}
    assert pages <= levels().keys()
