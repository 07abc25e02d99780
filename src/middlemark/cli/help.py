"""What `--help` shows beside an option or argument: the word for its value, never a type of Python.

The classes replace those of typer, which show `<bool>` beside a switch and `<list[Path]>` beside folders; every command
of `main` is made with them.
"""

from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption


class Command(TyperCommand):
    """A command whose help shows no types."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """The command's parameters as typer has them, with their help."""
        return [_without_type(parameter) for parameter in super().get_params(ctx)]


class Group(TyperGroup):
    """A group of commands whose help shows no types."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """The group's own parameters as typer has them, with their help."""
        return [_without_type(parameter) for parameter in super().get_params(ctx)]


def _without_type(parameter: object) -> object:
    if isinstance(parameter, TyperOption) and parameter.is_flag:
        parameter.metavar = ""
    elif isinstance(parameter, TyperArgument):
        # Its word stands in the column before; typer has no setting that leaves its type out.
        parameter.display_type = _no_type  # type: ignore[method-assign]
    return parameter


def _no_type(ctx: object) -> str:
    del ctx
    return ""
