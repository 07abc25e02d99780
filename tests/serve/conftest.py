"""Seven runs of one suite, a month apart, and their pages."""

import shutil
from pathlib import Path

import pytest

from middlemark.analysis.run import analyse
from middlemark.report.output.data import write_summary
from middlemark.report.output.html import write_report
from middlemark.results.run_folder import RunFolder
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from serve_client import Client
from shared_runs import GOLDEN

RUN = GOLDEN / "run-format-1"


@pytest.fixture(scope="module")
def monthly_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven runs, a month apart, and one that can't be read."""
    folder, built = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("built") / "run"
    shutil.copytree(RUN, built)
    findings = analyse(RunFolder(built))
    write_summary(findings)
    for month in range(1, 8):
        path = Path(shutil.copytree(built, folder / f"run-{month}"))
        manifest = (path / "manifest.json").read_text(encoding="utf-8")
        (path / "manifest.json").write_text(manifest.replace("2026-01-31", f"2026-{month:02}-15"), encoding="utf-8")
    (folder / "broken").mkdir()
    (folder / "broken" / "manifest.json").write_text("{", encoding="utf-8")
    shutil.copy(write_report(findings), folder / "run-7")
    return folder


@pytest.fixture(scope="module")
def client(monthly_runs: Path) -> Client:
    return Client(site([monthly_runs], Admission()))
