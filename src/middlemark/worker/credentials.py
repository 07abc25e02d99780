"""The credentials of one trial, made by its worker's command `credentials`; nothing here opens what they hold.

Who gets which of them, `campaign.trial.security` says. They are in memory alone: what is stored of a spec has digests.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from middlemark.errors import WorkerFailed
from middlemark.installation.answers import NoAnswer, answer_of
from middlemark.worker.contract import CredentialsEvent, CredentialsRequest, Security

DEADLINE_S = 30.0

_EVENTS: TypeAdapter[CredentialsEvent] = TypeAdapter(CredentialsEvent)


def answered(worker: Path, request: CredentialsRequest) -> CredentialsEvent:
    """What the worker made, or why it did not; raises WorkerFailed where it gave no answer."""
    data = request.model_dump_json(exclude_none=True).encode() + b"\n"
    try:
        answer = answer_of([worker, "credentials"], within_s=DEADLINE_S, data=data)
    except NoAnswer as reason:
        raise WorkerFailed(f"{worker.name} credentials gave no answer: {reason}", exit_status=None) from reason
    except OSError as error:
        raise WorkerFailed(f"{worker} can't be started: {error.strerror}", exit_status=None) from error
    try:
        return _EVENTS.validate_json(answer.output)
    except ValidationError as error:
        # The error's own text may quote what was said, and that may be a key.
        problem = error.errors(include_input=False, include_url=False)[0]["msg"]
        text = f"{worker.name} credentials printed no answer of the contract: {problem}"
        lines = answer.errors.decode(errors="replace").splitlines()[-5:]
        raise WorkerFailed(text, exit_status=answer.exit_status, last_log_lines=lines) from None


def without_secrets(security: Security) -> Security:
    """The same with a digest in place of each file's text."""
    digests = {name: f"sha256:{hashlib.sha256(text.encode()).hexdigest()}" for name, text in security.files.items()}
    return security.model_copy(update={"files": digests})
