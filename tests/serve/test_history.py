"""A metric over many runs: a chart, a table, and what all settings share."""

import json
import re
import shutil
from pathlib import Path

from middlemark.analysis.compare.history import History, Point
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from middlemark.serve.history import history_charts
from middlemark.suite.metrics import metric_named
from serve_client import Client


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
    assert "profile default" in shared[1]
    assert page.count("profile default") == 1
    assert re.search("<h4>imu: [^<]*200 Hz[^<]*, on ", page)


def test_a_stream_that_is_written_out_as_a_factor_stands_in_the_caption_of_its_chart() -> None:
    stream = "stream.imu=320 B at 200 Hz, best_effort, history 16, drivers to control"
    points = tuple(Point(f"run-{n}", f"2026-0{n}-01", "1", "1", 1e5, None, None, 1) for n in (1, 2))
    series = History("udp", f"workload=robot {stream} spin=0 ns", "imu", "here", points, ())
    (chart,) = history_charts([series], metric_named("median(latency)"), ["udp"])
    assert chart.title == "robot: spin 0 ns, stream imu, on here"
    assert f"With {stream.replace('=', ' ', 1).replace('_', ' ')}." in chart.caption


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
