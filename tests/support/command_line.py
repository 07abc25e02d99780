"""`middlemark` as from a command line, in this process: what it says and ends with, without the second that loading takes.

Where the process itself is what is tested (what it loads, signals, its end), the test starts one.
"""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest
import typer

from middlemark.cli.boundary import reported_errors
from middlemark.cli.main import app

MIDDLEMARK = (sys.executable, "-c", "from middlemark.cli.main import main; main()")
"""What a command begins with that starts it as a process."""


def middlemark(*words: object) -> subprocess.CompletedProcess[str]:
    """With these words on its command line."""
    command = ["middlemark", *map(str, words)]
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", command),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
        reported_errors(command),
    ):
        typer.main.get_command(app).main(command[1:], prog_name=command[0])
    return subprocess.CompletedProcess(command, int(ended.value.code or 0), out.getvalue(), err.getvalue())
