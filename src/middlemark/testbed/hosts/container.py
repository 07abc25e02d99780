"""Hosts whose processes run in containers of Podman: one container for all of them, or one for each.

Podman is run on the host around, so that its namespaces and limits hold for the containers too. The way of running
containers that works on this machine is found by running one; what is in them, `rootfs` builds.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.installation import OWN_UMASK
from middlemark.installation.answers import is_kill
from middlemark.plan.topology import network as plan
from middlemark.suite import ContainerIpc, ContainerNetwork, Deployment, DeploymentKind
from middlemark.testbed.hosts import limits
from middlemark.testbed.hosts.host import Host
from middlemark.testbed.hosts.rootfs import Contents, root_filesystem
from middlemark.testbed.hosts.ssh import SshHost
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.processes import ledger, procfs
from middlemark.testbed.processes.child import Lifeline
from middlemark.testbed.processes.ledger import Ledger
from middlemark.testbed.processes.podman import Runtime, Storage, parent_folder
from middlemark.testbed.processes.procfs import SHARED_MEMORY, Identity

# What a container may do: what any user's programs may. None of a worker's needs more.
UNPRIVILEGED = ("--cap-drop=all", "--security-opt=no-new-privileges")
RUNTIMES = ("crun", "runc")
TRIAL_S = 30.0
REMEDY = "apt-get install podman runc crun; deployment: bare_metal needs none of them"
HOLDER = "holder"


def held_open() -> Path:
    """The program that lives as long as its standard input: the first process of a container that is for others."""
    return Path(shutil.which("cat") or "/bin/cat")


def new_storage(runtime: Runtime, entries: Ledger) -> tuple[Storage, str]:
    """A storage of its own, and its mark in the ledger."""
    storage = Storage(parent_folder() / f"middlemark-{secrets.token_hex(5)}")
    mark = entries.enter("containers", storage.folder)
    storage.create(runtime)
    return storage, mark


def runtime() -> Runtime:
    """The first way that works."""
    if shutil.which("podman") is None:
        raise EnvironmentNotReady("there is no podman on this machine, so nothing can run in containers", remedy=REMEDY)
    return _working()


@cache
def _working() -> Runtime:
    reasons, broken = [], None
    with ledger.opened() as entries:
        for candidate in _candidates():
            try:
                # What fails once may have been disturbed, and would be missing in all trials of its experiment.
                reason = _refusal(candidate, entries) and _refusal(candidate, entries)
            except EnvironmentBroke as killed:
                broken = killed
                continue
            if reason is None:
                return candidate
            reasons.append(f"{candidate.name} ({candidate.cgroup_manager}): {reason}")
    if broken is not None:
        raise broken
    problem = "; ".join(reasons) or f"none of {', '.join(RUNTIMES)} is installed"
    raise EnvironmentNotReady(f"podman can't run a container on this machine: {problem}", remedy=REMEDY)


def containers_fact() -> Fact:
    """What `doctor` says of containers."""
    try:
        working = runtime()
    except EnvironmentUnusable as missing:
        return Fact("containers", missing.missing, ready=False, remedy=missing.remedy or REMEDY)
    return Fact("containers", f"{_podman_version()} with {working.name} ({working.cgroup_manager})", ready=True)


def _candidates() -> list[Runtime]:
    """Podman's own choice fails where control groups are mounted in both versions or limits can't be raised."""
    managers = ("cgroupfs",) if os.geteuid() == 0 else ("systemd", "cgroupfs")
    return [Runtime(name, manager) for name, manager in product(RUNTIMES, managers) if shutil.which(name)]


def _refusal(candidate: Runtime, entries: Ledger) -> str | None:
    """Why a container that does nothing can't be run this way; None where it can."""
    storage, mark = new_storage(candidate, entries)
    root = root_filesystem(Contents(held_open()), entries)
    program = str(Contents(held_open()).inside(str(held_open())))
    arguments = [
        "run",
        *UNPRIVILEGED,
        "--rm",
        "--read-only",
        "--network=host",
        f"--cgroup-parent={storage.cgroup_parent}",
    ]
    command = storage.command([*arguments, "--rootfs", str(root), program, "/dev/null"])
    try:
        tried = subprocess.run(command, capture_output=True, text=True, timeout=TRIAL_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it does not end within {TRIAL_S:.0f} s"
    finally:
        entries.remove(mark)
    if is_kill(tried.returncode):
        raise EnvironmentBroke("a container was killed while it was tried whether there can be any", remedy=REMEDY)
    return None if tried.returncode == 0 else (tried.stderr.strip().splitlines() or ["it says nothing"])[-1]


def _podman_version() -> str:
    answer = subprocess.run(["podman", "--version"], capture_output=True, text=True, check=False)
    return answer.stdout.strip().replace(" version", "")


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
        """What to execute so that the program runs in a new container, which goes with it and has no privileges."""
        fixed = [
            *UNPRIVILEGED,
            "--rm", "--interactive", "--read-only", "--log-driver=none", "--http-proxy=false", "--no-hosts",
            f"--network={self.network}", f"--cgroup-parent={self.storage.cgroup_parent}",
            f"--env={procfs.MARK_VARIABLE}", f"--volume={self.folder}:{self.folder}", f"--umask={OWN_UMASK:04o}",
        ]  # fmt: skip
        return self._podman(["run", *fixed, *options, "--rootfs", str(self.root), *self._inside(program)])

    def execute(self, program: Sequence[str]) -> list[str]:
        """What to execute so that the program runs in the holder's container."""
        environment = f"--env={procfs.MARK_VARIABLE}"
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
    """Podman's options for whose `/dev/shm` a container has.

    One of its own may hold as much as the machine's, so that its size makes no difference to bare metal.
    """
    if ipc is ContainerIpc.HOST:
        return ["--ipc=host"]
    status = os.statvfs(SHARED_MEMORY)
    return [f"--ipc={ipc.value}", f"--shm-size={status.f_frsize * status.f_blocks}"]


@contextmanager
def held(containers: Containers, ipc: ContainerIpc, ledger: Ledger) -> Iterator[None]:
    """A container that lives as long as the context and this process, and has answered."""
    command = containers.run([f"--name={HOLDER}", *ipc_options(ipc)], [str(held_open())])
    try:
        holder = Lifeline(f"a container on {containers.around.name}", command, ledger, REMEDY)
    except EnvironmentNotReady as refused:  # one has run here before, so that this machine can
        raise EnvironmentBroke(refused.missing, remedy=REMEDY) from refused
    try:
        yield
    finally:
        holder.end()


@contextmanager
def deployed(  # noqa: PLR0913, PLR0917 - so much makes a container
    host: Host,
    deployment: Deployment,
    contents: Contents,
    folder: Path,
    ledger: Ledger,
    planned: plan.Host | None = None,
) -> Iterator[Host]:
    """The host as its processes are to be started on it; all of them see the folder, the trial's on that host.

    What limits the planned host has hold for its containers together, as Podman has them leave the host's groups.
    """
    if deployment.deployment is DeploymentKind.BARE_METAL:
        yield host
        return
    _refuse_other_machines(host)
    ipc = deployment.ipc or ContainerIpc.PRIVATE
    single = deployment.deployment is DeploymentKind.SINGLE_CONTAINER
    with ExitStack() as stack:
        network = deployment.network or ContainerNetwork.HOST
        containers = replace(_containers(host, contents, folder, ledger, stack), network=network)
        if planned is not None:
            limits.limit(planned, containers.storage.folder.name)
        if single or ipc is ContainerIpc.SHAREABLE:
            stack.enter_context(held(containers, ipc, ledger))
        kind = OneContainer if single else ContainerEach
        yield kind(host.name, host.attachments, containers, ipc)


def process_of(mark: str, worker: Path) -> Identity | None:
    """The worker's own process on this machine, whatever prefix started it; None where no such process lives here."""
    executing = [process for process in procfs.marked([mark])[mark] if _executes(process, worker)]
    # A process that the worker is about to start still executes the worker's file.
    return min(executing, key=lambda process: process.start_ticks, default=None)


def _executes(process: Identity, worker: Path) -> bool:
    """By the file's name: a container has the file at another path, and follows no link to it."""
    try:
        return Path(f"/proc/{process.pid}/exe").readlink().name in {worker.name, worker.resolve().name}
    except OSError:  # gone meanwhile
        return False


def _containers(host: Host, contents: Contents, folder: Path, ledger: Ledger, stack: ExitStack) -> Containers:
    storage, mark = new_storage(runtime(), ledger)
    stack.callback(ledger.remove, mark)
    everything = Contents(contents.worker, (*contents.programs, held_open()))
    return Containers(host, storage, root_filesystem(everything, ledger), everything, folder)


def _refuse_other_machines(host: Host) -> None:
    if isinstance(host, SshHost):
        raise EnvironmentNotReady(
            f"the host `{host.name}` is another machine, and containers are made on this one only",
            remedy="deployment: bare_metal for hosts that are reached by SSH",
        )
