"""A setting of the kernel that the whole machine has: raised while it is needed, and put back as it was.

The ledger has what it was, so that a sweep puts it back too. It decides no value: who needs one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.testbed.processes.ledger import Ledger


@contextmanager
def at_least(setting: Path, value: int, ledger: Ledger) -> Iterator[None]:
    """Has it no lower than this within the context, where this user may write it."""
    before = _read(setting)
    if before is None or before >= value:
        yield
        return
    mark = ledger.enter("setting", f"{setting}={before}")
    try:
        with suppress(OSError):
            setting.write_text(str(value))
        yield
    finally:
        ledger.remove(mark)


def put_back(entered: str) -> bool:
    """Has a setting, `<path>=<value>`, as it was; gives whether it was another."""
    path, _, value = entered.rpartition("=")
    setting = Path(path)
    if _read(setting) in {None, int(value)}:
        return False
    with suppress(OSError):
        setting.write_text(value)
    return True


def _read(setting: Path) -> int | None:
    try:
        return int(setting.read_text())
    except (OSError, ValueError):
        return None
