"""Every kind of input that others may have made, and how Middlemark reads it.

A reader gets a file of its own folder and ends with a value or with an error that is told to people; `bounds` judges
anything else. `examples` has sound inputs, `mutation` makes others of them, `search` tries them.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from examples import (
    MIDDLEWARES,
    RUNS,
    RUNS_WITH_ESTIMATES,
    example_archives,
    example_claims,
    example_demands,
    example_descriptions,
    example_events,
    example_histograms,
    example_histories,
    example_ledgers,
    example_recordings,
    example_samples,
    example_seeds,
    example_selections,
    example_suites,
    experiments_of_quick,
)
from hostile_runs import damaged
from middlemark.analysis.catalogue import index
from middlemark.analysis.catalogue.estimates import past_runs
from middlemark.analysis.catalogue.library import RunLibrary, Shelf
from middlemark.analysis.compare.history import histories
from middlemark.analysis.dataframes import load
from middlemark.analysis.run import analyse
from middlemark.campaign.import_recording import read_recording, recorded_demand
from middlemark.campaign.trial import samples
from middlemark.campaign.trial.events import EventReader, TrialOver
from middlemark.campaign.trial.processes import APPLICATION_EVENTS, SERVICE_EVENTS
from middlemark.errors import MiddlemarkError
from middlemark.plan import expand, experiments_of, only, replanned
from middlemark.report.conclusions.history import settings
from middlemark.report.output.data import export
from middlemark.report.output.formats import ExportFormat
from middlemark.results.run_folder import RunFolder
from middlemark.serve.history import history_tables
from middlemark.suite import load_claims, load_demand, load_suite, parse_given
from middlemark.suite.load import parse_claims
from middlemark.suite.metrics import PLAIN, metric_named
from middlemark.testbed.processes.archive import Refused, unpack
from middlemark.testbed.processes.ledger import read as read_ledger
from middlemark.worker.description import _parse as parse_description
from middlemark.worker.process import WorkerProcess

TOLD = (MiddlemarkError, TrialOver, Refused)
"""Errors that say what was wrong with an input."""


@dataclass(frozen=True)
class Kind:
    """A kind of input. `words` are what its writers use."""

    read: Callable[[Path], object]
    examples: Callable[[], Sequence[bytes]]
    suffix: str = ""
    words: tuple[str, ...] = ()


# --- what people write --------------------------------------------------------------------------------------------------


def read_suite(path: Path) -> object:
    return expand(load_suite(str(path)).suite, available=MIDDLEWARES)


def read_only(path: Path) -> object:
    return only(experiments_of_quick(), path.read_text(encoding="utf-8", errors="replace").split("\n"))


def read_demand(path: Path) -> object:
    return experiments_of(load_demand(str(path)).demand, dict.fromkeys(MIDDLEWARES, ("default",)))


def read_claims(path: Path) -> object:
    with suppress(MiddlemarkError):
        parse_claims(path.read_text(encoding="utf-8", errors="replace").split("\n"))
    return load_claims(str(path))


# --- what workers say and leave -----------------------------------------------------------------------------------------


def read_events(path: Path) -> object:
    """As they come from a worker's standard output, line by line, into what a trial has heard."""
    for events in (APPLICATION_EVENTS, SERVICE_EVENTS):
        heard = EventReader(path.parent)
        popen = cast("Any", SimpleNamespace(pid=0, returncode=0))
        asyncio.run(_said(WorkerProcess("worker", popen, path, heard.hear), path.read_bytes(), events))
        assert all(line.isprintable() for line in heard.lines), "an event would break its line"
    return None


async def _said(worker: WorkerProcess[Any], said: bytes, events: Any) -> None:  # noqa: ANN401 - an adapter of any event
    reader = asyncio.StreamReader(4 << 20)
    reader.feed_data(said)
    reader.feed_eof()
    await worker._read(reader, events)


def read_description(path: Path) -> object:
    return parse_description(path.read_bytes(), Path("middlemark-worker-x"))


def read_samples(path: Path) -> object:
    """As one application left them; which table it is stands in the name of the example."""
    content, folders = path.read_bytes(), {"app": path.parent}
    streams = [experiments_of_quick()[0].streams[0].model_copy(update={"topics": 3})]
    tables = {
        "received": lambda: samples.received(folders, streams),
        "published": lambda: samples.published(folders, streams),
        "executions": lambda: samples.executions(folders),
    }
    for table, read in tables.items():
        path.with_name(f"app.{table}.npy").write_bytes(content)
        with suppress(*TOLD):
            samples.check_samples(folders)
            read().collect()
        path.with_name(f"app.{table}.npy").unlink()
    return None


def read_histogram(path: Path) -> object:
    path.rename(path.with_name("app.beyond.hlog"))
    samples.check_samples({"app": path.parent})
    return None


# --- what was stored, here or elsewhere ---------------------------------------------------------------------------------


