"""What a test-bed can do here is told, never thrown: also where the programs for it are missing."""

from collections.abc import Iterator

import pytest

from middlemark.testbed import capabilities


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    capabilities.netem_missing.cache_clear()
    yield
    capabilities.netem_missing.cache_clear()


def test_programs_that_went_missing_after_namespaces_were_found_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "namespaces_missing", lambda: None)
    monkeypatch.setattr("middlemark.testbed.processes.child.shutil.which", lambda *_, **__: None)
    said = {fact.name: fact for fact in capabilities.facts()}
    assert "`ip` is not installed" in said["link_backend"].value
