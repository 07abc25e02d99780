"""A pinned version is vulnerable where the database's ranges or versions hold it, and nowhere else."""

from pathlib import Path

import pytest

from python_advisories import vulnerabilities

ADVISORY = """
id: PYSEC-1
affected:
- package: {name: some-thing, ecosystem: PyPI}
  ranges:
  - type: ECOSYSTEM
    events: [{introduced: "0"}, {fixed: 2.11.3}, {introduced: "3.0"}, {last_affected: "3.2"}]
  versions: ["4.0"]
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "vulns" / "some-thing"
    folder.mkdir(parents=True)
    (folder / "PYSEC-1.yaml").write_text(ADVISORY)
    (folder / "PYSEC-2.yaml").write_text(ADVISORY.replace("PYSEC-1", "PYSEC-2") + "withdrawn: 2024-01-01\n")
    return tmp_path


@pytest.mark.parametrize(
    ("version", "is_vulnerable"),
    [("2.11.2", True), ("2.11.3", False), ("3.0", True), ("3.2", True), ("3.3", False), ("4.0", True), ("4.1", False)],
)
def test_a_version_is_vulnerable_where_the_database_says_so(copy: Path, version: str, is_vulnerable: object) -> None:
    locked = copy / "locked.txt"
    locked.write_text(f"other==1.0 \\\n    --hash=sha256:00\nSome_Thing=={version} ; python_version < '4' \\\n")
    assert vulnerabilities(copy, locked) == ([f"some-thing {version}: PYSEC-1"] if is_vulnerable else [])
