"""The pages over many runs: what they show, and whom and what they refuse."""

import html
import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.serve import app
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from run_builder import build_run
from serve_client import Client
from shared_runs import GOLDEN


def test_every_run_is_listed_and_one_that_cannot_be_read_is_named(client: Client) -> None:
    page = client.get("/").text
    assert [f"run-{n}" in page for n in range(1, 8)] == [True] * 7
    assert "broken/manifest.json" in page
    assert page.index('class="run">run-7</th>') < page.index('class="run">run-1</th>')
    assert '<a href="/runs/6/report">' in page


def test_a_run_that_comes_later_is_there_at_the_next_look(monthly_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(monthly_runs / "run-1", tmp_path / "run-1")
    later = Client(site([tmp_path], Admission()))
    assert "run-2" not in later.get("/").text
    shutil.copytree(monthly_runs / "run-2", tmp_path / "run-2")
    assert "run-2" in later.get("/").text


def test_a_page_has_the_type_of_a_report(client: Client) -> None:
    assert '"Segoe UI"' in client.get("/").text


def test_two_runs_with_nothing_in_common_are_refused_on_a_page_that_leads_on(
    monthly_runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(monthly_runs / "run-1", tmp_path / "run-1")
    shutil.copytree(GOLDEN / "run-format-1-observed", tmp_path / "observed")
    refused = Client(site([tmp_path], Admission())).get("/compare", params={"base": "0", "head": "1"})
    assert refused.status_code == 400
    assert "no experiment in common" in refused.text
    assert '<a href="/">Runs</a>' in refused.text


def test_the_newest_run_is_offered_for_comparison_with_the_last_of_its_suite(
    monthly_runs: Path, tmp_path: Path
) -> None:
    for month in (1, 2, 7):
        shutil.copytree(monthly_runs / f"run-{month}", tmp_path / f"run-{month}")
    manifest = tmp_path / "run-2" / "manifest.json"
    other = json.loads(manifest.read_text(encoding="utf-8")) | {"suite": "another"}
    manifest.write_text(json.dumps(other), encoding="utf-8")
    page = Client(site([tmp_path], Admission())).get("/").text
    assert re.findall("selected>([^<]*)<", page) == ["run-1", "run-7"]


def test_two_runs_are_compared_as_on_the_command_line(client: Client) -> None:
    page = client.get("/compare", params={"base": "0", "head": "1"}).text
    assert "run-2 / run-1" in page
    assert "<h1>run-2 compared with run-1</h1>" in page
    assert "no significant difference" in page


def test_a_comparison_of_two_runs_ends_with_means_over_all_settings(tmp_path: Path) -> None:
    suite = "suite: s\ntrials: 3\nmiddlewares: all\nworkloads: [{workload: imu, windows: {window: 1 s}}]\n"
    for seed in (1, 2):
        build_run(tmp_path / f"run-{seed}", suite, {"udp": Behaviour(), "tcp": Behaviour()}, seed=seed)
    page = Client(site([tmp_path], Admission())).get("/compare", params={"base": "0", "head": "1"}).text
    assert "Over all settings" in page
    assert "no prediction for others" in page


def test_the_report_of_a_run_is_shown_and_one_that_is_not_there_says_how_to_make_it(client: Client) -> None:
    assert "Middlemark report" in client.get("/runs/6/report").text
    missing = client.get("/runs/0/report")
    assert (missing.status_code, "middlemark report" in missing.text) == (404, True)


def test_the_links_of_a_report_lead_to_the_records_of_its_trials(client: Client, monthly_runs: Path) -> None:
    link = re.search(r'href="(trials/[^"]+/trial.json)"', client.get("/runs/6/report").text)
    assert link is not None
    answer = client.get(f"/runs/6/{link[1]}")
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == (monthly_runs / "run-7" / link[1]).read_bytes()


def test_captured_frames_can_be_downloaded_or_are_said_to_be_missing(client: Client, monthly_runs: Path) -> None:
    bare, captured, *_ = sorted((monthly_runs / "run-7" / "trials").iterdir())
    (captured / "capture.pcapng").write_bytes(b"frames")
    answer = client.get(f"/runs/6/trials/{captured.name}/capture.pcapng")
    assert answer.content == b"frames"
    assert answer.headers["content-disposition"] == 'attachment; filename="capture.pcapng"'
    missing = client.get(f"/runs/6/trials/{bare.name}/capture.pcapng")
    assert (missing.status_code, missing.text) == (404, "the trial has no captured frames")


def test_a_middleware_keeps_its_colour_when_it_is_chosen_alone(client: Client) -> None:
    listed = client.get("/history", params={"figure": "cpu", "middleware": "beta"}).text
    link = re.search(r'<a href="(/history\?[^"]*setting=[^"]*)"', listed)
    assert link is not None
    alone = client.get(html.unescape(link[1])).text
    assert "--series-1" in alone.partition('id="specs"')[2]
    assert "--series-0" not in alone.partition('id="specs"')[2]


def test_runs_are_found_by_what_is_said_of_them(client: Client) -> None:
    page = client.get("/", params={"since": "2026-03-01", "until": "2026-04-30"}).text
    assert re.findall('class="run">([^<]*)<', page) == ["run-4", "run-3"]
    assert "2 of 7" in page
    assert re.findall("selected>([^<]*)<", page) == ["run-3", "run-4"]
    assert "No run matches" in client.get("/", params={"tag": "nightly"}).text
    refused = client.get("/", params={"since": "March"})
    assert (refused.status_code, "is no day" in refused.text) == (400, True)


def test_a_long_list_of_runs_comes_in_parts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middlemark.serve.pages.ITEMS_OF_A_PAGE", 3)
    page = client.get("/", params={"suite": "golden"})
    assert "page 1 of 3" in page.text
    link = re.search(r'<a href="([^"]*page=2[^"]*)"', page.text)
    assert link is not None
    second = client.get(html.unescape(link[1])).text
    assert re.findall('class="run">([^<]*)<', second) == ["run-4", "run-3", "run-2"]
    assert '<a href="/runs/' not in second
    for odd in ("0", "4", "-1", "x", "9" * 50):
        assert "page 1 of 3" in client.get("/", params={"page": odd}).text


def test_the_list_reads_no_trial_and_no_estimate(monthly_runs: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    for name in ("run-1", "run-2"):
        shutil.copytree(monthly_runs / name, few / name)
        shutil.rmtree(few / name / "trials")
        (few / name / "trials").mkdir()
        (few / name / "summary.parquet").write_bytes(b"no table")
    page = Client(site([few], Admission())).get("/")
    assert page.status_code == 200
    assert page.text.count("<tr><th") == 2 + 1
    assert '<td class="value">12</td>' in page.text


def test_a_report_is_kept_apart_from_the_other_pages(client: Client) -> None:
    policy = client.get("/runs/6/report").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy


def test_the_list_is_made_without_what_draws_and_analyses(monthly_runs: Path) -> None:
    code = (
        "import sys, middlemark.serve.app\n"
        "from pathlib import Path\n"
        "from starlette.requests import Request\n"
        "from middlemark.analysis.catalogue.library import RunLibrary\n"
        "from middlemark.serve.pages import Pages\n"
        "from middlemark.serve.runs import runs_page\n"
        "request = Request({'type': 'http', 'query_string': b''})\n"
        "page = runs_page(Pages(RunLibrary([Path(sys.argv[1])])), request)\n"
        "assert b'run-7' in page.body\n"
        "print(*sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(monthly_runs)], capture_output=True, text=True, check=True)
    loaded = set(answer.stdout.split())
    assert "polars" in loaded, "the index is read"
    heavy = {"altair", "ruptures", "scipy", "vl_convert", "middlemark.analysis.run"}
    assert not heavy & loaded


def test_settings_are_listed_without_what_draws(monthly_runs: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from starlette.requests import Request\n"
        "from middlemark.analysis.catalogue.library import RunLibrary\n"
        "from middlemark.serve.history import history_page\n"
        "from middlemark.serve.pages import Pages\n"
        "request = Request({'type': 'http', 'query_string': b'figure=p90(latency)'})\n"
        "page = history_page(Pages(RunLibrary([Path(sys.argv[1])])), request)\n"
        "assert b'was measured: 2' in page.body\n"
        "print(*sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(monthly_runs)], capture_output=True, text=True, check=True)
    assert not {"altair", "vl_convert"} & set(answer.stdout.split())


def test_what_other_pages_need_is_loaded_once_the_list_was_sent(
    monthly_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(app, "import_module", loaded.append)
    pages = Client(site([monthly_runs], Admission()))
    assert "run-7" in pages.get("/").text
    assert tuple(loaded) == app.LOADED_LATER
    assert [name for name in app.LOADED_LATER if find_spec(name) is None] == []
