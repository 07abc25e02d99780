"""The kernel's table of neighbours (ARP), which all hosts in namespaces share: room for them, and whether it was full.

As shipped it has room for 1024 entries, fewer than 33 hosts need that all speak with each other; where it is full, a
packet is dropped. What that means for a trial, `campaign` decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from middlemark.testbed.network.wiring import Wire
from middlemark.testbed.processes import setting
from middlemark.testbed.processes.ledger import Ledger

# Above the second, entries of the last seconds are thrown out; above the third, there are no new ones (arp(7)).
THRESHOLDS = tuple(Path(f"/proc/sys/net/ipv4/neigh/default/gc_thresh{number}") for number in (2, 3))
STATISTICS = Path("/proc/net/stat/arp_cache")
SPARE = 4
"""How many times what the hosts need of each other: multicast groups and other work of the machine have entries too."""


def entries_needed(wires: Sequence[Wire]) -> int:
    """Where all hosts of a network, and its switch, speak with all others."""
    hosts = Counter(wire.bridge for wire in wires)
    return sum(count * (count + 1) for count in hosts.values())


@contextmanager
def with_room(wires: Sequence[Wire], ledger: Ledger) -> Iterator[None]:
    """Has the table room for all of them; left as it is where it has, and where this user may not change it."""
    with ExitStack() as stack:
        for threshold in THRESHOLDS:
            stack.enter_context(setting.at_least(threshold, SPARE * entries_needed(wires), ledger))
        yield


def times_full() -> int:
    """How often the table had no room since the machine started; 0 where that can't be read."""
    with suppress(OSError, ValueError):
        names, *cpus = (line.split() for line in STATISTICS.read_text().splitlines())
        column = names.index("table_fulls")
        return sum(int(counts[column], 16) for counts in cpus)
    return 0
