"""The option `--trust` of every command that reads a run: it may be one that another user owns."""

from typing import Annotated

import typer

Trust = Annotated[bool, typer.Option("--trust", help="Read a run folder that belongs to another user.")]
