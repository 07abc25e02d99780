"""Hosts whose processes run in containers: one container for all of them, or one for each.

Podman is run on the host around, so that its namespaces and limits hold for the containers too. Nothing is decided
here of when containers are used (`deployment`) or what is in them (`root_filesystem`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from middlemark.suite import ContainerIpc, ContainerNetwork
from middlemark.testbed import processes
from middlemark.testbed.container_engine import REMEDY, held_open
from middlemark.testbed.container_storage import Storage
from middlemark.testbed.host import Host
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.lifeline import Lifeline
from middlemark.testbed.root_filesystem import Contents

HOLDER = "holder"
# A container's `/dev/shm` may hold as much as the machine's, so that its size makes no difference to bare metal.
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where the kernel's shared memory is


@dataclass(frozen=True)
class Containers:
    """How containers are run on one host."""

    around: Host
    storage: Storage
    root: Path
    contents: Contents
    folder: Path
    """The trial's folder, at the same path inside."""
    network: ContainerNetwork = ContainerNetwork.HOST

    def run(self, options: Sequence[str], program: Sequence[str]) -> list[str]:
        """What to execute so that the program runs in a new container, which goes with it."""
        fixed = [
            "--rm", "--interactive", "--read-only", "--log-driver=none", "--http-proxy=false", "--no-hosts",
            f"--network={self.network}", f"--cgroup-parent={self.storage.cgroup_parent}",
            f"--env={processes.MARK_VARIABLE}", f"--volume={self.folder}:{self.folder}",
        ]  # fmt: skip
        return self._podman(["run", *fixed, *options, "--rootfs", str(self.root), *self._inside(program)])

    def execute(self, program: Sequence[str]) -> list[str]:
        """What to execute so that the program runs in the holder's container."""
        environment = f"--env={processes.MARK_VARIABLE}"
        return self._podman(["exec", "--interactive", environment, HOLDER, *self._inside(program)])

    def _podman(self, arguments: Sequence[str]) -> list[str]:
        return self.around.command(self.storage.command(arguments))

    def _inside(self, program: Sequence[str]) -> list[str]:
        return [self.contents.inside(program[0]), *program[1:]]


@dataclass(frozen=True)
class ContainerHost(Host):
    """A host with the addresses and the files of the one around it."""

    containers: Containers
    ipc: ContainerIpc

    @property
    def shares_memory(self) -> bool:
        """Only where neither the containers nor the host around them have a /dev/shm of their own."""
        return self.ipc is ContainerIpc.HOST and self.containers.around.shares_memory

    @property
    def starts_directly(self) -> bool:
        """What is started here is Podman, which has the program started."""
        return False

    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A folder of the host around; only the trial's own is seen inside."""
        return self.containers.around.create_folder(name, ledger)

    def collect(self, folder: Path, into: Path) -> Path:
        """As the host around does it."""
        return self.containers.around.collect(folder, into)


@dataclass(frozen=True)
class OneContainer(ContainerHost):
    """All processes share the holder's container."""

    def command(self, program: Sequence[str]) -> list[str]:
        """The program in the one container."""
        return self.containers.execute(program)


@dataclass(frozen=True)
class ContainerEach(ContainerHost):
    """Each process has a container of its own."""

    def command(self, program: Sequence[str]) -> list[str]:
        """The program in a new container; where they share memory, it is the holder's."""
        shared = self.ipc is ContainerIpc.SHAREABLE
        return self.containers.run([f"--ipc=container:{HOLDER}"] if shared else ipc_options(self.ipc), program)


def ipc_options(ipc: ContainerIpc) -> list[str]:
    """Podman's options for whose `/dev/shm` a container has."""
    if ipc is ContainerIpc.HOST:
        return ["--ipc=host"]
    status = os.statvfs(SHARED_MEMORY)
    return [f"--ipc={ipc.value}", f"--shm-size={status.f_frsize * status.f_blocks}"]


@contextmanager
def held(containers: Containers, ipc: ContainerIpc, ledger: Ledger) -> Iterator[None]:
    """A container that lives as long as the context and this process, and has answered."""
    command = containers.run([f"--name={HOLDER}", *ipc_options(ipc)], [str(held_open())])
    holder = Lifeline(f"a container on {containers.around.name}", command, ledger, REMEDY)
    try:
        yield
    finally:
        holder.end()
