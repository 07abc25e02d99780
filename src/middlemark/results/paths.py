"""The only place where names become paths: what would leave its folder is refused, and so is a link on the way there.

Names that come from data become names of files here too. It reads and writes nothing; `files` opens what lies there
and never follows a link at a path's end.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import stat
from pathlib import Path

from middlemark.errors import StoreError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", re.ASCII)


def inside(folder: Path, *names: str) -> Path:
    """The path of what lies in a folder, one name a level; the folder itself may be anything that its user named."""
    path = folder
    for name in names:
        if path is not folder:
            _refuse_link(path)
        if _NAME.fullmatch(name) is None:
            raise StoreError(folder, f"{name!r} is no name of what lies in it", "letters, digits, `.`, `_` and `-`")
        path /= name
    return path


def folder_inside(folder: Path, name: str) -> Path:
    """The path of a folder in a folder, which is there or can be made."""
    path = inside(folder, name)
    _refuse_link(path)
    return path


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise StoreError(path, "it is a symbolic link, and a run folder has none", "put the folder itself in its place")


def check_owner(folder: Path) -> None:
    """Refuses a folder of another user, who may have put anything into it; root's are as good as one's own."""
    owner = folder.stat().st_uid
    if owner not in {os.geteuid(), 0}:
        raise StoreError(
            folder,
            f"it belongs to another user ({_user(owner)})",
            "if you trust what is in it: the same with `--trust`",
        )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def file_name(text: str) -> str:
    """A name for a file that says `text`: itself where it is a safe name, else what is safe of it and a digest."""
    if _NAME.fullmatch(text):
        return text
    readable = re.sub(r"[^A-Za-z0-9]+", "-", text, flags=re.ASCII).strip("-")[:80]
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}".lstrip("-")


def is_there(path: Path) -> bool:
    """Whether anything but a folder lies there, be it a link or a pipe: who opens it will say what is wrong with it."""
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(path, f"it can't be read: {error.strerror}") from error
