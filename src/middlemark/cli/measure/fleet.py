"""`middlemark testbed join`, and `--fleet`: what the command line knows of a fleet of test-beds.

It loads nothing of Dask before one of them is used; `campaign.fleet` does the work.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.arguments import Command, Group
from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from distributed import Security

    from middlemark.campaign.fleet.blocks import Connect, TestBeds
    from middlemark.campaign.order import Order
    from middlemark.results.manifest import RemoteMachine
    from middlemark.results.run_folder import RunFolder

FleetAddress = Annotated[
    str | None,
    typer.Option("--fleet", metavar="ADDRESS", help="Measure on the test-beds that have joined this Dask scheduler."),
]
Detach = Annotated[
    bool,
    typer.Option("--detach", help="With --fleet: hand out the trials and end; --attach collects the results later."),
]
Through = Annotated[
    str | None,
    typer.Option(
        "--through",
        metavar="DIR|URL",
        help="With --fleet: return blocks through this folder or store, which all test-beds can reach, "
        "in place of the scheduler.",
    ),
]
TlsAuthority = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The certificate of the authority that signs the fleet's certificates, where its connections use TLS.",
    ),
]
TlsCertificate = Annotated[Path | None, typer.Option(metavar="FILE", help="This machine's certificate in the fleet.")]
TlsKey = Annotated[Path | None, typer.Option(metavar="FILE", help="The private key of that certificate.")]
app = typer.Typer(cls=Group, help="Let this machine measure for campaigns of other machines.", no_args_is_help=True)


@app.command("join", cls=Command)
def join_command(  # noqa: PLR0913, PLR0917 - a command line has so many options
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="The Dask scheduler's: tcp://HOST:8786, or tls://HOST:8786.")
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The test-bed's name, in place of the machine's.")
    ] = None,
    tls_ca_file: TlsAuthority = None,
    tls_cert: TlsCertificate = None,
    tls_key: TlsKey = None,
    hosts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The machines, reached by SSH, that this test-bed has for a suite's hosts."),
    ] = None,
    death_timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="How long it waits for a scheduler that does not answer yet."),
    ] = 20.0,
    nthreads: Annotated[int, typer.Option(min=1, max=1, hidden=True, help="As dask-jobqueue says it.")] = 1,
    memory_limit: Annotated[str, typer.Option(hidden=True, help="The same; what is measured has no limit.")] = "0",
) -> None:
    """Measure blocks of campaigns on this machine, one at a time, until Ctrl-C."""
    check_installed()
    from middlemark.campaign.fleet import testbed

    del nthreads, memory_limit  # a test-bed has one thread, and no bound but its machine's
    secured = security(address, tls_ca_file, tls_cert, tls_key)
    _check_machine()
    machines = _machines(hosts)
    say(f"this machine measures for {address}; Ctrl-C ends it", err=True)
    testbed.join(address, name, secured, death_timeout, machines)


def _machines(inventory: Path | None) -> "dict[str, RemoteMachine]":
    """The machines of an inventory, each asked what it is."""
    if inventory is None:
        return {}
    from middlemark.suite import load_inventory
    from middlemark.testbed.hosts.inventory import machines_of

    machines = machines_of(load_inventory(str(inventory)))
    for name, machine in machines.items():
        processor = machine.cpu_model or machine.architecture
        say(f"{name}: {processor}, {machine.cpus} CPUs, Linux {machine.kernel}", err=True)
    return machines


def _check_machine() -> None:
    """Says what `doctor` finds not ready, and refuses where nothing could be measured."""
    from middlemark.errors import EnvironmentNotReady
    from middlemark.testbed import capabilities
    from middlemark.testbed.machine import readiness

    unready = [fact for fact in (*readiness.facts(), *capabilities.facts()) if fact.ready is False]
    for fact in unready:
        say(f"not ready: {fact.name} {fact.value}: {fact.remedy}", err=True)
    if coarse := [fact for fact in unready if fact.name == "clock_resolution_ns"]:
        raise EnvironmentNotReady(
            f"the clock of this machine moves in steps of {coarse[0].value} ns: no latency can be measured",
            remedy=coarse[0].remedy,
        )


def fleet_at(
    address: str | None, tls: tuple[Path | None, Path | None, Path | None], through: str | None = None
) -> "Connect | None":
    """What connects a run to the fleet; None where this machine measures alone."""
    _check_through(address, through)
    if address is None:
        return None
    check_installed()
    secured = security(address, *tls)

    def connected(run: "RunFolder") -> "AbstractAsyncContextManager[TestBeds]":
        from middlemark.campaign.fleet import front

        return front.connected(address, run, secured, through)

    return connected


def _check_through(address: str | None, through: str | None) -> None:
    from middlemark.errors import UsageError

    if through is None:
        return
    if address is None:
        raise UsageError("--through is how a fleet's blocks come back, and none is named", remedy="--fleet ADDRESS")
    if "://" not in through and not Path(through).is_absolute():
        raise UsageError(
            f"--through {through}: each machine would look for it in a folder of its own",
            remedy="name the shared folder by its whole path, or a store by its URL",
        )


def leave(path: Path, order: "Order", connect: "Connect | None", *, as_json: bool) -> None:
    """Hands out all that is planned, and says how it is brought in."""
    from middlemark.errors import UsageError

    if connect is None:
        raise UsageError("--detach leaves a run to a fleet, and none is named", remedy="name it with --fleet ADDRESS")
    from middlemark.campaign.fleet import detached
    from middlemark.suite.yaml.quantity import plural

    n_blocks = detached.hand_out(path, order, connect)
    if as_json:
        say(json.dumps({"run": str(path), "blocks": n_blocks}))
        return
    say(f"{plural(n_blocks, 'block')} handed out; bring them in with: middlemark run --attach {path} --fleet ADDRESS")


def check_installed() -> None:
    """Refuses where the extra `fleet` isn't installed."""
    from importlib.util import find_spec

    from middlemark.errors import EnvironmentNotReady

    if find_spec("distributed") is None:
        raise EnvironmentNotReady(
            "a fleet needs Dask's `distributed`, which is not installed", remedy="pip install 'middlemark[fleet]'"
        )


def security(address: str, authority: Path | None, certificate: Path | None, key: Path | None) -> "Security | None":
    """How the connections are secured; None leaves it to Dask's own configuration."""
    import dask.config
    from distributed import Security

    from middlemark.errors import UsageError

    remedy = "--tls-ca-file FILE --tls-cert FILE --tls-key FILE"
    options = {"--tls-ca-file": authority, "--tls-cert": certificate, "--tls-key": key}
    if not any(options.values()):
        if address.startswith("tls://") and dask.config.get("distributed.comm.tls.ca-file", None) is None:
            raise UsageError(f"{address} uses TLS, and no certificates are named", remedy=remedy)
        return None
    for option, path in options.items():
        if path is None:
            raise UsageError(f"{option} is missing: TLS needs all three of its files", remedy=remedy)
        if not path.is_file():
            raise UsageError(f"{option}: there is no file {path}", remedy=remedy)
    return Security(
        require_encryption=True,
        tls_ca_file=str(authority),
        tls_client_cert=str(certificate),
        tls_client_key=str(key),
        tls_worker_cert=str(certificate),
        tls_worker_key=str(key),
    )
