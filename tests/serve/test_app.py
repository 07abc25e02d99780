"""The pages over many runs: what they show, and whom and what they refuse."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.compare.history import History, Point
from middlemark.analysis.run import analyse
from middlemark.errors import UsageError
from middlemark.report.output.data import write_summary
from middlemark.report.output.html import write_report
from middlemark.results.run_folder import RunFolder
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from middlemark.serve.history import history_charts
from middlemark.suite.metrics import metric_named
from run_builder import build_run
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


def test_every_run_is_listed_and_one_that_cannot_be_read_is_named(client: Client) -> None:
    page = client.get("/").text
    assert [f"run-{n}" in page for n in range(1, 8)] == [True] * 7
    assert "broken/manifest.json" in page
    assert page.index('<th scope="row">run-7</th>') < page.index('<th scope="row">run-1</th>')
    assert '<a href="/runs/6/report">' in page


def test_a_run_that_comes_later_is_there_at_the_next_look(monthly_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(monthly_runs / "run-1", tmp_path / "run-1")
    later = Client(site([tmp_path], Admission()))
    assert "run-2" not in later.get("/").text
    shutil.copytree(monthly_runs / "run-2", tmp_path / "run-2")
    assert "run-2" in later.get("/").text


def test_a_history_has_every_run_with_its_version(client: Client) -> None:
    page = client.get("/history", params={"figure": "p90(latency)", "middleware": "beta"}).text
    assert page.count('<th scope="row">run-') == 14  # two workloads
    assert "1.2.3" in page
    assert "alpha: " not in page


def test_what_one_run_alone_measured_has_a_table_and_no_chart(monthly_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(monthly_runs / "run-1", tmp_path / "run-1")
    page = Client(site([tmp_path], Admission())).get("/history", params={"figure": "p90(latency)"}).text
    assert "a history begins with the second" in page
    assert "Measured in one run only" in page
    assert 'id="history-0"' not in page


def test_what_all_settings_share_is_said_once(client: Client) -> None:
    page = client.get("/history", params={"figure": "p90(latency)"}).text
    shared = re.search("In all settings: ([^<]*)<", page)
    assert shared is not None
    assert "profile=default" in shared[1]
    assert page.count("profile=default") == 1
    assert re.search("<h4>workload=[^<]*stream imu", page)


def test_a_stream_that_is_written_out_as_a_factor_stands_in_the_caption_of_its_chart() -> None:
    stream = "stream.imu=320 B at 200 Hz, best_effort, history 16, drivers to control"
    points = tuple(Point(f"run-{n}", f"2026-0{n}-01", "1", "1", 1e5, None, None, 1) for n in (1, 2))
    series = History("udp", f"workload=robot {stream} spin=0 ns", "imu", "here", points, ())
    (chart,) = history_charts([series], metric_named("median(latency)"), ["udp"])
    assert chart.title == "workload=robot spin=0 ns, stream imu, on here"
    assert f"With {stream}." in chart.caption


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
    assert "run-2 over run-1" in page
    assert "no difference" in page


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
    alone = client.get("/history", params={"figure": "cpu", "middleware": "beta"}).text
    assert "--series-1" in alone.partition('id="specs"')[2]
    assert "--series-0" not in alone.partition('id="specs"')[2]


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


@pytest.mark.parametrize(
    "altered",
    [{"trials": 3}, {"trials": None}, {"started_at": "then"}, {"format_version": 2}],
    ids=["a number for its trials", "no trials", "no instant", "another format"],
)
def test_a_run_whose_manifest_is_none_is_listed_with_its_reason(
    monthly_runs: Path, tmp_path: Path, altered: dict[str, object]
) -> None:
    path = shutil.copytree(monthly_runs / "run-1", tmp_path / "odd" / "run-1")
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    (path / "manifest.json").write_text(json.dumps(manifest | altered), encoding="utf-8")
    page = Client(site([tmp_path / "odd"], Admission())).get("/")
    assert page.status_code == 200
    assert "it can&#39;t be read" in page.text
    assert "No run is stored here yet" in page.text


def test_a_history_names_a_run_of_which_nothing_can_be_read(monthly_runs: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    for name in ("run-1", "run-2"):
        shutil.copytree(monthly_runs / name, few / name)
    (few / "run-2" / "summary.parquet").unlink()
    manifest = json.loads((few / "run-2" / "manifest.json").read_text(encoding="utf-8"))
    manifest["trials"][0]["id"] = "../elsewhere"
    (few / "run-2" / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    page = Client(site([few], Admission())).get("/history")
    assert page.status_code == 200
    assert "Runs that can" in page.text
    assert "run-1" in page.text


@pytest.mark.parametrize("path", ["/runs/{}/report", "/runs/{}/trials/x/trial.json", "/compare?base={}&head=0"])
def test_a_number_of_any_length_is_that_of_a_run_or_of_none(client: Client, path: str) -> None:
    assert client.get(path.format("9" * 5000)).status_code == 404


def test_a_report_is_kept_apart_from_the_other_pages(client: Client) -> None:
    policy = client.get("/runs/6/report").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy


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
    for path in ("/", "/history"):
        page = pages.get(path)
        assert page.status_code == 200
        assert "run-7" in page.text
