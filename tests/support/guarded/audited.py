"""What a Python program is about to change among files, by its audit events: the paths to which its names really lead.

It refuses and notes nothing: `removals` refuses what is no test's, and the fuzz search notes what lies elsewhere than its
input.
"""

from __future__ import annotations

import os
from pathlib import Path

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NAMES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "open": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "shutil.rmtree": ((0, 1),),
}
"""By event, which of its arguments names what is changed, and which is the number of the folder that the name lies in.

What a new link leads to is not changed.
"""


def changed_paths(event: str, arguments: tuple[object, ...]) -> list[Path]:
    """What an event is about to change; nothing where it changes no file, or one that is open already."""
    if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & _WRITES):
        return []
    return [
        absolute(arguments[name], None if folder is None else arguments[folder])
        for name, folder in _NAMES.get(event, ())
        if not isinstance(arguments[name], int)
    ]


def absolute(name: object, folder: object = None) -> Path:
    """Where a name leads, in the folder that is open under this number; a link at its end is not followed."""
    path = Path(os.fsdecode(name))  # type: ignore[arg-type] # an event has what the caller gave
    if not path.is_absolute():
        is_open = isinstance(folder, int) and folder >= 0
        path = (Path(f"/proc/self/fd/{folder}").readlink() if is_open else Path.cwd()) / path
    followed = path if path.name in {"", ".."} else path.parent
    return Path(os.path.realpath(followed)) / ("" if followed is path else path.name)
