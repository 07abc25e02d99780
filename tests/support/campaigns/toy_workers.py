"""Workers of a toy middleware that only describe themselves, for tests of how workers are found and asked."""

import json
from pathlib import Path

from middlemark.worker.description import CONTRACT_VERSION

DESCRIPTION = {
    "contract_version": CONTRACT_VERSION,
    "middleware": "toy",
    "title": "Toy",
    "summary": "A toy.",
    "library": {"name": "toy", "version": "1.2.3", "origin": "tests"},
    "capabilities": {
        "patterns": ["periodic"], "transports": ["udp"], "reliabilities": ["reliable"], "durabilities": ["volatile"],
        "histories": ["keep_all"],
        "congestion": ["block"],
        "deliveries": {
            "default": "own_thread",
            "has": [
                {"delivery": "own_thread", "how": "h", "source": "s"},
                {"delivery": "polling", "how": "h", "source": "s"},
            ],
            "lacks": [{"delivery": "library_thread", "reason": "r"}],
        },
        "largest_message_bytes": 100, "zero_copy": False, "same_process": False,
        "security": [], "between_hosts": False,
    },
    "services": [],
    "profiles": {"default": {"summary": "d", "options": {}}, "tuned": {"summary": "t", "delivery": "polling", "options": {"express": True}}},
    "options": [
        {"name": "express", "kind": {"kind": "boolean"}, "default": False, "summary": "e"},
        {"name": "depth", "kind": {"kind": "integer", "minimum": 1, "maximum": 9}, "default": 1, "summary": "d"},
    ],
}  # fmt: skip


def install(folder: Path, name: str, answer: object = DESCRIPTION, *, more: str = "") -> Path:
    """A worker that counts how often it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"middlemark-worker-{name}"
    path.write_text(f"#!/bin/sh\necho asked >> {folder}/asked\n{more}\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    path.chmod(0o755)
    return path
