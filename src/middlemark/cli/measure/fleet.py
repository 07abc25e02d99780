"""`middlemark testbed join`, and `--fleet`: what the command line knows of a fleet of test-beds.

It loads nothing of Dask before one of them is used; `campaign.fleet` does the work.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.boundary import say

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from distributed import Security

    from middlemark.campaign.campaign import Fleet
    from middlemark.campaign.fleet.blocks import TestBeds
    from middlemark.results.run_folder import RunFolder

FleetAddress = Annotated[
    str | None,
    typer.Option("--fleet", metavar="ADDRESS", help="Measure on the test-beds that have joined this Dask scheduler."),
]
Tls = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE", help="The certificates of the fleet: its authority, this machine's, its key; three times."
    ),
]
app = typer.Typer(help="Have this machine measure for others.", no_args_is_help=True)


@app.command("join")
def join_command(
    address: Annotated[str, typer.Argument(help="The Dask scheduler's: tcp://HOST:8786, or tls://HOST:8786.")],
    name: Annotated[str | None, typer.Option(help="The test-bed's name, in place of the machine's.")] = None,
    tls: Tls = None,
) -> None:
    """Measure blocks of campaigns on this machine, one at a time, until Ctrl-C."""
    check_installed()
    from middlemark.campaign.fleet import testbed

    secured = security(tls)
    say(f"this machine measures for {address}; Ctrl-C ends it", err=True)
    testbed.join(address, name, secured)


def fleet_at(address: str | None, tls: list[Path] | None) -> "Fleet | None":
    """What connects a run to the fleet; None where this machine measures alone."""
    if address is None:
        return None
    check_installed()
    secured = security(tls)

    def connected(run: "RunFolder") -> "AbstractAsyncContextManager[TestBeds]":
        from middlemark.campaign.fleet import front

        return front.connected(address, run, secured)

    return connected


def check_installed() -> None:
    """Refuses where the extra `fleet` isn't installed."""
    from importlib.util import find_spec

    from middlemark.errors import EnvironmentNotReady

    if find_spec("distributed") is None:
        raise EnvironmentNotReady(
            "a fleet needs Dask's `distributed`, which is not installed", remedy="pip install 'middlemark[fleet]'"
        )


def security(tls: list[Path] | None) -> "Security | None":
    """How the connections are secured; None where they are not."""
    if not tls:
        return None
    from distributed import Security

    from middlemark.errors import UsageError

    if len(tls) != 3:
        raise UsageError(
            f"--tls names {len(tls)} files, and three are needed",
            remedy="--tls AUTHORITY --tls CERTIFICATE --tls KEY",
        )
    missing = [path for path in tls if not path.is_file()]
    if missing:
        raise UsageError(f"there is no {missing[0]}", remedy="--tls AUTHORITY --tls CERTIFICATE --tls KEY")
    authority, certificate, key = map(str, tls)
    files = {
        f"tls_{role}_{kind}": path
        for role in ("client", "worker")
        for kind, path in (("cert", certificate), ("key", key))
    }
    return Security(tls_ca_file=authority, require_encryption=True, **files)
