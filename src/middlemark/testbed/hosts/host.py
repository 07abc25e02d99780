"""What a host is: a command prefix, its addresses, and a place for files; and the one host that is this machine.

A trial speaks to its workers over standard input and output only, so nothing more is needed of a namespace, a container
or a remote machine. Hosts start nothing themselves: `middlemark.worker` runs what `command` gives, `testbed.built`
makes hosts of an experiment's.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from middlemark.errors import EnvironmentBroke, EnvironmentNotReady, EnvironmentUnusable
from middlemark.installation.answers import NoAnswer, answer_of, is_kill
from middlemark.testbed.processes.ledger import Ledger


@dataclass(frozen=True)
class Attachment:
    """Where a host is on a network."""

    network: str
    address: str
    """The address that the other hosts of the network reach it by."""
    interface: str
    """The network interface with that address."""


ANSWER_S = 60.0
ALONE = Attachment("loopback", "127.0.0.1", "lo")
"""Of a host that is on no network."""


@dataclass(frozen=True)
class Host(ABC):
    """Where applications live."""

    name: str
    attachments: tuple[Attachment, ...]
    """One for each network that it is on, in the networks' order; the loopback's where it is on none."""
    limits: tuple[str, ...] = field(default=(), kw_only=True)
    """What a program is started by, so that the limits of the host hold for it and all that it starts."""

    @property
    def address(self) -> str:
        """Its first address."""
        return self.attachments[0].address

    @property
    def interface(self) -> str:
        """The interface with its first address."""
        return self.attachments[0].interface

    @property
    def addresses(self) -> Mapping[str, str]:
        """Its address on each network."""
        return {attachment.network: attachment.address for attachment in self.attachments}

    def address_for(self, viewer: Host) -> str | None:
        """Its address on the first network that both are on; None where they are on none together."""
        networks = viewer.addresses
        return next((attachment.address for attachment in self.attachments if attachment.network in networks), None)

    @property
    @abstractmethod
    def shares_memory(self) -> bool:
        """Whether the shared memory of its processes is this machine's: their /dev/shm is the one here."""

    @property
    def starts_directly(self) -> bool:
        """Whether the process that `command` starts on this machine is the program itself, and not what starts it."""
        return True

    @abstractmethod
    def command(self, program: Sequence[str]) -> list[str]:
        """What to execute on this machine so that the program runs on the host."""

    @abstractmethod
    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A new, empty folder on the host, with a short absolute path; and its mark in the ledger."""

    def make_folders(self, folders: Sequence[Path]) -> None:
        """New folders on the host, each one's parent before it; they go with the folder that they are in."""
        try:
            made = answer_of(self.command(["mkdir", *map(str, folders)]), within_s=ANSWER_S)
        except NoAnswer as reason:
            raise self._no_folder(folders[0], str(reason)) from reason
        if made.exit_status:
            kind = EnvironmentBroke if is_kill(made.exit_status) else EnvironmentNotReady
            raise self._no_folder(folders[0], str(made.complaint), kind)

    def _no_folder(
        self, folder: Path, reason: str, kind: type[EnvironmentUnusable] = EnvironmentNotReady
    ) -> EnvironmentUnusable:
        return kind(f"no folder can be made on {self.name}: {reason}", remedy=f"try it there: mkdir {folder}")

    @abstractmethod
    def collect(self, folder: Path, into: Path) -> Path:
        """Brings a folder of the host to this machine; gives where it is now, which may be where it was."""


class LocalHost(Host):
    """This machine, over its loopback interface unless other machines are there."""

    def __init__(
        self, name: str = "local", limits: tuple[str, ...] = (), attachments: tuple[Attachment, ...] = (ALONE,)
    ) -> None:
        super().__init__(name=name, attachments=attachments, limits=limits)

    @property
    def shares_memory(self) -> bool:
        """It is this machine."""
        return True

    def command(self, program: Sequence[str]) -> list[str]:
        """The program as it is."""
        return [*self.limits, *program]

    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A folder under the machine's temporary one: a path of a socket may have no more than 107 bytes."""
        path = Path(tempfile.gettempdir(), name)
        mark = ledger.enter("folder", path)
        path.mkdir(mode=0o700)
        return path, mark

    def collect(self, folder: Path, into: Path) -> Path:
        """Nothing to bring: the folder is on this machine already."""
        del into
        return folder
