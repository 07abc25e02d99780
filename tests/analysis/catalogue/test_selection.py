"""Runs are found by what their users say of them."""

from pathlib import Path

import pytest

from middlemark.analysis.catalogue.library import ListedRun, RunSelection, Shelf
from middlemark.errors import UsageError
from middlemark.results.manifest import Library, Middleware, RunHead, RunOutline
from middlemark.results.run_folder import RunFolder


def run(began: str, version: str, tags: tuple[str, ...] = (), base: str | None = None) -> ListedRun:
    def library(number: str) -> Middleware:
        return Middleware(title="Zenoh", summary="", library=Library(name="zenoh", version=number, origin="crate"))

    head = RunHead(
        middlemark_version="0.1.0",
        suite="quick",
        started_at=began,
        machine={"cpu_model": "AMD EPYC 9354", "machine_id": "5d41402a"},
        middlewares={"zenoh": library(version)},
        base={"zenoh": library(base)} if base else {},
        tags=tags,
    )
    outline = RunOutline(head=head, n_trials=3, workloads=("imu", "ping_pong"))
    return ListedRun(RunFolder(Path("/runs/run")), outline, "")


RUN = run("2026-03-15T23:30:00+00:00", "1.10.2", ("nightly", "robot"))


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"middleware": "zenoh"},
        {"version": "1.10.2"},
        {"version": "1.10"},
        {"version": "1", "middleware": "zenoh"},
        {"workload": "ping_pong"},
        {"machine": "epyc"},
        {"machine": "5D41"},
        {"suite": "quick"},
        {"tag": "robot"},
        {"since": "2026-03-15"},
        {"until": "2026-03-15"},
        {"since": "2026-01-01", "until": "2026-12-31", "tag": "nightly"},
    ],
)
def test_a_run_is_found_by_what_is_true_of_it(said: dict[str, str]) -> None:
    assert RunSelection(**said).matches(RUN)


@pytest.mark.parametrize(
    "said",
    [
        {"middleware": "mqtt"},
        {"version": "1.1"},
        {"version": "1.10.20"},
        {"version": "1.10.2", "middleware": "mqtt"},
        {"workload": "ping"},
        {"machine": "Xeon"},
        {"suite": "quic"},
        {"tag": "night"},
        {"since": "2026-03-16"},
        {"until": "2026-03-14"},
        {"suite": "quick", "tag": "weekly"},
    ],
)
def test_a_run_is_not_found_by_what_is_not_true_of_it(said: dict[str, str]) -> None:
    assert not RunSelection(**said).matches(RUN)


def test_the_version_of_the_base_counts_too() -> None:
    assert RunSelection(version="1.9").matches(run("2026-03-15T12:00:00+00:00", "1.10.2", base="1.9.0"))


def test_what_is_no_day_is_told() -> None:
    with pytest.raises(UsageError, match="no day"):
        RunSelection(since="yesterday")


def test_a_selection_is_read_from_a_form_with_other_fields() -> None:
    assert RunSelection.of({"tag": " robot ", "figure": "loss"}).conditions == {"tag": "robot"}


def test_of_a_shelf_only_what_is_meant_stays() -> None:
    shelf = Shelf((RUN, run("2026-03-15T12:00:00+00:00", "1.9.0")), ())
    assert [
        listed.head.middlewares["zenoh"].library.version for listed in RunSelection(version="1.9").of_shelf(shelf).runs
    ] == ["1.9.0"]
