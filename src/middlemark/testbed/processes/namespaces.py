"""Holders: each a shell of its own that holds a set of namespaces for as long as its standard input is open.

Nothing is made in this machine's own namespaces: when a holder ends, which it does even when its starter is killed
outright, the kernel takes its interfaces and mounts away. What is set up in them, `hosts.namespace` and
`network.wiring` say.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.processes.child import LineProcess
from middlemark.testbed.processes.ledger import Ledger

_END = "= the status is"
_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}


class Holder:
    """A shell with a network, mounts, a host name and System V IPC of its own."""

    def __init__(self, name: str, ledger: Ledger, beside: Holder | None = None) -> None:
        """Starts it; where this user is not root, in the user namespace of the holder beside it, or in a new one."""
        self.name = name
        self._rootless = os.geteuid() != 0
        own_user = [] if not self._rootless or beside else ["--user", "--map-root-user"]
        enter = beside.entering("user") if self._rootless and beside else []
        command = [*enter, required("unshare"), *own_user, "--net", "--mount", "--uts", "--ipc", "sh"]
        self._shell = LineProcess(f"holds the namespaces of {name}", command, ledger)

    @property
    def pid(self) -> int:
        """The process whose namespaces are entered."""
        return self._shell.pid

    def entering(self, *namespaces: str) -> list[str]:
        """The prefix of a command that is to run in these namespaces of it."""
        user = ["--user", "--preserve-credentials"] if self._rootless else []
        others = [f"--{namespace}" for namespace in namespaces if namespace != "user"]
        return [required("nsenter"), "--target", str(self.pid), *user, *others, "--"]

    def tell(self, script: str) -> None:
        """Gives it commands and doesn't wait; `heard` must follow."""
        # Children get no standard input: it is the shell's own script that would be read.
        self._shell.tell(f"(\nset -e\n{script}\n) </dev/null; echo; echo '{_END}' $?")

    def heard(self) -> str:
        """Waits for the commands' end and gives what they printed."""
        printed: list[str] = []
        while (line := self._shell.line()) is not None:
            if line == f"{_END} 0":
                return "\n".join(printed).strip()
            if line.startswith(_END):
                break
            printed.append(line)
        reason = "\n".join(printed).strip() or "it gave no reason"
        raise EnvironmentNotReady(
            f"the namespaces of {self.name} can't be set up: {reason}",
            remedy="`middlemark doctor` says what a test-bed needs of this machine",
        )

    def run(self, script: str) -> str:
        """Has commands run in its namespaces and gives what they printed; the first that fails ends them."""
        self.tell(script)
        return self.heard()

    def end(self) -> None:
        """Ends it, and with it what its namespaces hold."""
        self._shell.end()


@contextmanager
def held(name: str, ledger: Ledger, beside: Holder | None = None) -> Iterator[Holder]:
    """A holder that ends with the context."""
    holder = Holder(name, ledger, beside)
    try:
        yield holder
    finally:
        holder.end()


def required(tool: str) -> str:
    """Where a program of the system is; system folders may be missing on an ordinary user's PATH."""
    path = shutil.which(tool, path=os.pathsep.join([*os.get_exec_path(), "/usr/sbin", "/sbin"]))
    if path is None:
        package = _PACKAGES.get(tool, tool)
        raise EnvironmentNotReady(
            f"`{tool}` is not installed, and hosts in namespaces need it", remedy=f"apt-get install {package}"
        )
    return path


def run_in_all(scripts: Sequence[tuple[Holder, str]]) -> None:
    """Has each holder run its script, all at the same time."""
    for holder, script in scripts:
        holder.tell(script)
    for holder, _ in scripts:
        holder.heard()
