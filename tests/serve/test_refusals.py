"""Addresses, names and folders that lead to nothing, and runs that are bad on purpose."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.errors import UsageError
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from serve_client import Client


@pytest.mark.parametrize(
    "path",
    [
        "/runs/6/trials/../trial.json",
        "/runs/6/trials/%2e%2e/trial.json",
        "/runs/6/trials/x/trial.json",
        "/runs/6/trials/x/capture.pcapng",
        "/runs/99/report",
        "/runs/-1/report",
        "/runs/..%2f..%2fetc%2fpasswd/report",
        "/../pyproject.toml",
        "/%2e%2e/x",
    ],
)
def test_an_address_leads_to_nothing_but_the_pages(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("number", ["7", "x", "", "-1", "²", "../run-1"])
def test_a_run_that_is_not_in_the_list_is_refused(client: Client, number: str) -> None:
    assert client.get("/compare", params={"base": "0", "head": number}).status_code == 404


def test_a_figure_that_there_is_not_is_refused_in_words_and_not_echoed_as_markup(client: Client) -> None:
    answer = client.get("/history", params={"figure": "<script>alert(1)</script>"})
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert "is no metric" in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8450", "evil.example:8450"])
def test_who_asks_under_another_name_is_refused(client: Client, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 400


def test_nothing_can_be_posted_and_every_answer_is_guarded(client: Client) -> None:
    assert client.ask("POST", "/").status_code == 405
    for path in ("/", "/history", "/draw.js", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]


def test_a_folder_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        site([tmp_path / "nothing"], Admission())


@pytest.mark.parametrize(
    "altered",
    [{"trials": 3}, {"trials": None}, {"started_at": "then"}, {"format_version": 2}],
    ids=["a number for its trials", "no trials", "no instant", "another format"],
)
def test_a_run_with_an_invalid_manifest_is_listed_with_the_reason(
    monthly_runs: Path, tmp_path: Path, altered: dict[str, object]
) -> None:
    path = shutil.copytree(monthly_runs / "run-1", tmp_path / "odd" / "run-1")
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    (path / "manifest.json").write_text(json.dumps(manifest | altered), encoding="utf-8")
    page = Client(site([tmp_path / "odd"], Admission())).get("/")
    assert page.status_code == 200
    assert "it can&#39;t be read" in page.text
    assert "No run is stored here yet" in page.text


@pytest.mark.parametrize("path", ["/runs/{}/report", "/runs/{}/trials/x/trial.json", "/compare?base={}&head=0"])
def test_a_number_of_any_length_is_that_of_a_run_or_of_none(client: Client, path: str) -> None:
    assert client.get(path.format("9" * 5000)).status_code == 404


@pytest.mark.parametrize("name", ["report.html", "trial.json", "capture.pcapng"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_but_a_regular_file_of_the_run_is_served(
    monthly_runs: Path, tmp_path: Path, name: str, kind: str
) -> None:
    run = Path(shutil.copytree(monthly_runs / "run-7", tmp_path / "runs" / "run"))
    trial = min((run / "trials").iterdir())
    shown = run / name if name == "report.html" else trial / name
    shown.unlink(missing_ok=True)
    (tmp_path / "secret").write_text("private key", encoding="utf-8")
    if kind == "link":
        shown.symlink_to(tmp_path / "secret")
    else:
        os.mkfifo(shown)
    address = "/runs/0/report" if name == "report.html" else f"/runs/0/trials/{trial.name}/{name}"
    answer = Client(site([tmp_path / "runs"], Admission())).get(address)
    assert answer.status_code == 400
    assert "private key" not in answer.text


def _not_text(run: Path) -> None:
    run.rename(run.with_name("not\udcfftext"))


def _looping(run: Path) -> None:
    shutil.rmtree(run)
    run.symlink_to(run)


def _piped(run: Path) -> None:
    (run / "manifest.json").unlink()
    os.mkfifo(run / "manifest.json")


def _deep(run: Path) -> None:
    (run / "manifest.json").write_text("[" * 200_000, encoding="utf-8")


@pytest.mark.parametrize("spoil", [_not_text, _looping, _piped, _deep])
def test_a_run_that_is_bad_at_the_start_hides_no_other(
    monthly_runs: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    for name in ("run-1", "run-7"):
        shutil.copytree(monthly_runs / name, tmp_path / name)
    spoil(tmp_path / "run-1")
    pages = Client(site([tmp_path], Admission()))
    for path, told in (("/", "run-7"), ("/history", "2026-07-15")):
        page = pages.get(path)
        assert page.status_code == 200
        assert told in page.text
