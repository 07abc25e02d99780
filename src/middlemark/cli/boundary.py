"""What leaves the program: lines of text, and every error as one message on standard error and an exit code.

A deliberate error says what to do; any other one is a bug of Middlemark and is written to a log file. A command that
read a run with damaged trials does its work and then ends here too, with their names.
"""

import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from middlemark.errors import ExitCode, MiddlemarkError, ResultsNotAccepted

if TYPE_CHECKING:
    from middlemark.analysis.run import Damage


def check_damage(damaged: "Sequence[Damage]") -> None:
    """Ends with exit code 1 where trials were left out."""
    if damaged:
        names = ", ".join(damage.trial for damage in damaged)
        raise ResultsNotAccepted(
            f"{len(damaged)} stored trials are damaged and left out: {names}",
            remedy="remove their folders and run `middlemark run --resume` on this run to try them again",
        )


def say(text: str, *, err: bool = False) -> None:
    """Prints text in which nothing is a command to the terminal; tables and colours go to a `Screen`."""
    from middlemark.report.elements.plain_text import plain_text

    typer.echo(plain_text(text), err=err)  # noqa: TID251 - here


@contextmanager
def reported_errors(command: Sequence[str]) -> Iterator[None]:
    """Ends the program with a message and an exit code where the code within raises."""
    try:
        yield
    except MiddlemarkError as error:
        _print_error(error.text, error.remedy)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _print_error("interrupted", None)
        sys.exit(ExitCode.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - here is where the unexpected ends
        log = _write_log(command)
        _print_error(f"this is a bug of middlemark: {type(error).__name__}: {error}", f"the details are in {log}")
        sys.exit(ExitCode.INTERNAL)


def _print_error(text: str, remedy: str | None) -> None:
    from rich.text import Text

    from middlemark.report.elements.plain_text import Screen

    console = Screen(stderr=True, soft_wrap=True)
    console.print(Text.assemble(("error: ", "bold red"), text))
    if remedy is not None:
        console.print(Text(f"  {remedy}", style="cyan"))


def _write_log(command: Sequence[str]) -> Path:
    content = f"{datetime.now(UTC).isoformat()}\n{' '.join(command)}\n{sys.version}\n\n{traceback.format_exc()}"
    from middlemark.testbed.processes.ledger import make_private, state_folder

    try:
        make_private(state_folder())
        return _new_file(state_folder(), content)
    except (OSError, MiddlemarkError):
        return _new_file(Path(tempfile.gettempdir()), content)


def _new_file(folder: Path, content: str) -> Path:
    with tempfile.NamedTemporaryFile(
        "w", dir=folder, prefix="middlemark-error-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(content)
    return Path(file.name)
