"""The SSH client as Middlemark calls it, and the removal of a folder on a remote machine with what still runs for it.

It knows no host and enters nothing: `hosts.ssh` does; the ledger calls the removal. Every call fails rather than
prompts.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from middlemark.testbed.processes.podman import parent_folder

CONFIGURATION_VARIABLE = "MIDDLEMARK_SSH_CONFIG"
"""In the environment: a configuration of the SSH client to use instead of the user's."""
REMOTE_VARIABLE = "MIDDLEMARK_REMOTE"
"""In the environment of every remote process: the folder that it goes with."""
ANSWER_S = 20.0
_OPTIONS = ("BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "ControlPersist=no")
_LOST = 255
"""The client's own exit status where there is no connection."""


class Unreachable(Exception):
    """Nothing can be run on the remote machine; nobody knows what is on it now."""


class Unanswered(Unreachable):
    """There is no connection, whatever it is to be told."""


@dataclass(frozen=True)
class RemoteFolder:
    """A folder on a machine, as the ledger writes it: `user@address:port:/folder`."""

    target: str
    path: Path

    @classmethod
    def parsed(cls, text: str) -> RemoteFolder:
        """From its text."""
        target, _, path = text.rpartition(":/")
        return cls(target, Path("/", path))

    def __str__(self) -> str:
        return f"{self.target}:{self.path}"

    def remove(self) -> bool:
        """Ends what runs for the folder and removes it; gives whether anything was there."""
        path = shlex.quote(str(self.path))
        script = f"""
            found=0
            for process in /proc/[0-9]*; do
                if tr '\\0' '\\n' < "$process/environ" 2> /dev/null | grep -Fqx {REMOTE_VARIABLE}={path}; then
                    kill -KILL "${{process#/proc/}}" && found=1
                fi
            done
            [ ! -e {path} ] || {{ rm -rf {path}; found=1; }}
            echo $found"""
        return run_script(self.target, script).strip() == "1"


def client(target: str, *options: str) -> list[str]:
    """The SSH client for a target; it takes the connection of this process where there is one."""
    configuration = os.environ.get(CONFIGURATION_VARIABLE)
    named = ["-F", configuration] if configuration else []
    fixed = [f"-o{option}" for option in _OPTIONS]
    return ["ssh", "-T", *named, *fixed, "-S", str(control_path(target)), *options, _address(target)]


def control_path(target: str) -> Path:
    """The socket of this process's connection to a target."""
    digest = hashlib.sha256(target.encode()).hexdigest()[:8]
    return parent_folder() / f"middlemark-ssh-{os.getpid()}-{digest}"


def run_script(target: str, script: str, data: bytes | None = None) -> str:
    """What a shell of the remote machine prints for a script."""
    return _run([*client(target), script], target, data).decode(errors="replace")


def pipe_into(target: str, script: str, into: Sequence[str]) -> None:
    """Runs a script there and gives what it prints to a program here."""
    with subprocess.Popen([*client(target), script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as there:
        subprocess.run(into, stdin=there.stdout, check=True)
    if there.returncode:
        raise Unreachable(f"{target}: the client ended with {there.returncode}")


def _run(command: Sequence[str], target: str, data: bytes | None) -> bytes:
    try:
        ran = subprocess.run(command, input=data or b"", capture_output=True, timeout=ANSWER_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise Unanswered(f"{target} does not answer within {ANSWER_S:.0f} s") from late
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip() or f"exit status {ran.returncode}"
        if ran.returncode == _LOST:
            raise Unanswered(f"{target}: {said}")
        raise Unreachable(f"on {target}: {said}")
    return ran.stdout


def _address(target: str) -> str:
    """The client takes a port in a URI only."""
    return f"ssh://{target}" if re.search(r":\d+$", target) else target
