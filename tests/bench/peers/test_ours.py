"""Our side is a suite that the product reads, for every row of the table, and its metrics are those that peers have."""

import json
from pathlib import Path

import polars as pl
import pytest

import ours
from middlemark.suite import Pattern, load_suite
from pairs import PAIRS
from peer import Cores, Metric, Pair, Site

SITE = Site(Cores.TWO, receiver=0, sender=1)


def pair_of(pattern: Pattern, *, counts_sent: bool = False) -> Pair:
    return next(pair for pair in PAIRS if pair.load.pattern is pattern and pair.counts_sent is counts_sent)


def stored(pattern: Pattern, **values: float | None) -> pl.DataFrame:
    rows = [(f"stream:{pattern}", metric, value) for metric, value in values.items()]
    return pl.DataFrame([*rows, ("trial", "cpu_percent_of_core", 50.0)], ["subject", "metric", "value"], orient="row")


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.name}-{pair.load.pattern}-{pair.load.delivery}")
def test_every_row_is_a_suite(pair: Pair, tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(ours.suite_of(pair, SITE, 2.0)), encoding="utf-8")
    suite = load_suite(path).suite
    assert [each.middleware for each in suite.middlewares] == [pair.middleware]


def test_a_share_of_the_processor_becomes_time_for_each_message() -> None:
    pattern = Pattern.PING_PONG
    values = {"achieved_rate_hz": 100_000.0, "round_trip_p50_ns": 4000.0, "round_trip_p99_ns": 5000.0}
    assert ours.metrics(pair_of(pattern), stored(pattern, **values)) == {
        Metric.RATE: 100_000.0,
        Metric.CPU: 5000.0,
        Metric.MEDIAN: 4000.0,
        Metric.P99: 5000.0,
    }


def test_a_flood_counts_what_its_peer_counts() -> None:
    pattern = Pattern.UNTHROTTLED
    of_ours = stored(pattern, achieved_rate_hz=300.0, received_rate_hz=200.0)
    assert ours.metrics(pair_of(pattern, counts_sent=True), of_ours)[Metric.RATE] == 300.0
    assert ours.metrics(pair_of(pattern, counts_sent=False), of_ours)[Metric.RATE] == 200.0


def test_what_a_flood_would_reach_without_filling_is_bounded() -> None:
    pattern = Pattern.UNTHROTTLED
    rates = {"achieved_rate_hz": 300.0, "received_rate_hz": 150.0}
    pair = pair_of(pattern)
    assert ours.metrics(pair, stored(pattern, **rates, fill_share=0.25))[Metric.UNFILLED] == 200.0
    assert Metric.UNFILLED not in ours.metrics(pair, stored(pattern, **rates, fill_share=None))


def test_ours_keeps_what_its_peer_keeps() -> None:
    asked = [(pair.qos, json.loads(json.dumps(ours.suite_of(pair, SITE, 2.0)))) for pair in PAIRS if pair.qos]
    assert asked
    assert all(qos.items() <= suite["workloads"][0]["qos"].items() for qos, suite in asked)


def test_a_quantile_without_a_value_is_no_measurement() -> None:
    pattern = Pattern.PING_PONG
    values = {"achieved_rate_hz": 9.0, "round_trip_p50_ns": 4000.0, "round_trip_p99_ns": None}
    with pytest.raises(ours.OursFailedError, match="no round_trip_p99_ns"):
        ours.metrics(pair_of(pattern), stored(pattern, **values))


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.middleware == "mqtt"], ids=lambda pair: pair.name)
def test_a_broker_runs_on_the_receivers_cpu_at_both_sides(pair: Pair, tmp_path: Path) -> None:
    broker = pair.peer.session(pair.load, SITE, 2.0, tmp_path).commands[0]
    assert (broker.argv[0].endswith("mosquitto"), broker.cpus) == (True, (SITE.receiver,))
    conditions = ours.suite_of(pair, SITE, 2.0)["conditions"]
    assert isinstance(conditions, dict)
    assert conditions["cpus"]["services"] == [SITE.receiver]
