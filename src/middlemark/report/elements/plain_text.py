"""Text that somebody else wrote, as it may be shown: on a terminal, in Markdown, in XML, in a spreadsheet.

Names of suites, keys, reasons, logs, and what a run from elsewhere holds, can say anything. What would be obeyed rather
than read goes here, once, and `Screen` is a terminal that obeys nothing; HTML is escaped by its templates.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# Control characters but newline and tab, what turns the direction of text, halves of surrogates, and what no XML has.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_MARKDOWN = re.compile(r"[\\`|<>\[\]#]")
_COMPUTED = re.compile(r"\s*[=+@\t\r-]")
_NUMBER = re.compile(r"[+-]?[\d., \u202f]+(e[+-]?\d+|\s?[%×\w/]+)?")


WIDTH_OF_FILES = 120
"""In columns; a file or a pipe has no width of its own."""


def plain_text(text: str) -> str:
    """The text without anything that a terminal or a reader of XML would obey."""
    return _OBEYED.sub("", text)


def markdown_text(text: str) -> str:
    """The same within a line of Markdown: it opens no heading, link, cell or HTML, and mentions nobody."""
    line = " ".join(plain_text(text).split())
    return _MARKDOWN.sub(r"\\\g<0>", line).replace("@", "@\u2060")


def csv_text(text: str) -> str:
    """The same as a cell of CSV, which no spreadsheet computes: an apostrophe makes words of a formula."""
    cell = plain_text(text)
    return f"'{cell}" if _COMPUTED.match(cell) and not _NUMBER.fullmatch(cell) else cell


class Screen(Console):
    """A terminal on which all text is only text: markup is what a `Text` says, and no character is a command."""

    def __init__(self, *, stderr: bool = False, soft_wrap: bool = False, **more: Any) -> None:  # noqa: ANN401 - rich's
        super().__init__(stderr=stderr, soft_wrap=soft_wrap, markup=False, emoji=False, **more)
        if not self.is_terminal and "COLUMNS" not in os.environ and "width" not in more:
            self.width = WIDTH_OF_FILES

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The same, cleaned; rich's own commands, which move its live view, are marked as such."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(plain_text(segment.text), segment.style)
