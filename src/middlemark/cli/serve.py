"""`middlemark serve`: shows many runs on a local page until it is ended by Ctrl-C.

`report.site` makes the pages; here is decided where they are served, and to whom.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from middlemark.cli.trust import Trust

if TYPE_CHECKING:
    import socket

LOOPBACK = "127.0.0.1"


def command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Run folders, and folders of runs such as `runs`.")
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8450,
    bind: Annotated[
        str, typer.Option(help="The address to listen at; with others than loopback, others see the runs.")
    ] = (LOOPBACK),
    trust: Trust = False,
) -> None:
    """Show many runs in the browser: a figure's history with change points, and any two runs compared."""
    import uvicorn
    from rich.console import Console

    from middlemark.report.site import site

    with Console(stderr=True).status("looking for runs"):
        app = site(folders, ["localhost", LOOPBACK, bind], trust=trust)
    with _listening(bind, port) as listener:
        address = f"http://{bind}:{listener.getsockname()[1]}/"
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
        if not bind.startswith("127."):
            typer.echo(f"Everybody who reaches {bind} can read these runs.", err=True)
        typer.echo(f"{address} (Ctrl-C ends it)")
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            typer.echo("ended")


def _listening(bind: str, port: int) -> "socket.socket":
    import socket

    from middlemark.errors import EnvironmentNotReady

    try:
        return socket.create_server((bind, port))
    except OSError as error:
        raise EnvironmentNotReady(
            f"{bind}:{port} can't be listened at: {error.strerror}", remedy="choose another with `--port`, 0 for any"
        ) from error
