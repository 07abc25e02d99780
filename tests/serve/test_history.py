"""A metric over many runs: a chart, a table, and what all settings share."""

import asyncio
import html
import json
import re
import shutil
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from starlette.applications import Starlette

from middlemark.analysis.compare import history as past
from middlemark.analysis.compare.history import History, HistoryPoint
from middlemark.report.conclusions.history import settings
from middlemark.serve.access import Admission
from middlemark.serve.app import site
from middlemark.serve.history import MOST_POINTS_IN_A_TABLE, history_tables
from middlemark.serve.history_chart import history_chart
from middlemark.suite.metrics import metric_named
from serve_client import Client


def opened(client: Client, words: str, **said: str) -> str:
    """The page of the setting whose link has these words."""
    page = client.get("/history", params=said).text
    links = re.findall(r'<a href="(/history\?[^"]*setting=[^"]*)">([^<]*)</a>', page)
    (link,) = [html.unescape(link) for link, text in links if words in text]
    return client.get(link).text


def test_a_setting_has_every_run_with_its_version(client: Client) -> None:
    page = opened(client, "imu: ", figure="p90(latency)", middleware="beta")
    assert page.count('<th scope="row">run-') == 7
    assert "1.2.3" in page
    assert "<summary>beta</summary>" in page
    assert "alpha</summary>" not in page


def test_settings_are_listed_with_what_was_measured_in_each(client: Client) -> None:
    page = client.get("/history", params={"figure": "p90(latency)"}).text
    assert "Settings in which p90(latency) was measured: 2" in page
    assert page.count('<td class="words">alpha, beta</td><td class="value">7</td>') == 2
    assert 'id="history"' not in page


def test_settings_are_found_by_a_part_of_their_words(client: Client) -> None:
    page = client.get("/history", params={"figure": "p90(latency)", "words": "PING"}).text
    assert "was measured: 1" in page
    assert "imu: " not in page
    assert "in such a setting" in client.get("/history", params={"words": "nowhere"}).text


def test_what_one_run_alone_measured_has_a_table_and_no_chart(monthly_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(monthly_runs / "run-1", tmp_path / "run-1")
    page = opened(Client(site([tmp_path], Admission())), "imu: ", figure="p90(latency)")
    assert "A history begins with the second" in page
    assert '<th scope="row">run-1' in page
    assert 'id="history"' not in page


def test_what_all_settings_share_is_said_once(client: Client) -> None:
    page = client.get("/history", params={"figure": "p90(latency)"}).text
    shared = re.search("In all settings: ([^<]*)<", page)
    assert shared is not None
    assert "profile default" in shared[1]
    assert page.count("profile default") == 1
    assert re.search(">imu: [^<]*200 Hz[^<]*, on ", page)


def test_a_stream_that_is_written_out_as_a_factor_stands_in_the_caption_of_its_chart() -> None:
    stream = "stream.imu=320 B at 200 Hz, best_effort, history 16, drivers to control"
    points = tuple(HistoryPoint(f"run-{n}", f"2026-0{n}-01", "1", "1", 1e5, None, None, 1) for n in (1, 2))
    series = History("udp", f"workload=robot {stream} spin=0 ns", "imu", "here", points)
    (setting,) = settings([series])
    chart = history_chart(setting, metric_named("median(latency)"), ["udp"])
    assert chart is not None
    assert chart.title == "robot: spin 0 ns, stream imu, on here"
    assert f"With {stream.replace('=', ' ', 1).replace('_', ' ')}." in chart.caption


def test_a_change_of_level_names_the_versions_that_came_with_it(monthly_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(monthly_runs, tmp_path, dirs_exist_ok=True)
    for month in range(4, 8):
        run = tmp_path / f"run-{month}"
        manifest = (run / "manifest.json").read_text(encoding="utf-8")
        (run / "manifest.json").write_text(manifest.replace('"1.2.3"', '"1.3.0"'), encoding="utf-8")
        table = pl.read_parquet(run / "summary.parquet")
        table.with_columns(pl.col("estimate", "low", "high") * 2).write_parquet(run / "summary.parquet")
    pages = Client(site([tmp_path], Admission()))
    words = "alpha × 2.0 from run-4 on, 2026-04-15 (library 1.2.3 → 1.3.0)"
    assert words in pages.get("/history", params={"figure": "p90(latency)"}).text
    assert words in opened(pages, "imu: ", figure="p90(latency)")


def test_a_page_of_one_setting_looks_for_changes_in_its_own_series_alone(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []
    monkeypatch.setattr(past, "level_changes", lambda points: looked.append(points) or ())
    listed = client.get("/history", params={"figure": "p90(latency)"}).text
    n_of_all = len(looked)
    looked.clear()
    link = re.search(r'<a href="(/history\?[^"]*setting=[^"]*)">', listed)
    assert link is not None
    client.get(html.unescape(link[1]))
    assert (n_of_all, len(looked)) == (4, 2)


def test_only_the_newest_of_many_values_are_in_the_table_and_all_in_the_chart() -> None:
    n = MOST_POINTS_IN_A_TABLE + 7
    points = tuple(HistoryPoint(f"run-{k}", f"{1990 + k}-01-01", "1", "1", 1e5, None, None, 1) for k in range(n))
    (setting,) = settings([History("udp", "workload=imu", "imu", "here", points)])
    (table,) = history_tables(setting, metric_named("median(latency)"))
    assert table.title == f"udp: the newest {MOST_POINTS_IN_A_TABLE}, without 7 older ones"
    assert len(table.rows) == MOST_POINTS_IN_A_TABLE
    chart = history_chart(setting, metric_named("median(latency)"), ["udp"])
    assert chart is not None
    assert len(chart.spec["datasets"]["rows"]) == n


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
    assert "run-2/manifest.json" in page.text
    assert page.text.count('<td class="value">1</td>') == 2


def test_a_run_that_comes_changes_or_goes_does_so_in_the_history(monthly_runs: Path, tmp_path: Path) -> None:
    for month in (1, 2):
        shutil.copytree(monthly_runs / f"run-{month}", tmp_path / f"run-{month}")
    whole = site([tmp_path], Admission())
    shown = partial(_rows_of_alpha, whole)

    async def asked_while_it_is_up() -> None:
        async with whole.router.lifespan_context(whole):
            before = await asyncio.to_thread(shown)
            assert list(before) == ["run-2", "run-1"]
            shutil.copytree(monthly_runs / "run-3", tmp_path / "run-3")
            assert list(await asyncio.to_thread(shown)) == ["run-3", "run-2", "run-1"]
            path = tmp_path / "run-1" / "summary.parquet"
            pl.read_parquet(path).with_columns(pl.col("estimate") * 2).write_parquet(path)
            shutil.rmtree(tmp_path / "run-2")
            after = await asyncio.to_thread(shown)
            assert list(after) == ["run-3", "run-1"]
            assert after["run-1"] != before["run-1"]

    asyncio.run(asked_while_it_is_up())


def _rows_of_alpha(whole: Starlette) -> dict[str, str]:
    """By run, the newest first."""
    page = opened(Client(whole), "imu: ", figure="p90(latency)", middleware="alpha")
    return dict(re.findall('(?s)<tr data-series="(run-.)">(.*?)</tr>', page))
