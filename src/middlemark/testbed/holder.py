"""Holders: each a shell of its own that holds a set of namespaces for as long as its standard input is open.

Nothing is made in this machine's own namespaces: when a holder ends, which it does even when its starter is killed
outright, the kernel takes its interfaces and mounts away. What is set up in the namespaces, `namespace_host` and
`switch` say.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TypeAlias, cast

from middlemark.errors import EnvironmentNotReady
from middlemark.testbed.ledger import Ledger
from middlemark.testbed.processes import MARK_VARIABLE

Pipe: TypeAlias = IO[bytes]
# Far beyond any command that is given to a holder: it is over only when the machine hangs.
PATIENCE_S = 20.0
_END = "= the status is"
_PACKAGES = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}


class Holder:
    """A shell with a network, mounts, a host name and System V IPC of its own."""

    def __init__(self, name: str, ledger: Ledger, beside: Holder | None = None) -> None:
        """Starts it; where this user is not root, in the user namespace of the holder beside it, or in a new one."""
        self.name = name
        self._ledger = ledger
        self._rootless = os.geteuid() != 0
        self._mark = ledger.enter("process", f"holds the namespaces of {name}")
        own_user = [] if not self._rootless or beside else ["--user", "--map-root-user"]
        enter = beside.entering("user") if self._rootless and beside else []
        self._process = subprocess.Popen(
            [*enter, required("unshare"), *own_user, "--net", "--mount", "--uts", "--ipc", "sh"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, MARK_VARIABLE: self._mark, "LC_ALL": "C"},
            start_new_session=True,
        )
        self._input, self._output = cast("Pipe", self._process.stdin), cast("Pipe", self._process.stdout)
        ledger.started(self._mark, self.pid)

    @property
    def pid(self) -> int:
        """The process whose namespaces are entered."""
        return self._process.pid

    @property
    def mark(self) -> str:
        """Its mark in the ledger, for the environment of what is started in its namespaces."""
        return self._mark

    def entering(self, *namespaces: str) -> list[str]:
        """The prefix of a command that is to run in these namespaces of it."""
        user = ["--user", "--preserve-credentials"] if self._rootless else []
        others = [f"--{namespace}" for namespace in namespaces if namespace != "user"]
        return [required("nsenter"), "--target", str(self.pid), *user, *others, "--"]

    def tell(self, script: str) -> None:
        """Gives it commands and doesn't wait; `heard` must follow."""
        # Children get no standard input: it is the shell's own script that would be read.
        text = f"(\nset -e\n{script}\n) </dev/null; echo '{_END}' $?\n"
        try:
            self._input.write(text.encode())
            self._input.flush()
        except BrokenPipeError:
            return  # its last words are heard next

    def heard(self) -> str:
        """Waits for the commands' end and gives what they printed."""
        output = self._until_the_end()
        printed, _, status = output.rpartition(_END)
        if status.strip() != "0":
            raise EnvironmentNotReady(
                f"the namespaces of {self.name} can't be set up: {(printed or output).strip() or 'no reason given'}",
                remedy="`middlemark doctor` says what a test-bed needs of this machine",
            )
        return printed

    def run(self, script: str) -> str:
        """Has commands run in its namespaces and gives what they printed; the first that fails ends them."""
        self.tell(script)
        return self.heard()

    def end(self) -> None:
        """Ends it, and with it what its namespaces hold."""
        with suppress(BrokenPipeError):
            self._input.close()
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()
        self._ledger.remove(self._mark)

    def _until_the_end(self) -> str:
        output = b""
        descriptor = self._output.fileno()
        deadline = time.monotonic() + PATIENCE_S
        while not _is_whole(output):
            ready, _, _ = select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return f"{output.decode()}no answer for {PATIENCE_S:.0f} s"
            part = os.read(descriptor, 65536)
            if not part:
                return output.decode()
            output += part
        return output.decode()


def _is_whole(output: bytes) -> bool:
    return output.endswith(b"\n") and _END in output.decode(errors="replace").rstrip("\n").rpartition("\n")[2]


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
    found = shutil.which(tool, path=os.pathsep.join([*os.get_exec_path(), "/usr/sbin", "/sbin"]))
    if found is None:
        package = _PACKAGES.get(tool, tool)
        raise EnvironmentNotReady(
            f"`{tool}` is not installed, and hosts in namespaces need it", remedy=f"apt-get install {package}"
        )
    return found


def run_in_all(scripts: Sequence[tuple[Holder, str]]) -> None:
    """Has each holder run its script, all at the same time."""
    for holder, script in scripts:
        holder.tell(script)
    for holder, _ in scripts:
        holder.heard()
