"""Writes a manual page for each command, from the definitions that `--help` shows too.

python setup/pages/man.py FOLDER
"""

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import typer
from click_man.man import ManPage

from middlemark import __version__
from middlemark.cli.main import app


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for context in contexts(typer.Context(typer.main.get_command(app), info_name="middlemark")):
        name = context.command_path.replace(" ", "-")
        (folder / f"{name}.1").write_text(page(context), encoding="utf-8")


def contexts(context: typer.Context) -> Iterator[typer.Context]:
    """Of a command, and of all commands below it."""
    yield context
    for name, command in commands(context):
        yield from contexts(typer.Context(command, info_name=name, parent=context))


def commands(context: typer.Context) -> list[tuple[str, typer.core.TyperCommand]]:
    return list(getattr(context.command, "commands", {}).items())


def page(context: typer.Context) -> str:
    """The page of a command, as `man` reads it."""
    command = context.command
    shown = [record for each in command.get_params(context) if (record := each.get_help_record(context))]
    written = ManPage(context.command_path)
    written.short_help = paragraph(command.help).replace("`", "").replace("\n", " ")
    written.description = roff(cleandoc(command.help))
    written.synopsis = " ".join(command.collect_usage_pieces(context))
    written.options = [(names, roff(text)) for names, text in shown]
    written.commands = [(name, roff(paragraph(below.help))) for name, below in commands(context)]
    title = f'.TH "{context.command_path.replace(" ", "-").upper()}" "1" "" "{__version__}" "Middlemark"'
    return "\n".join([title, *str(written).splitlines()[1:], ""])


def paragraph(text: str) -> str:
    """The first one."""
    return cleandoc(text).partition("\n\n")[0]


def roff(text: str) -> str:
    """A text with what means something to roff written otherwise; what is quoted as code is bold."""
    bold = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text.replace("\\", r"\e"))
    return re.sub(r"^(?=[.'])", r"\\&", bold, flags=re.MULTILINE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
