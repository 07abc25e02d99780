"""The SHA-256 of a file, and of a folder: whether what is there is what was packed, sent or measured.

`files` opens what is read; who compares digests says what it means that they differ. A key that is made of words and
numbers, as that of a cache, is its maker's.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from middlemark.results.files import opened_regular


def file_digest(path: Path) -> str:
    """Of a regular file, in hexadecimal digits; raises `StoreError` for whatever else lies there."""
    with opened_regular(path) as file, os.fdopen(file, "rb", closefd=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: Path, *, without: str) -> str:
    """Over the names and digests of all files below a folder but those with this suffix."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != without:
            whole.update(f"{path.relative_to(folder)} {file_digest(path)}\n".encode())
    return whole.hexdigest()
