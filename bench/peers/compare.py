"""Our workers beside what a user would pick instead, in turn within one run; prints ratios, writes values as JSON.

    PYTHONPATH=src python bench/peers/compare.py [NAME …] [--blocks N] [--seconds S] [--out FILE] [--before FILE]

A NAME is a middleware or `middleware/peer`; what is missing on this machine is told, with the reason.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import psutil

import distance
import ours
import outcome
import processes
from middlemark.testbed.machine.wakefulness import kept_awake
from middlemark.testbed.processes import ledger
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.procfs import SHARED_MEMORY
from pairs import PAIRS
from peer import Cores, Measured, Metric, Pair, Site
from ratios import Compared, compared

ATTEMPTS = 5
"""At both sides of a pair."""


@dataclass(frozen=True, eq=False)
class Case:
    """A pair at one place."""

    pair: Pair
    site: Site


def main() -> int:
    arguments = _parsed()
    try:
        before = outcome.earlier(arguments.before) if arguments.before else None
    except ValueError as error:
        print(f"--before: {error}", file=sys.stderr)
        return 2
    chosen = [pair for pair in PAIRS if not arguments.names or {pair.middleware, pair.name} & set(arguments.names)]
    cases, absent = available(chosen)
    for reason in absent:
        print(f"not available: {reason}", flush=True)
    if not cases:
        print("nothing to compare", file=sys.stderr)
        return 3
    values, failed = run(cases, arguments.blocks, arguments.seconds)
    rows = [(case, _compared(case, pairs)) for case, pairs in values.items()]
    named = [(case.pair, case.site, found) for case, found in rows]
    outcome.write(arguments.out, named, absent, failed, blocks=arguments.blocks, seconds=arguments.seconds)
    outcome.show(named, failed, before)
    print(f"values: {arguments.out}")
    return 1 if failed else 0


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *_names()])
    parser.add_argument("--blocks", type=int, default=10, help="how often each side is measured")
    parser.add_argument("--seconds", type=float, default=2.0, help="for how long each time")
    parser.add_argument("--out", type=Path, default=Path("bench-peers.json"), help="where all values are written")
    parser.add_argument("--before", type=Path, help="what an earlier comparison wrote: its ratios stand beside")
    return parser.parse_args()


def _names() -> list[str]:
    return sorted({name for pair in PAIRS for name in (pair.middleware, pair.name)})


def available(pairs: Sequence[Pair]) -> tuple[list[Case], list[str]]:
    """The cases that can run here, and why others can't."""
    cpus = psutil.Process().cpu_affinity() or []
    sites = {Cores.ONE: Site(Cores.ONE, cpus[-1], cpus[-1])}
    reasons: dict[str, None] = {}  # each once, in this order
    if len(cpus) > 1:
        sites[Cores.TWO] = Site(Cores.TWO, cpus[-2], cpus[-1])
    else:
        reasons[f"{Cores.TWO}: this machine has one CPU"] = None
    cases = []
    for pair, cores in [(each, cores) for each in pairs for cores in each.cores]:
        if (missing := pair.peer.missing()) is not None:
            reasons[f"{pair.name}: {missing}"] = None
        elif cores in sites:
            cases.append(Case(pair, sites[cores]))
    return cases, list(reasons)


Values = dict[Case, list[tuple[Measured, Measured]]]


def run(cases: Sequence[Case], blocks: int, seconds: float) -> tuple[Values, list[str]]:
    """Every case once a block, ours and the peer's next to each other, who is first by turns; what failed is told."""
    values: Values = defaultdict(list)
    failed = []
    for block, (number, case) in product(range(blocks), enumerate(cases, start=1)):
        print(f"[{block + 1}/{blocks}, {number}/{len(cases)}] {case.pair.name}: {case.pair.load}, {case.site.cores}")
        try:
            both = _both(case, seconds, ours_first=block % 2 == 0)
            values[case].append(both)
        except (ours.OursFailedError, processes.PeerFailedError, distance.MovedError) as error:
            failed.append(f"{case.pair.name} ({case.pair.load}, {case.site.cores}), block {block + 1}: {error}")
            print(f"  failed: {error}", flush=True)
    return values, failed


def _both(case: Case, seconds: float, *, ours_first: bool) -> tuple[Measured, Measured]:
    """Both sides while the CPUs stay where they are; measured again where they were moved meanwhile."""
    with ledger.opened() as entries, _awake(case.site, entries):
        return _at_one_distance(case, seconds, ours_first=ours_first)


def _at_one_distance(case: Case, seconds: float, *, ours_first: bool) -> tuple[Measured, Measured]:
    sides = (_ours, _peers) if ours_first else (_peers, _ours)
    for _ in range(ATTEMPTS):
        distances_ns = [distance.measured_ns(case.site)]
        values = []
        for side in sides:
            values.append(side(case, seconds))
            distances_ns.append(distance.measured_ns(case.site))
        if distance.is_one(distances_ns):
            own, peers = values if ours_first else reversed(values)
            return own, peers
        print(f"  the host moved the CPUs: a cache line took {distances_ns} ns there and back", flush=True)
    raise distance.MovedError(f"the host moved the CPUs in each of {ATTEMPTS} attempts")


def _ours(case: Case, seconds: float) -> Measured:
    with ledger.opened() as entries:
        folder = Path(tempfile.gettempdir(), f"{_slot_name()}-ours")
        entries.enter("folder", folder)
        folder.mkdir(mode=0o700)
        return ours.measured(case.pair, case.site, seconds, folder)


def _peers(case: Case, seconds: float) -> Measured:
    with ledger.opened() as entries:
        folder = memory_folder(entries)
        session = case.pair.peer.session(case.pair.load, case.site, seconds, folder)
        return processes.measured(session, seconds, folder, entries)


def memory_folder(entries: Ledger) -> Path:
    """A folder in memory for both ends, in which the ring lies; what a library leaves under its name goes with it."""
    folder = SHARED_MEMORY / _slot_name()
    entries.enter("shared_memory", folder.name)
    folder.mkdir(mode=0o700)
    return folder


def _slot_name() -> str:
    """As a slot has it: no other names does the ledger remove."""
    return f"mm00{secrets.token_hex(5)}"


@contextmanager
def _awake(site: Site, entries: Ledger) -> Iterator[None]:
    """As the product keeps them awake in our trials; between the sides too, as hosts move CPUs that go to sleep."""
    with ExitStack() as stack:
        if site.cores is Cores.TWO:
            stack.enter_context(kept_awake(psutil.Process().cpu_affinity() or [], entries))
        yield


def _compared(case: Case, pairs: Sequence[tuple[Measured, Measured]]) -> list[Compared]:
    shared = [metric for metric in Metric if all(metric in own and metric in peers for own, peers in pairs)]
    return [
        compared(metric, case.site.cores, [own[metric] for own, _ in pairs], [peers[metric] for _, peers in pairs])
        for metric in shared
    ]


if __name__ == "__main__":
    sys.exit(main())
