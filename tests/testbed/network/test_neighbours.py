"""The kernel's table of neighbours has room for all hosts of a test-bed, and says how often it had none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from middlemark.plan.topology.network import Link, Network
from middlemark.testbed.network import neighbours
from middlemark.testbed.network.shaping import Backend
from middlemark.testbed.network.wiring import Wire, wires
from middlemark.testbed.processes import entry, ledger
from middlemark.testbed.processes.ledger import Ledger


def wired(count: int) -> list[Wire]:
    hosts = [f"host_{number}" for number in range(count)]
    links = [Link(host=host, network="lan") for host in hosts]
    return wires(hosts, [Network(name="lan", hosts=tuple(hosts))], links, 7, Backend.RELAY)


@pytest.fixture
def thresholds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    files = [tmp_path / f"gc_thresh{number}" for number in (2, 3)]
    for file, value in zip(files, (512, 1024), strict=True):
        file.write_text(f"{value}\n")
    monkeypatch.setattr(neighbours, "THRESHOLDS", files)
    monkeypatch.setattr(entry, "_SETTING", rf"{tmp_path}/gc_thresh[23]=\d+")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return files


@pytest.fixture
def entries(thresholds: list[Path]) -> Iterator[Ledger]:  # noqa: ARG001 - they are there first
    with ledger.opened() as opened:
        yield opened


def values(thresholds: list[Path]) -> list[int]:
    return [int(file.read_text()) for file in thresholds]


def test_each_host_and_the_switch_have_an_entry_of_each_other() -> None:
    assert neighbours.entries_needed(wired(64)) == 64 * 63 + 2 * 64


def test_the_table_has_room_as_long_as_the_test_bed_is_there(thresholds: list[Path], entries: Ledger) -> None:
    with neighbours.with_room(wired(64), entries):
        assert values(thresholds) == [4 * 4160, 4 * 4160]
    assert values(thresholds) == [512, 1024]


def test_a_table_with_room_is_left_alone(thresholds: list[Path], entries: Ledger) -> None:
    with neighbours.with_room(wired(2), entries):
        assert values(thresholds) == [512, 1024]
        assert not ledger.read(entries.path)


def test_what_a_killed_owner_raised_is_put_back_by_its_ledger(thresholds: list[Path], entries: Ledger) -> None:
    with neighbours.with_room(wired(64), entries):
        left, reasons = ledger.remove_all(ledger.read(entries.path))
        assert values(thresholds) == [512, 1024]
        assert [each.kind for each in left] == ["setting", "setting"]
        assert not reasons


def test_a_table_that_was_full_is_told_of_all_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statistics = tmp_path / "arp_cache"
    statistics.write_text("entries  allocs table_fulls\n00000000 00000009 0000000a\n00000000 00000009 00000002\n")
    monkeypatch.setattr(neighbours, "STATISTICS", statistics)
    assert neighbours.times_full() == 12
    monkeypatch.setattr(neighbours, "STATISTICS", tmp_path / "none")
    assert neighbours.times_full() == 0


def test_this_kernel_tells_it() -> None:
    if not neighbours.STATISTICS.exists():
        pytest.skip("the kernel has no statistics of neighbours here")
    assert "table_fulls" in neighbours.STATISTICS.read_text().splitlines()[0].split()


@pytest.mark.parametrize(
    "what",
    [
        "/proc/sys/kernel/core_pattern=1",
        "/proc/sys/net/ipv4/neigh/default/gc_thresh1=128",
        "/proc/sys/net/ipv4/neigh/default/gc_thresh3=-1",
        "/proc/sys/net/ipv4/neigh/default/../gc_thresh3=1024",
        "/proc/sys/net/ipv4/neigh/default/gc_thresh3=1024\n",
    ],
)
def test_a_ledger_puts_no_other_setting_back(what: str) -> None:
    with pytest.raises(ValueError, match="no setting"):
        entry.check_name("setting", what)
