"""The only way in which files of a run are read and written: names become paths, contents models, sizes have a limit.

Nothing that is read is trusted: what would leave its folder, a link on the way, what is no regular file or too large is
refused before it is parsed. A file is written under a random name beside its place, made durable and then renamed, so
that after a power cut there is the old one or the new one; what can't be done is one `StoreError` with its remedy.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from middlemark.errors import StoreError
from middlemark.installation.user_folders import other_owner

MOST_MANIFEST_BYTES: Final = 1 << 29
"""Every planned trial with its experiment, and the messages of recordings."""
MOST_RECORD_BYTES: Final = 1 << 26
MOST_PAGE_BYTES: Final = 1 << 30
"""Of a report, as it is served."""
CHUNK_BYTES: Final = 1 << 18
"""Of a file that is passed on without being looked at."""
MOST_TRIALS: Final = 1 << 18
"""Folders of one run."""
MOST_ROWS_A_BYTE: Final = 64
"""Of a table: stamps of messages take more than a byte each, however well they are compressed."""
ROWS_OF_ANY_TABLE: Final = 1 << 16
RESTORE: Final = "restore the file, or remove the trial's folder"
"""What helps where a file is not what was written."""
PRIVATE: Final = 0o700
"""The mode of a new folder of one user's alone: who else is to read it, its user says."""
M = TypeVar("M", bound=BaseModel)


def check_bytes(path: Path, n_bytes: int, most_bytes: int) -> None:
    """Refuses a file that is too large to be what it should be."""
    if n_bytes > most_bytes:
        raise StoreError(path, f"it has {n_bytes} bytes, and at most {most_bytes} are read of such a file")


def check_rows(path: Path, n_rows: int, n_bytes: int) -> None:
    """Refuses a table that says of itself that it has more rows than its bytes can hold of samples."""
    most = ROWS_OF_ANY_TABLE + MOST_ROWS_A_BYTE * n_bytes
    if n_rows > most:
        raise StoreError(path, f"it says that it has {n_rows} rows, and in {n_bytes} bytes there are at most {most}")


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


def check_is_text(folder: Path) -> None:
    """Refuses a folder whose path can't be written down: what reads tables opens no such path."""
    try:
        str(folder).encode()
    except UnicodeEncodeError as error:
        raise StoreError(folder, "its path is not UTF-8", "rename it") from error


def check_owner(folder: Path) -> None:
    """Refuses a folder of another user, who may have put anything into it."""
    owner = other_owner(folder)
    if owner is not None:
        raise StoreError(
            folder,
            f"it belongs to another user ({owner})",
            "if you trust what is in it: the same with `--trust`",
        )


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


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """The whole file, which must be a regular one of no more than so many bytes."""
    with opened_regular(path) as file:
        n_bytes = os.fstat(file).st_size
        check_bytes(path, n_bytes, most_bytes)
        with os.fdopen(file, "rb", closefd=False) as stream:
            return stream.read(n_bytes)


def read_chunks(path: Path) -> Iterator[bytes]:
    """The content of a regular file, a piece at a time; what is refused is refused before the first."""
    chunks = _chunks(path)
    return chain([next(chunks, b"")], chunks)


def _chunks(path: Path) -> Iterator[bytes]:
    with opened_regular(path) as file:
        while chunk := os.read(file, CHUNK_BYTES):
            yield chunk


def size_bytes(path: Path) -> int:
    """The size of a regular file; whatever else lies there is refused."""
    with opened_regular(path) as file:
        return os.fstat(file).st_size


def read_model(path: Path, model: type[M], most_bytes: int, context: object = None) -> M:
    """What a file of JSON holds; with a context it may be large, and plain values first take the least memory."""
    content = read_bytes(path, most_bytes)
    try:
        if context is None:
            return model.model_validate_json(content)
        return model.model_validate(from_json(content), context=context)
    except ValidationError as cause:
        first = cause.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise StoreError(path, f"it can't be read: {field + ': ' if field else ''}{first['msg']}", RESTORE) from cause
    except ValueError as cause:
        raise StoreError(path, f"it can't be read: {cause}", RESTORE) from cause


@contextmanager
def opened_regular(path: Path) -> Iterator[int]:
    """A regular file to read; opening waits for nobody, as it would at the end of a pipe."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        text = "it is a symbolic link" if error.errno == errno.ELOOP else f"it can't be read: {error.strerror}"
        raise StoreError(path, text, RESTORE) from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise StoreError(path, "it is no regular file", RESTORE)
        yield file
    except OSError as error:
        raise StoreError(path, f"it can't be read: {error.strerror}") from error
    finally:
        os.close(file)


def file_digest(path: Path) -> str:
    """The SHA-256 of a regular file, in hexadecimal digits; raises `StoreError` for whatever else lies there."""
    with opened_regular(path) as file, os.fdopen(file, "rb", closefd=False) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: Path, *, without: str) -> str:
    """The same over the names and digests of all files below a folder but those with this suffix."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != without:
            whole.update(f"{path.relative_to(folder)} {file_digest(path)}\n".encode())
    return whole.hexdigest()


def write_text(path: Path, text: str) -> Path:
    """Write a text, with the folder that it belongs into; whole or not at all."""
    return write_bytes(path, text.encode())


def write_model(path: Path, written: BaseModel) -> Path:
    """The same of a model, as JSON."""
    return write_text(path, written.model_dump_json(indent=1))


def write_bytes(path: Path, content: bytes) -> Path:
    """The same of bytes."""
    return write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> Path:
    """The same of bytes in pieces, of which no more than one need be in memory."""
    return write_with(path, lambda partial: _fill(partial, pieces))


def write_with(path: Path, write: Callable[[Path], object]) -> Path:
    """The same of whatever `write` puts into the file that it is given, which is there and empty."""
    with writing(path):
        make_folder(path.parent)
        partial = _new_beside(path)
        try:
            write(partial)
            sync(partial)
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        sync(path.parent)
    return path


def _new_beside(path: Path) -> Path:
    partial = path.with_name(f".{secrets.token_hex(8)}.partial")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666))
    return partial


def _fill(path: Path, pieces: Iterable[bytes]) -> None:
    file = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(file, "wb") as stream:
        stream.writelines(pieces)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and those that it is in, each of which survives a power cut."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for parent in missing:
        sync(parent.parent)


def sync(path: Path) -> None:
    """Has a file's content, or a folder's entries, survive a power cut."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno != errno.EINVAL or not stat.S_ISDIR(os.fstat(file).st_mode):  # some file systems sync no folder
            raise
    finally:
        os.close(file)


def sync_all(folder: Path) -> None:
    """The same of everything in a folder, whoever wrote it, and of the folder's own entry; links are left alone."""
    with writing(folder):
        for below, _, names in os.walk(folder, topdown=False):
            for path in (Path(below, name) for name in names):
                if stat.S_ISREG(path.lstat().st_mode):
                    sync(path)
            sync(Path(below))
        sync(folder.parent)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the operating system says of a failed write into what the user can do."""
    try:
        yield
    except OSError as error:
        raise StoreError(path, *_explained(error)) from error


def _explained(error: OSError) -> tuple[str, str | None]:
    number, text = error.errno, error.strerror or str(error)
    if number in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} or "os error 28" in text or "os error 27" in text:
        return "there is not enough space for it", "free some space; a trial runs again with --resume"
    if number in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return "it can't be written to", "choose another folder with --out, or change its permissions"
    return f"it can't be written: {text}", "choose another place for it"
