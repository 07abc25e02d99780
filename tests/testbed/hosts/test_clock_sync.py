"""The clock of a remote host is asked for over its connection; what linuxptp says is read as it writes it."""

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.testbed.hosts import clock_sync
from middlemark.testbed.hosts.clock_sync import Reading, measured_offset, parsed_ptp, ptp_clock
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.processes import child, ledger

READING = Reading(monotonic_ns=10, realtime_ns=1000, gap_ns=40)
# As `pmc` of linuxptp 3.1.1 prints it.
ANSWERS = """\
sending: GET CURRENT_DATA_SET
\t7a5c1f.fffe.0b52d1-0 seq 0 RESPONSE MANAGEMENT CURRENT_DATA_SET
\t\tstepsRemoved     1
\t\toffsetFromMaster -132.0
\t\tmeanPathDelay    1350.0
sending: GET PARENT_DATA_SET
\t7a5c1f.fffe.0b52d1-0 seq 1 RESPONSE MANAGEMENT PARENT_DATA_SET
\t\tparentPortIdentity                    9e6c3a.fffe.1146bd-1
\t\tgrandmasterIdentity                   9e6c3a.fffe.1146bd
sending: GET PORT_DATA_SET
\t7a5c1f.fffe.0b52d1-1 seq 2 RESPONSE MANAGEMENT PORT_DATA_SET
\t\tportState               SLAVE
"""


def test_a_locked_clock_is_as_far_off_as_ptp_sees_and_the_reading_took() -> None:
    found = parsed_ptp(ANSWERS, READING)
    assert found is not None
    assert (found.grandmaster, found.error_ns) == ("9e6c3a.fffe.1146bd", 132 + 40)


def test_a_clock_that_is_not_locked_counts_as_not_kept() -> None:
    assert parsed_ptp(ANSWERS.replace("SLAVE", "UNCALIBRATED"), READING) is None
    assert parsed_ptp("", READING) is None
    assert parsed_ptp(ANSWERS.replace("-132.0", "inf"), READING) is None
    assert parsed_ptp(ANSWERS.replace("-132.0", "far"), READING) is None
    assert parsed_ptp("sending: GET CURRENT_DATA_SET\n", READING) is None


# Answers as `middlemark-probe clock` does, but so slowly that exchanges alone say little.
PROBE = """\
import json, sys, time
while sys.stdin.buffer.read(1):
    time.sleep(0.0003)
    monotonic_ns, realtime_ns = time.monotonic_ns(), time.time_ns()
    gap_ns = time.monotonic_ns() - monotonic_ns
    time.sleep(0.0003)
    print(json.dumps({"monotonic_ns": monotonic_ns, "realtime_ns": realtime_ns, "gap_ns": gap_ns}), flush=True)
"""


@dataclass(frozen=True)
class OtherMachine:
    """Runs its commands here, with a `pmc` of its own."""

    pmc: Path
    name: str = "there"
    is_connected: bool = True

    def command(self, words: Iterable[str]) -> list[str]:
        first, *others = words
        return [sys.executable, first, *others] if first.endswith(".py") else [str(self.pmc), *others]


def pmc(folder: Path, answers: str) -> Path:
    folder.mkdir()
    path = folder / "pmc"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{answers}END\n")
    path.chmod(0o755)
    return path


@pytest.mark.timed
@pytest.mark.parametrize(("grandmaster", "source"), [("9e6c3a.fffe.1146bd", "ptp"), ("another", "exchanges")])
def test_a_clock_that_ptp_keeps_is_known_by_ptp_where_both_have_one_grandmaster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grandmaster: str, source: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    here = pmc(tmp_path / "here", ANSWERS)
    there = OtherMachine(pmc(tmp_path / "there", ANSWERS.replace("9e6c3a.fffe.1146bd\n", f"{grandmaster}\n")))
    monkeypatch.setenv("PATH", str(here.parent), prepend=":")
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    with ledger.opened() as entries:
        found = measured_offset(cast("SshHost", there), probe, entries)
    assert found.source == source
    assert found.low_ns <= 0 <= found.high_ns
    assert (found.bound_ns < 250_000) is (source == "ptp")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("while True: time.sleep(1)", "does not answer"),
        ("while True: print('x' * 65536)", "'xxx"),
        ("print('[' * 100_000)", "'[[["),
        ("print('Warning: something', flush=True)", "'Warning: something'"),
        ("print('{}', flush=True)", "'{}'"),
        ("pass", "nothing"),
    ],
    ids=["silent", "without end", "deep", "a remark", "no clock", "gone"],
)
def test_a_probe_that_does_not_tell_the_clock_is_heard_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str, said: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(child, "PATIENCE_S", 1.0)
    monkeypatch.setattr(child, "LONGEST_LINE_BYTES", 1 << 20)
    probe = tmp_path / "probe.py"
    probe.write_text(f"import sys, time\nsys.stdin.buffer.read(1)\n{answers}\n")
    with ledger.opened() as entries, pytest.raises(EnvironmentUnusable, match="not what the clock is") as caught:
        measured_offset(cast("SshHost", OtherMachine(tmp_path / "pmc")), probe, entries)
    assert said in caught.value.text
    assert len(caught.value.text) < 2000


@pytest.mark.parametrize(("is_connected", "kind"), [(True, EnvironmentNotReady), (False, EnvironmentBroke)])
def test_a_remark_where_the_connection_has_ended_is_of_an_environment_that_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_connected: bool, kind: type[EnvironmentUnusable]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    probe = tmp_path / "probe.py"
    probe.write_text("import sys\nsys.stdin.buffer.read(1)\nprint('Control socket: connection refused')\n")
    host = OtherMachine(tmp_path / "pmc", is_connected=is_connected)
    with ledger.opened() as entries, pytest.raises(kind, match="not what the clock is"):
        measured_offset(cast("SshHost", host), probe, entries)


@pytest.mark.parametrize(("doing", "within_s"), [("head --bytes=4M /dev/zero; sleep 600", 60.0), ("sleep 600", 1.0)])
def test_what_linuxptp_says_without_end_is_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doing: str, within_s: float
) -> None:
    """Not beyond 1 MiB, and not beyond its time."""
    monkeypatch.setattr(clock_sync, "PTP_QUERY_S", within_s)
    there = OtherMachine(pmc(tmp_path / "there", ""))
    there.pmc.write_text(f"#!/bin/sh\n{doing}\n")
    before_s = time.monotonic()
    assert ptp_clock(cast("SshHost", there), READING) is None
    assert time.monotonic() - before_s < 30
