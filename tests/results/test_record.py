"""What a stored record may say: names that suites may have, numbers that mean something, and nothing of other trials."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from middlemark.errors import StoreError
from middlemark.results.run_folder import RunFolder
from shared_runs import GOLDEN

HUGE = 10**25
BAD_NAMES = ["../x", "a/b", "..", "a\nb", "a\0b", "; rm -rf /"]


def first(kind: str) -> dict[str, Any]:
    trial = next(RunFolder(GOLDEN / kind).stored_trials())
    record: dict[str, Any] = json.loads(trial.record_path.read_text())
    return record


def read(folder: Path, record: dict[str, Any]) -> None:
    own = folder / "run" / "trials" / "1-x"
    own.mkdir(parents=True, exist_ok=True)
    (own / "trial.json").write_text(json.dumps(record))
    next(RunFolder(folder / "run").stored_trials()).read_record()


NAMES: dict[str, Callable[[Any, str], object]] = {
    "the trial": lambda r, name: r["trial"].update(id=name),
    "the experiment": lambda r, name: r["trial"]["experiment"].update(id=name),
    "the middleware": lambda r, name: r["trial"]["experiment"].update(middleware=name),
    "its profile": lambda r, name: r["trial"]["experiment"].update(profile=name),
    "the workload": lambda r, name: r["trial"]["experiment"].update(workload=name),
    "the topology": lambda r, name: r["trial"]["experiment"].update(topology=name),
    "a host": lambda r, name: r["trial"]["experiment"]["hosts"][0].update(name=name),
    "an application": lambda r, name: r["trial"]["experiment"]["applications"][0].update(name=name),
    "an application's host": lambda r, name: r["trial"]["experiment"]["applications"][0].update(host=name),
    "a stream": lambda r, name: r["trial"]["experiment"]["streams"][0].update(name=name),
    "a stream's publisher": lambda r, name: r["trial"]["experiment"]["streams"][0].update(publishers=[name]),
    "a network": lambda r, name: r["trial"]["experiment"]["networks"][0].update(name=name),
    "a service": lambda r, name: r["trial"]["experiment"].update(services=[name]),
    "the stream of a count": lambda r, name: r["counts"]["publishers"][0].update(stream=name),
    "a process with resources": lambda r, name: r.update(resources={name: next(iter(r["resources"].values()))}),
    "an interrupted process": lambda r, name: r.update(interrupted=[name]),
    "the host of a link": lambda r, name: r["links"][0].update(host=name),
}


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("change", NAMES.values(), ids=NAMES)
def test_a_name_that_no_suite_may_have_is_refused(
    tmp_path: Path, change: Callable[[Any, str], object], name: str
) -> None:
    record = first("run-format-1-links")
    change(record, name)
    with pytest.raises(StoreError, match=r"trial\.json: it can't be read"):
        read(tmp_path, record)


@pytest.mark.parametrize("name", [name for name in BAD_NAMES if name != "a/b"])
def test_a_fault_is_of_a_process_or_of_a_link_by_its_host_and_network(tmp_path: Path, name: str) -> None:
    record = first("run-format-1-links")
    record["trial"]["experiment"]["timeline"][0].update(target=name)
    with pytest.raises(StoreError, match=r"trial\.json: it can't be read"):
        read(tmp_path, record)


@pytest.mark.parametrize("target", ["-oProxyCommand=touch /tmp/x", "a b", "a\nb", ""])
def test_a_target_of_ssh_is_no_option_of_the_client(tmp_path: Path, target: str) -> None:
    record = first("run-format-1-links")
    record["trial"]["experiment"]["hosts"][0].update(kind="ssh", ssh=target)
    with pytest.raises(StoreError, match=r"hosts\.0\.ssh"):
        read(tmp_path, record)


NUMBERS: dict[str, Callable[[Any], object]] = {
    "a window that ends before it begins": lambda r: r["window"].update(
        begin_ns=r["window"]["end_ns"], end_ns=r["window"]["begin_ns"]
    ),
    "an origin of time at the window's end": lambda r: r["window"].update(t0_ns=r["window"]["end_ns"]),
    "an end beyond what a number holds": lambda r: r["window"].update(end_ns=HUGE),
    "more sent than a number holds": lambda r: r["counts"]["publishers"][0].update(sent=HUGE),
    "fewer sent than none": lambda r: r["counts"]["publishers"][0].update(sent=-1),
    "a publisher that is not there": lambda r: r["counts"]["publishers"][0].update(publisher=40),
    "more received than a number holds": lambda r: r["counts"]["subscribers"][0].update(received=HUGE),
    "a subscriber that is not there": lambda r: r["counts"]["subscribers"][0].update(subscriber=7),
    "a stream that is not there": lambda r: r["counts"]["subscribers"][0].update(stream="another"),
    "a first message beyond what a number holds": lambda r: r["first_message"][0].update(after_ns=HUGE),
    "a block beyond what a number holds": lambda r: r["trial"].update(block=HUGE),
    "a number that is not the trial's": lambda r: r["trial"].update(number=r["trial"]["number"] + 1),
    "a seed beyond what a number holds": lambda r: r["trial"].update(seed=HUGE),
    "samples beyond what a number holds": lambda r: r["trial"]["experiment"].update(samples=HUGE),
    "a window of negative length": lambda r: r["trial"]["experiment"]["windows"].update(window_ns=-5),
    "a size beyond what a number holds": lambda r: r["trial"]["experiment"]["streams"][0].update(size_bytes=HUGE),
    "a rate of nought": lambda r: r["trial"]["experiment"]["streams"][0]["pattern"].update(rate_hz=0),
    "an infinite rate": lambda r: r["trial"]["experiment"]["streams"][0]["pattern"].update(rate_hz=float("inf")),
    "a rate that is no number": lambda r: r["trial"]["experiment"]["streams"][0]["pattern"].update(
        rate_hz=float("nan")
    ),
    "a loss that is no number": lambda r: r["links"][0]["figures"].update(loss=float("nan")),
    "an attempt beyond what a number holds": lambda r: r.update(attempt=HUGE),
    "settings of nobody": lambda r: r.update(effective={"nobody": next(iter(r["effective"].values()))}),
}


@pytest.mark.parametrize("change", NUMBERS.values(), ids=NUMBERS)
def test_a_number_that_no_campaign_writes_is_refused(tmp_path: Path, change: Callable[[Any], object]) -> None:
    record = first("run-format-1-links")
    change(record)
    with pytest.raises(StoreError, match=r"trial\.json: it can't be read"):
        read(tmp_path, record)


def test_an_instant_at_which_no_run_began_is_refused(tmp_path: Path) -> None:
    manifest = json.loads((GOLDEN / "run-format-1/manifest.json").read_text())
    for instant in (
        "yesterday",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "0001-01-01T00:00:00+00:00",
        "9999-12-31T23:59:59-23:00",
    ):
        (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"started_at": instant}))
        with pytest.raises(StoreError, match="started_at"):
            RunFolder(tmp_path).read_manifest()


def test_two_experiments_of_one_id_and_a_trial_twice_are_refused(tmp_path: Path) -> None:
    manifest = json.loads((GOLDEN / "run-format-1/manifest.json").read_text())
    twice = [*manifest["trials"], manifest["trials"][0]]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"trials": twice}))
    with pytest.raises(StoreError, match="a trial twice"):
        RunFolder(tmp_path).read_manifest()
    manifest["trials"][0]["experiment"]["samples"] += 1
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="two experiments of one id"):
        RunFolder(tmp_path).read_manifest()
