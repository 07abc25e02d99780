"""How much is read of what somebody may have made by hand: far beyond what a campaign writes, within what memory has.

Sizes are asked for before anything is parsed or decompressed. It opens nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from middlemark.errors import StoreError

MOST_MANIFEST_BYTES: Final = 1 << 29
"""Every planned trial with its experiment, and the messages of recordings."""
MOST_RECORD_BYTES: Final = 1 << 26
MOST_METRICS_BYTES: Final = 1 << 26
MOST_SKETCH_VALUES: Final = 1 << 24
"""Of all distributions of a trial: of a hundred streams with six each."""
MOST_HISTOGRAM_LOG_BYTES: Final = 1 << 26
MOST_HISTOGRAM_BYTES: Final = 1 << 22
"""Of one flow, decompressed: ten times what three digits from 1 ns to an hour take."""
MOST_FLOWS: Final = 1 << 14
"""Of one histogram log."""
MOST_PAGE_BYTES: Final = 1 << 30
"""Of a report, as it is served."""
MOST_TRIALS: Final = 1 << 18
"""Folders of one run."""
MOST_ROWS_A_BYTE: Final = 64
"""Of a table: stamps of messages take more than a byte each, however well they are compressed."""
ROWS_OF_ANY_TABLE: Final = 1 << 16


def check_bytes(path: Path, n_bytes: int, most_bytes: int) -> None:
    """Refuses a file that is too large to be what it should be."""
    if n_bytes > most_bytes:
        raise StoreError(path, f"it has {n_bytes} bytes, and at most {most_bytes} are read of such a file")


def check_rows(path: Path, n_rows: int, n_bytes: int) -> None:
    """Refuses a table that says of itself that it has more rows than its bytes can hold of samples."""
    most = ROWS_OF_ANY_TABLE + MOST_ROWS_A_BYTE * n_bytes
    if n_rows > most:
        raise StoreError(path, f"it says that it has {n_rows} rows, and in {n_bytes} bytes there are at most {most}")
