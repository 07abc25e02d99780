"""How the processes of a host are packed for one trial: as they are, in one container, or each in its own.

It decides which containers there are and has them removed again; `container` says how each is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from middlemark.errors import EnvironmentNotReady
from middlemark.plan import network as plan
from middlemark.suite import ContainerIpc, ContainerNetwork, Deployment, DeploymentKind
from middlemark.testbed import container_engine, limits, processes
from middlemark.testbed.container import ContainerEach, Containers, OneContainer, held
from middlemark.testbed.container_engine import held_open
from middlemark.testbed.host import Host
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.processes import Identity
from middlemark.testbed.root_filesystem import Contents, root_filesystem
from middlemark.testbed.ssh_host import SshHost


@contextmanager
def deployed(  # noqa: PLR0913 - so much makes a container
    host: Host,
    deployment: Deployment,
    contents: Contents,
    folder: Path,
    ledger: Ledger,
    *,
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
    with ExitStack() as given:
        network = deployment.network or ContainerNetwork.HOST
        containers = replace(_containers(host, contents, folder, ledger, given), network=network)
        if planned is not None:
            limits.limit(planned, containers.storage.folder.name)
        if single or ipc is ContainerIpc.SHAREABLE:
            given.enter_context(held(containers, ipc, ledger))
        kind = OneContainer if single else ContainerEach
        yield kind(host.name, host.attachments, containers, ipc)


def process_of(mark: str, worker: Path) -> Identity | None:
    """The worker's own process on this machine, whatever prefix started it; None where no such process lives here."""
    executing = [process for process in processes.marked([mark])[mark] if _executes(process, worker)]
    # A process that the worker is about to start still executes the worker's file.
    return min(executing, key=lambda process: process.start_ticks, default=None)


def _executes(process: Identity, worker: Path) -> bool:
    """By the file's name: a container has the file at another path, and follows no link to it."""
    try:
        return Path(f"/proc/{process.pid}/exe").readlink().name in {worker.name, worker.resolve().name}
    except OSError:  # gone meanwhile
        return False


def _containers(host: Host, contents: Contents, folder: Path, ledger: Ledger, given: ExitStack) -> Containers:
    storage, mark = container_engine.new_storage(container_engine.runtime(), ledger)
    given.callback(ledger.remove, mark)
    everything = Contents(contents.worker, (*contents.programs, held_open()))
    return Containers(host, storage, root_filesystem(everything, ledger), everything, folder)


def _refuse_other_machines(host: Host) -> None:
    if isinstance(host, SshHost):
        raise EnvironmentNotReady(
            f"the host `{host.name}` is another machine, and containers are made on this one only",
            remedy="deployment: bare_metal for hosts that are reached by SSH",
        )
