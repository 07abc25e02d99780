"""The captured frames of a setting: where each file lies, what is in it and what is not, and how Wireshark reads it.

Of the frames themselves it shows nothing: that is Wireshark's business.
"""

from __future__ import annotations

from collections.abc import Mapping

from middlemark.analysis.comparison import Comparison
from middlemark.report.contender import Contender
from middlemark.report.display import ABSENT, size
from middlemark.report.tables import Table
from middlemark.results.record import CaptureRecord, TrialRecord

CAPTURES = "Captured frames"
CAPTION = (
    "Whole trials, from before T0 to the end of the drain; each frame where its host's link meets the network, so that "
    "a file has it once for its sender and once for each receiver. Cut: longer than what is kept of each. Beyond: came "
    "when the file had its size. Lost: came faster than they could be taken. Dissectors are Wireshark's names, by "
    "which it filters too."
)


def capture_table(captured: Comparison, who: Mapping[str, Contender]) -> Table:
    """A row a trial's file."""
    rows: list[tuple[str, ...]] = []
    for each in captured.experiments:
        contender = who[each.experiment.id]
        rows += [
            (contender.label, *_cells(record, record.capture), dissector_words(contender))
            for record in each.records
            if record.capture is not None
        ]
    headings = ("", "file in the run's folder", "size", "frames", "cut", "beyond", "lost", "dissectors")
    return Table(CAPTURES, headings, tuple(rows), CAPTION)


def dissector_words(contender: Contender) -> str:
    """`mqtt (what Wireshark must be told)`."""
    words = [f"{each.name} ({each.remark})" if each.remark else each.name for each in contender.dissectors]
    return "; ".join(words) or ABSENT


def _cells(record: TrialRecord, capture: CaptureRecord) -> tuple[str, ...]:
    sums = (sum(getattr(link, what) for link in capture.links) for what in ("captured", "cut", "beyond", "lost"))
    return f"trials/{record.trial.id}/capture.pcapng", size(capture.file_bytes), *map(str, sums)
