"""The credentials of one trial, made by its worker's command `credentials`; nothing here opens what they hold.

Who gets which of them, `campaign.trial.security` says. They are in memory alone: what is stored of a spec has digests.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from middlemark.worker.answers import ask, failed
from middlemark.worker.contract import CredentialsEvent, CredentialsRequest, Security

DEADLINE_S = 30.0

_EVENTS: TypeAdapter[CredentialsEvent] = TypeAdapter(CredentialsEvent)


def answered(worker: Path, request: CredentialsRequest) -> CredentialsEvent:
    """What the worker made, or why it did not; raises WorkerFailed where it gave no answer."""
    data = request.model_dump_json(exclude_none=True).encode() + b"\n"
    answer = ask(worker, "credentials", within_s=DEADLINE_S, data=data)
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
