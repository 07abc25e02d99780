"""What a worker answers to a command that ends by itself: any command's answer, and the credentials of one trial.

`installation.answers` bounds how long it may take and how much it may say; one that gives no answer has failed. Who
gets which credentials, `campaign.trial.security` says: they are in memory alone, and what is stored of a spec has
digests. Workers that live through a trial are `process`'s, and what they say of themselves is `description`'s.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from middlemark.errors import WorkerFailed
from middlemark.installation.answers import MOST_BYTES, Answer, NoAnswer, answer_of
from middlemark.worker.contract import CredentialsEvent, CredentialsRequest, Security

_NOT_LOADED = re.compile(rb"error while loading shared libraries: ([^:]+):")
"""What the loader of glibc says before a program begins."""
_LAST_LINES = 5
CREDENTIALS_WITHIN_S = 30.0

_EVENTS: TypeAdapter[CredentialsEvent] = TypeAdapter(CredentialsEvent)


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


def made_credentials(worker: Path, request: CredentialsRequest) -> CredentialsEvent:
    """What the worker made, or why it did not; raises WorkerFailed where it gave no answer."""
    data = request.model_dump_json(exclude_none=True).encode() + b"\n"
    answer = ask(worker, "credentials", within_s=CREDENTIALS_WITHIN_S, data=data)
    try:
        return _EVENTS.validate_json(answer.output)
    except ValidationError as error:
        # The error's own text may quote what was said, and that may be a key.
        problem = error.errors(include_input=False, include_url=False)[0]["msg"]
        raise failed(f"{worker.name} credentials printed no answer of the contract: {problem}", answer) from None


def without_secrets(security: Security) -> Security:
    """The same with a digest in place of each file's text."""
    digests = {name: f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for name, text in security.files.items()}
    return security.model_copy(update={"files": digests})
