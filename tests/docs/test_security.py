"""Each test that the page on security names is there, and what a reporter reads first leads to that page."""

import re

from pages import ROOT

PAGE = ROOT / "docs/background/security.md"


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
