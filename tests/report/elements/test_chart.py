"""Charts are made without what Altair does to each of their parts, which would take longer than all else."""

import pytest
from altair.utils import schemapi

from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.output.section import sections_of
from shared_runs import SharedRuns


def test_charts_are_built_without_validating_or_guessing_any_of_their_parts(
    runs: SharedRuns,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[object] = []
    guessed: list[object] = []
    monkeypatch.setattr(schemapi, "validate_jsonschema", lambda part, *_, **__: checked.append(part))
    monkeypatch.setattr(schemapi.SchemaBase, "from_dict", lambda part, **_: guessed.append(part))
    findings = runs.golden("run-format-1").findings
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    assert any(section.distributions for section in sections_of(findings, who))
    assert all(isinstance(part, dict) and "select" in part for part in checked)
    assert guessed == []
