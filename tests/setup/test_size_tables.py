"""What a run of `sizes` found is written into the pages that have a place for it, each value with its interval."""

import importlib.util

import polars as pl

from middlemark.analysis.dataframes import SCHEMA
from middlemark.suite.metrics import Distribution
from pages import ROOT

SCRIPT = ROOT / "setup/pages/sizes.py"
_spec = importlib.util.spec_from_file_location("sizes_page", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
sizes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sizes)


def estimates(*rows: tuple[str, str, str, float | None]) -> pl.DataFrame:
    """Of one middleware as shipped: workload, size, metric and estimate, whose interval is a tenth to each side."""
    full = [
        {
            **dict.fromkeys(SCHEMA),
            "middleware": "tcp",
            "profile": "default",
            "workload": workload,
            "factors": f"workload={workload} size={size} rate=50 Hz",
            "metric": metric,
            "estimate": value,
            "low": None if value is None else 0.9 * value,
            "high": None if value is None else 1.1 * value,
        }
        for workload, size, metric, value in rows
    ]
    return pl.DataFrame(full, schema=SCHEMA)


def test_each_size_has_its_column_and_each_value_its_interval() -> None:
    found = sizes.tables(
        estimates(
            ("imu", "64 B", sizes.ONE_WAY, 20_000.0),
            ("camera", "4 MB", sizes.ONE_WAY, 3e6),
            ("camera", "4 MB", "undelivered_share", 0.25),
            ("ping_pong", "64 B", "round_trip_p50_ns", 9000.0),
            ("ping_pong", "64 B", sizes.ONE_WAY, 4000.0),
            ("imu", "1 kB", sizes.ONE_WAY, None),
        )
    )
    assert found == {
        "tcp": {
            "default": {
                "64 B": "20 µs [18; 22]",
                "1 kB": "–",
                "4 MB": "3 ms [2.7; 3.3], 25 % undelivered",
                "round trip, 64 B": "9 µs [8.1; 9.9]",
            }
        }
    }
    assert sizes.table(found["tcp"]).splitlines()[2].startswith("| `default` | 20 µs [18; 22] | – | – |")


def test_only_what_stands_between_the_marks_is_written_anew() -> None:
    page = f"before\n\n{sizes.BEGIN}\n\nold\n\n{sizes.END}\n\nafter\n"
    fresh = sizes.replaced(page, "how", "a table")
    assert fresh == f"before\n\n{sizes.BEGIN}\n\nhow\n\na table\n\n{sizes.END}\n\nafter\n"
    assert sizes.replaced(fresh, "how", "a table") == fresh
    assert sizes.replaced("a page without marks", "how", "a table") == "a page without marks"


def test_the_metrics_are_the_medians_of_what_runs_store() -> None:
    named = [f"{each.value}_p50_ns" for each in (Distribution.LATENCY_FROM_SEND, Distribution.ROUND_TRIP)]
    assert named == [sizes.ONE_WAY, sizes.ROUND_TRIP]
