"""The SSH client as Middlemark calls it, and the removal of a folder on a remote machine with what still runs for it.

It knows no host and enters nothing: `hosts.ssh` does; the ledger calls the removal. Every call fails rather than
prompts.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, cast

from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.testbed.processes.archive import Refused, unpack
from middlemark.testbed.processes.podman import parent_folder

CONFIGURATION_VARIABLE = "MIDDLEMARK_SSH_CONFIG"
"""In the environment: a configuration of the SSH client to use instead of the user's."""
REMOTE_VARIABLE = "MIDDLEMARK_REMOTE"
"""In the environment of every remote process: the folder that it goes with."""
ANSWER_S, COLLECTING_S = 20.0, 600.0
REMARK_BYTES = 2000
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
    return ["ssh", "-T", *named, *fixed, "-S", str(control_path(target)), *options, "--", _address(target)]


@cache
def control_folder() -> Path:
    """The folder of this process's sockets: only its user enters it, and nobody knows its name before."""
    return parent_folder() / f"middlemark-ssh-{os.getpid()}-{secrets.token_hex(4)}"


def control_path(target: str) -> Path:
    """The socket of this process's connection to a target."""
    return control_folder() / hashlib.sha256(target.encode()).hexdigest()[:8]


def run_script(target: str, script: str, data: bytes = b"") -> str:
    """What a shell of the remote machine prints for a script."""
    try:
        ran = answer_of([*client(target), script], within_s=ANSWER_S, data=data)
    except NoAnswer as late:
        raise Unanswered(f"{target} does not answer: {late}") from late
    except FileNotFoundError as missing:
        raise Unanswered(f"{target}: there is no `ssh` here: apt-get install openssh-client") from missing
    if ran.exit_status:
        words = ran.errors.decode(errors="replace").strip() or f"exit status {ran.exit_status}"
        if ran.exit_status == _LOST:
            raise Unanswered(f"{target}: {words}")
        raise Unreachable(f"on {target}: {words}")
    return ran.output.decode(errors="replace")


def unpack_from(target: str, script: str, into: Path) -> None:
    """Runs a script there that prints an archive of samples, and unpacks it here."""
    command = [*client(target), script]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        try:
            unpack(cast("IO[bytes]", process.stdout).fileno(), into, COLLECTING_S)
            process.wait(ANSWER_S)
        except (Refused, subprocess.TimeoutExpired) as cause:
            process.kill()
            raise Unreachable(f"what {target} sent is refused: {cause}") from cause
        if process.returncode:
            errors.seek(0)
            words = errors.read(REMARK_BYTES).decode(errors="replace").strip()
            raise Unreachable(f"{target}: the client ended with {process.returncode}: {words}")


def _address(target: str) -> str:
    """The client takes a port in a URI only."""
    return f"ssh://{target}" if re.search(r":\d+$", target) else target
