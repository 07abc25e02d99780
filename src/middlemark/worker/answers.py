"""What a worker answers to a command that ends by itself, such as `describe`; one that gives no answer has failed.

`installation.answers` bounds how long it may take and how much it may say; what an answer holds is its asker's. Workers
that live through a trial are `process`'s.
"""

from __future__ import annotations

import re
from pathlib import Path

from middlemark.errors import WorkerFailed
from middlemark.installation.answers import MOST_BYTES, Answer, NoAnswer, answer_of

_NOT_LOADED = re.compile(rb"error while loading shared libraries: ([^:]+):")
"""What the loader of glibc says before a program begins."""
_LAST_LINES = 5


def ask(worker: Path, command: str, *, within_s: float, data: bytes = b"", most_bytes: int = MOST_BYTES) -> Answer:
    """What it says, however it ends; raises WorkerFailed where it can't begin, doesn't end, or says too much."""
    try:
        answer = answer_of([worker, command], within_s=within_s, data=data, most_bytes=most_bytes)
    except NoAnswer as reason:
        raise WorkerFailed(f"{worker.name} {command} gave no answer: {reason}", exit_status=None) from reason
    except OSError as error:
        raise WorkerFailed(f"{worker} can't be started: {error.strerror}", exit_status=None) from error
    if missing := _NOT_LOADED.search(answer.errors):
        text = f"{worker.name} needs {missing[1].decode()}, which is not here"
        raise WorkerFailed(text, exit_status=answer.exit_status)
    return answer


def failed(text: str, answer: Answer) -> WorkerFailed:
    """The error of an answer that is none, with the last lines of the worker's log."""
    lines = answer.errors.decode(errors="replace").splitlines()[-_LAST_LINES:]
    return WorkerFailed(text, exit_status=answer.exit_status, last_log_lines=lines)
