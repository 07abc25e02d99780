"""The end of a command that read a run some of whose trials are damaged: it did its work, names them, and says so."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlemark.analysis.run import Damage


def check(damaged: "Sequence[Damage]") -> None:
    """End with exit code 1 where trials were left out."""
    from middlemark.errors import ResultsNotAccepted

    if damaged:
        names = ", ".join(damage.trial for damage in damaged)
        raise ResultsNotAccepted(
            f"{len(damaged)} stored trials are damaged and left out: {names}",
            remedy="remove their folders and run `middlemark run --resume` on this run to try them again",
        )
