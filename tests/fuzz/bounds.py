"""Reads one input within bounds: no internal error, no hang, a bound of memory, and no byte written elsewhere.

What Python changes among files (`audited`) or starts is seen by its audit events; libraries that write by themselves
get a folder of their own as the current one. It judges one input; `search` tries many.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from audited import changed_paths
from kinds import KINDS, TOLD

MOST_CPU_SECONDS, MOST_SECONDS, MOST_BYTES = 10, 100, 1 << 30
"""By the process's own time, as other work may run beside; the clock is for what waits for ever."""
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "socket.bind"}


class Hung(BaseException):
    """Reading took longer than it may; no handler of errors stops it."""


def finding(kind: str, content: bytes) -> str | None:
    """What is wrong with how an input is read; None where nothing is."""
    with tempfile.TemporaryDirectory(prefix="middlemark-fuzz-") as name:
        path = Path(name) / f"input{KINDS[kind].suffix}"
        path.write_bytes(content)
        _forget_peak()
        with _within(Path(name)) as elsewhere:
            wrong = _wrong(lambda: KINDS[kind].read(path))
    if wrong is None and elsewhere:
        wrong = f"it touched {elsewhere[0]}"
    if wrong is None and peak_bytes() > MOST_BYTES:
        wrong = f"it took {peak_bytes() >> 20} MiB"
    return wrong


def _wrong(read: Callable[[], object]) -> str | None:
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        read()
    except TOLD:
        return None
    except Hung:
        return f"it took longer than {MOST_CPU_SECONDS} s of CPU time, or {MOST_SECONDS} s in all"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
        return "".join(traceback.format_exception(error)[-4:])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


@contextmanager
def _within(folder: Path) -> Iterator[list[str]]:
    """Fills the list with what is changed, started or spoken to outside of the folder."""
    elsewhere: list[str] = []
    _watch.folder, _watch.elsewhere = folder.resolve(), elsewhere
    before, cache = Path.cwd(), os.environ.get("XDG_CACHE_HOME")
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder)  # what readers keep for the next time
    signal.signal(signal.SIGALRM, _hung)
    signal.signal(signal.SIGPROF, _hung)
    try:
        yield elsewhere
    finally:
        os.chdir(before)
        _watch.folder = None
        if cache is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = cache


def _hung(*_: object) -> None:
    raise Hung


class _Watch:
    """What the audit hook, which can't be taken out again, compares with."""

    folder: Path | None = None
    elsewhere: list[str]

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.folder is None:
            return
        if event in _STARTS:
            self.elsewhere.append(f"{event} {arguments[:2]}")
        self.elsewhere += [f"{event} {path}" for path in changed_paths(event, arguments) if self._is_out(path)]

    def _is_out(self, path: Path) -> bool:
        return self.folder not in {path, *path.parents} and path != Path(os.devnull)


_watch = _Watch()
sys.addaudithook(_watch)
sys.dont_write_bytecode = True
gc.freeze()  # all modules are loaded: what is collected for each input is then little


def _forget_peak() -> None:
    """Without what earlier inputs left to be collected, which is not this one's."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory since `_forget_peak`."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) << 10 if found else 0
