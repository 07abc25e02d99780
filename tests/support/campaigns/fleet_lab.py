"""Machines for a fleet on this one: a network namespace each, joined by a switch; all of it ends with this process."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_HOLD = (
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--net",
    "sh",
    "-c",
    "ip link set lo up && echo up && exec sleep infinity",
)


@dataclass
class Lab:
    """Namespaces without names: each is there as long as the process that holds it."""

    switch: subprocess.Popen[str]
    machines: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def add(self, name: str) -> str:
        """Adds a machine; gives its address."""
        holder = self.machines[name] = _held()
        number = len(self.machines)
        self._at_switch(f"ip link add port{number} type veth peer name eth0 netns {holder.pid}")
        self._at_switch(f"ip link set port{number} master switch up")
        address = f"10.213.0.{number}"
        subprocess.run(
            (*self.at(name), "sh", "-c", f"ip addr add {address}/24 dev eth0 && ip link set eth0 up"), check=True
        )
        return address

    def at(self, name: str) -> tuple[str, ...]:
        """What a command begins with that runs on a machine."""
        return ("nsenter", "--net", "--target", str(self.machines[name].pid))

    def cut(self, name: str, *, off: bool) -> None:
        """Takes the cable of a machine out, or puts it in again; neither end is told."""
        number = list(self.machines).index(name) + 1
        self._at_switch(f"ip link set port{number} {'nomaster' if off else 'master switch'}")

    def _at_switch(self, command: str) -> None:
        subprocess.run(("nsenter", "--net", "--target", str(self.switch.pid), *command.split()), check=True)


def _held() -> subprocess.Popen[str]:
    holder = subprocess.Popen(_HOLD, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "up\n"
    holder.stdout.close()
    return holder


@contextmanager
def lab() -> Iterator[Lab]:
    """A switch without machines."""
    made = Lab(_held())
    try:
        made._at_switch("ip link add switch type bridge")
        made._at_switch("ip link set switch up")
        yield made
    finally:
        for holder in (*made.machines.values(), made.switch):
            holder.kill()
            holder.wait()