def read_run(path: Path) -> object:
    """The file holds the seed by which a stored run is damaged, which is then read in every way."""
    chance = random.Random(path.read_bytes())
    run, out = path.parent / "runs" / "run", path.parent / "out"
    damaged(chance.choice(RUNS), run, chance)
    out.mkdir()
    for read in (lambda: analyse(RunFolder(run)), lambda: _resumed(run), lambda: _exported(run, out)):
        with suppress(*TOLD):
            read()
    looked_into(run.parent)
    assert all(each.resolve().parent == out for each in out.iterdir()), "an export left its folder"
    return None


def looked_into(runs: Path) -> Shelf:
    """The runs in a folder, with an index beside it."""
    index.cache_folder = lambda: runs.with_name("cache")
    return RunLibrary([runs]).look()


def _resumed(run: Path) -> None:
    manifest = RunFolder(run).read_manifest()
    replanned(parse_given(manifest.suite_text, file="manifest.json", files=manifest.suite_files), manifest.trials)


def _exported(run: Path, out: Path) -> None:
    loaded = load(run)
    for kind in (ExportFormat.PARQUET, ExportFormat.OPENMETRICS):
        export(loaded, kind, out)


def read_history(path: Path) -> object:
    """One damaged table of estimates between two runs that are as they were."""
    metric = metric_named("p50(latency)") or PLAIN[0]
    for number, run in enumerate(RUNS_WITH_ESTIMATES[:3]):
        copy = path.parent / "runs" / str(number)
        copy.mkdir(parents=True)
        shutil.copy(run / "manifest.json", copy)
        shutil.copy(path if number == 1 else run / "summary.parquet", copy / "summary.parquet")
    shelf = looked_into(path.parent / "runs")
    past, estimates, unreadable = past_runs(shelf, metric)
    n_runs = estimates["run"].n_unique() + len(shelf.unreadable) + len(unreadable)
    assert n_runs <= min(len(RUNS_WITH_ESTIMATES), 3), "a run is read twice, or read and named"
    return [history_tables(setting, metric) for setting in settings(histories(past, estimates, metric))]


def read_ledger_file(path: Path) -> object:
    path.chmod(0o600)
    return read_ledger(path)


def read_recording_file(path: Path) -> object:
    named = path.with_suffix(".db3" if path.read_bytes().startswith(b"SQLite") else ".mcap")
    path.rename(named)
    return recorded_demand("x", "x", "x.csv", read_recording(named))


def read_archive(path: Path) -> object:
    into = path.parent / "into"
    into.mkdir()
    reading, writing = os.pipe()
    sender = threading.Thread(target=_send, args=(writing, path.read_bytes()))
    sender.start()
    try:
        unpack(reading, into, 5.0)
    finally:
        os.close(reading)
        sender.join()
    assert all(each.is_file() and not each.is_symlink() for each in into.iterdir()), "no regular file came through"
    return None


def _send(descriptor: int, content: bytes) -> None:
    with suppress(BrokenPipeError), open(descriptor, "wb") as pipe:
        pipe.write(content)


YAML_WORDS = (
    "{",
    "}",
    "[",
    "]",
    ": ",
    "- ",
    "\n  ",
    "&a ",
    "*a",
    "!!set ",
    "'",
    '"',
    "#",
    "null",
    "1e400",
    "0x1F",
    "4 MB",
)
JSON_WORDS = (
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\\ud800",
    "\\u0000",
)
KINDS: dict[str, Kind] = {
    "suite": Kind(read_suite, example_suites, ".yaml", YAML_WORDS),
    "only": Kind(read_only, example_selections, "", ("=", ",", " ", "size=", "B", "MB", "1e9 B", "-", "µs", "nan")),
    "demand": Kind(read_demand, example_demands, ".yaml", YAML_WORDS),
    "claims": Kind(
        read_claims, example_claims, ".yaml", (*YAML_WORDS, "<", ">", "(", ")", "%", "±", " of ", " better ")
    ),
    "events": Kind(read_events, example_events, "", (*JSON_WORDS, "\n", '"event"', "\x1b[2J")),
    "description": Kind(read_description, example_descriptions, "", JSON_WORDS),
    "samples": Kind(read_samples, example_samples, "", ("(99999999999,)", "'|O'", "'<i8'", "True", "(-1,)", "[('")),
    "histogram": Kind(read_histogram, example_histograms, "", ("Tag=", ",", ".", "AAAA", "=", "round_trips")),
    "run": Kind(read_run, example_seeds),
    "history": Kind(read_history, example_histories, ".parquet"),
    "ledger": Kind(read_ledger_file, example_ledgers, "", (*JSON_WORDS, "../", "/", "shared_memory", "cgroup")),
    "recording": Kind(read_recording_file, example_recordings),
    "archive": Kind(read_archive, example_archives, "", ("../", "/", "0000777", "ustar")),
}
