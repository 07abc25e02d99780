"""Sound examples of every kind of input, from what ships and what is stored. `kinds` says how each is read."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
from contextlib import closing
from functools import cache

import numpy as np
from mcap.writer import Writer

import fake_protocol
from middlemark.campaign.trial import samples
from middlemark.plan import Experiment, expand
from middlemark.results.run_folder import RunFolder
from middlemark.suite import load_suite, shipped_suite_names
from middlemark.suite.papers import load_paper, shipped_paper_names
from shared_runs import GOLDEN

MIDDLEWARES = ("udp", "zenoh", "cyclonedds", "fastdds")
RUNS = sorted(path for path in GOLDEN.iterdir() if (path / "manifest.json").is_file())
RUNS_WITH_ESTIMATES = [run for run in RUNS if (run / "summary.parquet").is_file()]


@cache
def experiments_of_quick() -> tuple[Experiment, ...]:
    return expand(load_suite("quick").suite, available=MIDDLEWARES)


def example_suites() -> list[bytes]:
    return [load_suite(name).text.encode() for name in shipped_suite_names()]


def example_selections() -> list[bytes]:
    factors = sorted({item for each in experiments_of_quick() for item in each.factors.items()})
    return [f"{name}={value}".encode() for name, value in factors]


def example_demands() -> list[bytes]:
    texts = [RunFolder(run).read_manifest().suite_text for run in RUNS]
    return [text.encode() for text in texts if "application:" in text]


def example_claims() -> list[bytes]:
    papers = [load_paper(name).paper for name in shipped_paper_names()]
    claims = [claim.text for paper in papers for finding in paper.findings for claim in finding.claims or ()]
    return [("claims:\n" + "".join(f'  - "{text}"\n' for text in claims[:6])).encode(), *(c.encode() for c in claims)]


def example_events() -> list[bytes]:
    """What workers of stored runs said, each process for itself."""
    found = []
    for path in sorted(GOLDEN.glob("*/trials/*/events.jsonl")):
        heard = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        said = [{key: each[key] for key in each.keys() - {"at_ns", "process"}} for each in heard if "event" in each]
        found.append("".join(f"{json.dumps(each)}\n" for each in said).encode())
    return found


def example_descriptions() -> list[bytes]:
    return [json.dumps(fake_protocol.description()).encode()]


def example_samples() -> list[bytes]:
    found = []
    for schema in samples._SCHEMAS.values():
        columns = samples._recorded(schema)
        kinds = {"UInt8": "<u1", "UInt16": "<u2", "UInt32": "<u4", "UInt64": "<u8", "Int64": "<i8", "Boolean": "?"}
        kind = np.dtype([(name, kinds.get(str(each), "<u4")) for name, each in columns.items()])
        out = io.BytesIO()
        np.save(out, np.zeros(20, kind))
        found.append(out.getvalue())
    return found


def example_histograms() -> list[bytes]:
    return [path.read_bytes() for path in sorted(GOLDEN.rglob("*.hlog"))[:4]]


def example_seeds() -> list[bytes]:
    return [str(number).encode() for number in range(20)]


def example_histories() -> list[bytes]:
    return [(run / "summary.parquet").read_bytes() for run in RUNS_WITH_ESTIMATES]


def example_ledgers() -> list[bytes]:
    return [
        (
            b'{"mark":"1a","op":"create","kind":"folder","what":"/tmp/mm010123456789"}\n'
            b'{"mark":"1a","op":"remove"}\n'
            b'{"mark":"2","op":"create","kind":"process","what":"worker"}\n'
            b'{"mark":"2","op":"started","pid":4000000,"start_ticks":7,"boot_id":"x"}\n'
        )
    ]


def example_recordings() -> list[bytes]:
    mcap = io.BytesIO()
    writer = Writer(mcap)
    writer.start()
    channel = writer.register_channel("/imu", "cdr", 0, {"offered_qos_profiles": "- reliability: reliable\n"})
    for at_ns in (0, 5_000_000, 11_000_000):
        writer.add_message(channel, 10**18 + at_ns, bytes(320), 0)
    writer.finish()
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, offered_qos_profiles TEXT)")
        database.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INT, timestamp INT, data BLOB)")
        database.execute("INSERT INTO topics VALUES (1, '/imu', '')")
        database.executemany("INSERT INTO messages VALUES (?, 1, ?, ?)", [(n, n * 10**7, bytes(50)) for n in range(5)])
        database.commit()
        return [mcap.getvalue(), database.serialize()]


def example_archives() -> list[bytes]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        for name in ("subscriber_0.received.npy", "publisher_0.published.npy"):
            info = tarfile.TarInfo(name)
            info.size = 600
            made.addfile(info, io.BytesIO(bytes(600)))
    return [out.getvalue()]
