"""Hosts, networks and links of an experiment as plain values: what the test-bed has to make, and nothing of how.

`topology` makes them of a suite's topology and conditions; `testbed` puts them into effect and measures them.
"""

from typing import Annotated

from pydantic import Field

from middlemark.suite import Direction, HostKind, Mobility, Model
from middlemark.suite.yaml.model import Address, Count, Index, Name, Nanoseconds, SshTarget

STANDARD_MTU_BYTES = 1500


class TracePoint(Model):
    """From an instant of the window on, what a link does in both directions."""

    at_ns: Nanoseconds
    outgoing: Direction
    incoming: Direction


class Link(Model):
    """One host's link to one network, outgoing from the host: all that a suite says of it in one, by direction."""

    host: Name
    network: Name
    mtu_bytes: Count = STANDARD_MTU_BYTES
    offloads: bool = True
    outgoing: Direction = Direction()
    incoming: Direction = Direction()
    trace: tuple[TracePoint, ...] = ()
    """What changes over the window; the first point holds before it too, and is what `outgoing` and `incoming` say."""
    mobility: Mobility | None = None
    """Where the values come from that a distance decides on."""

    @property
    def is_plain(self) -> bool:
        """Whether it is a wire without any property of its own."""
        return self == Link(host=self.host, network=self.network)


def joined(near: Link, far: Link) -> Link:
    """Two hosts' links to one network in a row: out through the near one, in through the far one, and back."""
    return near.model_copy(
        update={
            "outgoing": _in_a_row(near.outgoing, far.incoming),
            "incoming": _in_a_row(far.outgoing, near.incoming),
        }
    )


def _in_a_row(first: Direction, second: Direction) -> Direction:
    """Of what can be declared of a link that is not shaped: rate, delay, jitter, loss."""
    rates = [direction.rate_bits_per_s for direction in (first, second) if direction.rate_bits_per_s is not None]
    return Direction(
        rate_bits_per_s=min(rates, default=None),
        delay_ns=first.delay_ns + second.delay_ns,
        jitter_ns=first.jitter_ns + second.jitter_ns,
        loss=first.loss + second.loss - first.loss * second.loss,
    )


class Network(Model):
    """A switch: a suite's `Network` without its links; its hosts in the order of their addresses."""

    name: Name
    hosts: tuple[Name, ...]


class Host(Model):
    """Where applications live: a suite's `Host` with its limits as the test-bed takes and runs store them."""

    name: Name
    kind: HostKind
    cpus: tuple[Index, ...] = ()
    """The CPUs that it may use; all where none is named."""
    cpu_quota: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """In CPUs: 0.5 is half of one."""
    memory_bytes: Count | None = None
    ssh: SshTarget | None = None
    address: Address | None = None
