"""Every command line that a page shows is one that the program, or the Makefile, takes."""

import re
import shlex

import click
import pytest
import typer

from middlemark.cli.main import app
from pages import PAGES, ROOT, name

SHOWN = re.compile(r"(?:^\$ |`)(?:\.venv/bin/)?(middlemark [^`\n]*|make [a-z][^`\n]*)", re.MULTILINE)
COMMANDS = sorted({(name(page), line) for page in PAGES for line in SHOWN.findall(page.read_text(encoding="utf-8"))})


def test_commands_are_found_in_the_pages() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/guide/hosts/topologies.md"} <= {page for page, _ in COMMANDS}


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_line_that_is_shown_is_taken(page: str, line: str) -> None:
    program, *words = shlex.split(line, comments=True)
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        named = re.findall(r"^([a-z0-9-]+):|\$\(([A-Z]+)\)", makefile, re.MULTILINE)
        taken = {target or f"{variable}=" for target, variable in named}
        assert {word[: word.find("=") + 1] or word for word in words} <= taken, page
        return
    command: click.Command = typer.main.get_command(app)
    context = click.Context(command)
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words.pop(0))
        assert found is not None, page
        command, context = found, click.Context(found, parent=context)
    command.make_parser(context).parse_args(words)
