"""The terminal, to which all text comes as text: see `plain_text`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from middlemark.report.elements.plain_text import plain_text

WIDTH_OF_FILES = 120
"""In columns; a file or a pipe has no width of its own."""


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
