"""What the machines of an inventory are: asked by SSH once, when the test-bed that has them for hosts joins a fleet.

It copies nothing there and measures no clock, as `ssh` and `clock_sync` do for each trial; what this machine is,
`machine.readiness` says.
"""

from __future__ import annotations

import hmac
import platform
from typing import Final

from pydantic import ValidationError

from middlemark.errors import EnvironmentNotReady
from middlemark.results.manifest import RemoteMachine
from middlemark.suite import Inventory
from middlemark.testbed.hosts.ssh import REMEDY
from middlemark.testbed.processes import remote
from middlemark.testbed.processes.remote import Unreachable

_QUESTION: Final = """
set -- $SSH_CONNECTION
echo "started=$(cat /proc/sys/kernel/random/boot_id) $4"
echo "kernel=$(uname -r)"
echo "architecture=$(uname -m)"
echo "cpus=$(nproc)"
sed -n 's/^model name[^:]*: */cpu_model=/p' /proc/cpuinfo | head -n 1
"""


def machines_of(inventory: Inventory) -> dict[str, RemoteMachine]:
    """By its name, what each machine is.

    Raises `EnvironmentNotReady` where one can't be reached, can't run this machine's workers, or has two names.
    """
    machines: dict[str, RemoteMachine] = {}
    names: dict[str, str] = {}
    for target in (machine.ssh for machine in inventory.machines):
        machines[target] = _asked(target)
        other = names.setdefault(machines[target].started, target)
        if other != target:
            raise EnvironmentNotReady(
                f"{other} and {target} are one machine", remedy="name each machine once in the inventory"
            )
    return machines


def _asked(target: str) -> RemoteMachine:
    remedy = REMEDY.replace("TARGET", target)
    try:
        answer = remote.run_script(target, _QUESTION)
    except Unreachable as lost:
        raise EnvironmentNotReady(str(lost), remedy=remedy) from lost
    answers = dict(line.partition("=")[::2] for line in answer.splitlines())
    try:
        machine = RemoteMachine.model_validate({**answers, "started": _digest(answers.get("started", ""))})
    except ValidationError as error:
        first = error.errors()[0]
        reason = ": ".join([*map(str, first["loc"]), first["msg"]])
        raise EnvironmentNotReady(f"{target} does not say what it is: {reason}", remedy=remedy) from error
    if machine.architecture != platform.machine():
        raise EnvironmentNotReady(
            f"{target} is of another architecture than this machine: {machine.architecture}, not {platform.machine()}",
            remedy="let a machine of its architecture join the fleet with it",
        )
    return machine


def _digest(started: str) -> str:
    return hmac.digest(started.encode(), b"middlemark", "sha256").hex()[:16] if len(started.split()) == 2 else ""
