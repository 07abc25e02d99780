"""`middlemark serve` as a process: it answers at loopback, draws in a browser, and ends with Ctrl-C."""

import html
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.errors import EnvironmentNotReady
from middlemark.results.run_folder import RunFolder
from pages import ROOT

GOLDEN = ROOT / "tests" / "golden"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
START = "import sys; sys.argv[0] = 'middlemark'; from middlemark.cli.main import main; main()"


@pytest.fixture
def measured_again(tmp_path: Path) -> Path:
    """A run of the same settings as a stored one, a day later: a history begins with the second."""
    again = tmp_path / "again"
    shutil.copytree(GOLDEN / "run-format-1", again)
    folder = RunFolder(again)
    manifest = folder.read_manifest()
    later = datetime.fromisoformat(manifest.started_at) + timedelta(days=1)
    folder.write_manifest(manifest.model_copy(update={"started_at": later.isoformat()}))
    return again


@pytest.fixture
def served(measured_again: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address."""
    with _serving(str(GOLDEN), str(measured_again)) as served:
        yield served


@contextmanager
def _serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", START, "serve", *arguments, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{os.environ['PYTHONPATH']}", "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        found = re.match(r"(http://\S+) ", process.stdout.readline())
        assert found
        yield process, found[1]
    finally:
        process.kill()
        process.wait(10)
        if process.stdout:
            process.stdout.close()


def test_it_answers_and_ends_with_ctrl_c(served: tuple[subprocess.Popen[str], str], tmp_path: Path) -> None:
    process, address = served
    answer = httpx.get(address, timeout=60)
    assert answer.status_code == 200
    assert "run-format-1" in answer.text
    if CHROMIUM is not None:
        listed = httpx.get(f"{address}history", timeout=60).text
        of_two_runs = re.search(r'<a href="/([^"]*setting=[^"]*)".*<td class="value">2</td>', listed)
        assert of_two_runs is not None
        _is_drawn(f"{address}{html.unescape(of_two_runs[1])}", tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


def _is_drawn(address: str, tmp_path: Path) -> None:
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr"]
    flags += ["--virtual-time-budget=10000", "--dump-dom", f"--user-data-dir={tmp_path / 'browser'}"]
    shown = subprocess.run([str(CHROMIUM), *flags, address], capture_output=True, text=True, timeout=90, check=True)
    plots = shown.stdout.count('class="plot')
    assert plots == 1
    assert shown.stdout.count('class="marks"') == plots
    assert "CONSOLE" not in shown.stderr


def test_beyond_loopback_it_answers_under_every_address_to_who_has_the_token() -> None:
    with _serving(str(GOLDEN), "--bind", "0.0.0.0") as (_, address):  # noqa: S104 - that is the case
        printed = httpx.URL(address)
        assert printed.params["token"]
        with httpx.Client(base_url=printed.copy_with(host="127.0.0.2", query=None), timeout=60) as browser:
            assert browser.get("/").status_code == 401
            assert browser.get("/", params=printed.params, follow_redirects=True).status_code == 200
            assert "run-format-1" in browser.get("/").text


def test_a_port_that_is_taken_is_told_with_its_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = CliRunner().invoke(app, ["serve", str(GOLDEN), "--port", str(taken.getsockname()[1])])
    assert isinstance(answer.exception, EnvironmentNotReady)
    assert "--port" in str(answer.exception)
