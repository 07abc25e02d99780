"""The marker of a trial's messages: what their headers have in common, looked for in captured frames.

The header is the worker contract's (docs/background/contract.md). Whether a trial may have it on its links,
`analysis.experiment.path` says.
"""

from __future__ import annotations

import mmap
import re
from pathlib import Path


def readable_headers(file: Path, token: int) -> int:
    """How many headers of the messages with this token are in a file as they were sent.

    A header's token, phase and version are looked for, with any channel, publisher and asker between them: other bytes
    look so at one of 10^14 places. A header that is cut into two frames isn't found.
    """
    marker = re.compile(re.escape(token.to_bytes(4, "little")) + rb".{6}[\x00-\x02]\x01", re.DOTALL)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return sum(1 for _ in marker.finditer(content))
