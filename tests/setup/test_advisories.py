"""A known vulnerability ends the check; a database that can't be had is said, with when there last was one."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

import advisories

Answers = dict[str, CompletedProcess[str]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """What each program answers, by its first words; what isn't listed fails as without a network."""
    listed: Answers = {}

    def run(*command: str) -> CompletedProcess[str]:
        line = " ".join(command)
        found = [answer for words, answer in listed.items() if line.startswith(words)]
        return found[0] if found else CompletedProcess(command, 1, "", "note\nfatal: no such host\n")

    monkeypatch.setattr(advisories, "run", run)
    return listed


@pytest.mark.usefixtures("answers")
def test_crates_are_not_called_clean_without_a_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    checked = advisories.check_crates()
    assert checked == advisories.Checked(None, found=False, said="fatal: no such host")
    assert "not checked" in advisories.report("crates", checked, {})


@pytest.mark.parametrize("status", [0, 1])
def test_an_earlier_copy_of_the_database_is_used_with_its_day(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: Answers, status: int
) -> None:
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    (tmp_path / "advisory-dbs" / "copy").mkdir(parents=True)
    answers["git -C"] = CompletedProcess([], 0, "2026-08-21\n", "")
    answers["cargo deny --locked --offline check"] = CompletedProcess([], status, "", "RUSTSEC-2026-0041")
    checked = advisories.check_crates()
    assert (checked.database, checked.found) == ("2026-08-21", status == 1)
    assert ("RUSTSEC-2026-0041" in advisories.report("crates", checked, {})) == (status == 1)


@pytest.mark.usefixtures("answers")
def test_packages_that_the_database_does_not_answer_for_are_not_clean() -> None:
    assert advisories.check_packages().database is None


def test_without_the_service_packages_are_looked_for_in_a_copy_with_its_day(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: Answers
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "middlemark/advisory-database/vulns/jinja2"
    folder.mkdir(parents=True)
    answers["git -C"] = CompletedProcess([], 0, "2024-10-10\n", "")
    assert advisories.check_packages() == advisories.Checked("2024-10-10", found=False, said="")
    range_of_all = "{type: ECOSYSTEM, events: [{introduced: '0'}]}"
    (folder / "PYSEC-9.yaml").write_text(f"{{id: PYSEC-9, affected: [{{ranges: [{range_of_all}]}}]}}")
    checked = advisories.check_packages()
    assert checked.found
    assert "PYSEC-9" in checked.said


def test_a_vulnerable_package_is_a_finding(answers: Answers) -> None:
    answers["pip-audit"] = CompletedProcess([], 1, "jinja2 3.0 PYSEC-1", "Found 1 known vulnerability")
    checked = advisories.check_packages()
    assert checked.found
    assert "PYSEC-1" in advisories.report("packages", checked, {})


def test_the_last_check_is_of_this_lock_file_or_of_another() -> None:
    last = {"checked": "2026-11-23", "database": "2026-08-21", "locked": advisories.digest("crates")}
    assert "the same Cargo.lock was found clean on 2026-11-23" in advisories.last_check("crates", {"crates": last})
    older = {"crates": last | {"locked": "0"}}
    assert "another Cargo.lock" in advisories.last_check("crates", older)
    assert "never checked" in advisories.last_check("crates", {})


def test_a_program_that_is_missing_has_failed() -> None:
    assert advisories.run("middlemark-no-such-program").returncode == 1
