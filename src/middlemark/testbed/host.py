"""What a host is: a command prefix, an address, and a place for files; and the one host that is this machine.

A trial speaks to its workers over standard input and output only, so nothing more is needed of a namespace, a container
or a remote machine. Hosts start nothing themselves: `middlemark.worker` runs what `command` gives.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from middlemark.testbed.ledger import Ledger


@dataclass(frozen=True)
class Host(ABC):
    """Where applications live."""

    name: str
    address: str
    """The address that the applications of other hosts reach it by."""
    interface: str
    """The network interface with that address."""

    @abstractmethod
    def command(self, program: Sequence[str]) -> list[str]:
        """What to execute on this machine so that the program runs on the host."""

    @abstractmethod
    def create_folder(self, name: str, ledger: Ledger) -> tuple[Path, str]:
        """A new, empty folder on the host, with a short absolute path; and its mark in the ledger."""

    @abstractmethod
    def collect(self, folder: Path, into: Path) -> Path:
        """Brings a folder of the host to this machine; gives where it is now, which may be where it was."""


class LocalHost(Host):
    """This machine, over its loopback interface."""

    def __init__(self) -> None:
        super().__init__(name="local", address="127.0.0.1", interface="lo")

    def command(self, program: Sequence[str]) -> list[str]:
        """The program as it is."""
        return list(program)

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


def free_bytes(path: Path) -> int:
    """How much can still be written there."""
    return shutil.disk_usage(path).free
