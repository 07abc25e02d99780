"""What this machine lets a test-bed have, found out by trying it: namespaces, kernel netem, limits.

Each answer is found once in a process. `doctor` shows them with their remedies; nothing of the machine is changed.
"""

from __future__ import annotations

import os
import shutil
from functools import cache

from middlemark.errors import EnvironmentUnusable
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.suite import Direction
from middlemark.testbed import observers
from middlemark.testbed.hosts import limits
from middlemark.testbed.machine import wakefulness
from middlemark.testbed.machine.readiness import Fact
from middlemark.testbed.network import shaping
from middlemark.testbed.network.shaping import Backend
from middlemark.testbed.network.wiring import batch
from middlemark.testbed.processes.child import executable, required

_PATIENCE_S = 10


def facts() -> list[Fact]:
    """What `doctor` says of a test-bed's needs."""
    hosts_and_links = [_namespaces(), _offloads(), _backend(), _relay()]
    of_processes = [limits.limits_fact(), limits.gathering_fact(), wakefulness.awake_fact()]
    return [*hosts_and_links, _resources(), _capture(), _kernel_path(), *of_processes]


@cache
def namespaces_missing() -> str | None:
    """Why hosts in namespaces are not possible; None where they are."""
    try:
        required("nsenter")
        needed = f"{required('ip')} link add v0 type veth peer name v1 && {required('ip')} link add b0 type bridge"
        return _failure([*_namespaces_command("--net", "--mount", "--uts", "--ipc"), "sh", "-c", needed])
    except EnvironmentUnusable as error:
        return str(error)


def _namespaces() -> Fact:
    missing = namespaces_missing()
    if missing is None:
        return Fact("netns_hosts", "as root" if os.geteuid() == 0 else "in a user namespace", True)
    return Fact(
        "netns_hosts",
        missing,
        False,
        "run as root; or allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1"
        " kernel.apparmor_restrict_unprivileged_userns=0; modules: sudo modprobe -a veth bridge",
    )


def _offloads() -> Fact:
    path = shutil.which("ethtool", path="/usr/sbin:/sbin:" + os.environ.get("PATH", ""))
    return Fact("ethtool", path or "missing", path is not None, "apt-get install ethtool: shaped links need it")


@cache
def netem_missing() -> str | None:
    """Why the kernel's netem can't be used; None where it can."""
    try:
        wanted = _netem_wanted()
        return namespaces_missing() or _failure([*_namespaces_command("--net"), "sh", "-ec", wanted])
    except EnvironmentUnusable as error:
        return str(error)


def _netem_wanted() -> str:
    lines = shaping.netem_commands("v0", "v1", Direction(delay_ns=1), Direction(loss=0.1))
    return f"{required('ip')} link add v0 type veth peer name v1\n{batch(required('tc'), lines)}"


def backend() -> Backend:
    """What shapes links here: the kernel where it can."""
    return Backend.RELAY if netem_missing() else Backend.NETEM


def _backend() -> Fact:
    missing = netem_missing()
    if missing is None:
        return Fact("link_backend", "netem and tbf", True)
    return Fact(
        "link_backend",
        f"relay and tbf: the kernel's netem can't be used ({missing.splitlines()[0]})",
        None,
    )


def _relay() -> Fact:
    missing = shaping.relay_missing()
    value = missing.splitlines()[0] if missing else str(executable("relay"))
    return Fact("relay", value, missing is None, "make workers: links with a trace, or without netem, need it")


def _resources() -> Fact:
    try:
        return Fact("resources", str(executable("resources")), True)
    except EnvironmentUnusable as missing:
        return Fact("resources", missing.text, None, "make workers: only the observation `resources` needs it")


def _capture() -> Fact:
    try:
        return Fact("capture", str(executable("capture")), True)
    except EnvironmentUnusable as missing:
        return Fact("capture", missing.text, None, "make workers: only the observation `capture` needs it")


def _kernel_path() -> Fact:
    missing = observers.kernel_path_missing()
    if missing is None:
        return Fact("kernel_path", str(executable("kernel-path")), True)
    remedy = "apt-get install clang libelf-dev zlib1g-dev; make workers; run as root: only kernel_path observes it"
    return Fact("kernel_path", missing.splitlines()[0], None, remedy)


def _namespaces_command(*kinds: str) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return [required("unshare"), *user, *kinds]


def _failure(command: list[str]) -> str | None:
    try:
        return answer_of(command, within_s=_PATIENCE_S).complaint
    except NoAnswer as reason:
        return str(reason)
