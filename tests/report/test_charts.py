"""Charts are made without what Altair does to each of their parts, which would take longer than all else."""

from pathlib import Path

import pytest
from altair.utils import schemapi

from middlemark.analysis.run import analyse
from middlemark.report.contender import contenders
from middlemark.report.html import sections_of
from middlemark.results.run_folder import RunFolder

GOLDEN = Path(__file__).parent.parent / "golden" / "run-format-1"


def test_no_part_of_a_chart_is_guessed_from_words_or_checked_but_for_what_the_pointer_selects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[object] = []
    guessed: list[object] = []
    monkeypatch.setattr(schemapi, "validate_jsonschema", lambda part, *_, **__: checked.append(part))
    monkeypatch.setattr(schemapi.SchemaBase, "from_dict", lambda part, **_: guessed.append(part))
    findings = analyse(RunFolder(GOLDEN))
    who = contenders(findings.manifest, (each.experiment for each in findings.experiments))
    assert any(section.distributions for section in sections_of(findings, who))
    assert all(isinstance(part, dict) and "select" in part for part in checked)
    assert guessed == []
