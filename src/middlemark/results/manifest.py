"""What is stored of one run beside its trials: what it was asked for, with which middlewares, and on what it ran.

It computes nothing and touches no file. `run_folder` reads and writes it, `campaign` fills it in; `record` has what is
stored of a trial.
"""

from __future__ import annotations

from typing import Literal

from pydantic import NonNegativeInt

from middlemark.plan import Caution, Trial
from middlemark.results.record import FORMAT_VERSION
from middlemark.suite import Model
from middlemark.suite.claim_text import ClaimText


class Library(Model):
    """The library that a worker is linked with, as `describe` says."""

    name: str
    version: str
    origin: str


class Dissector(Model):
    """A protocol by which Wireshark shows what the middleware puts on the wire, as `describe` says."""

    name: str
    remark: str | None = None


class Middleware(Model):
    """A middleware of the run: its worker's own account, or why it has none."""

    title: str
    summary: str
    library: Library
    dissectors: tuple[Dissector, ...] = ()


class Width(Model):
    """How far the interval of a figure reaches, and whether that is narrow enough for the suite's `stop`."""

    experiment: str
    stream: str | None
    """None where the figure is of the trial."""
    figure: str
    n_trials: NonNegativeInt
    """Trials that have the figure."""
    relative_width: float | None
    """Half of the interval as a share of the median; None where there is no interval."""
    allowed: float
    confidence: float
    settled: bool
    """Whether it was narrow enough at two looks in a row."""
    reason: str = ""
    """Why it stays open, or has no interval."""


class Manifest(Model):
    """What a run was asked for and what it ran on: `manifest.json`."""

    format_version: Literal[1] = FORMAT_VERSION
    middlemark_version: str
    suite: str
    """The suite's name."""
    suite_text: str
    """The suite as given, word for word."""
    seed: int
    trials: tuple[Trial, ...]
    """The suite as expanded: every planned trial, in the order in which they run; with `stop`, those decided so far."""
    widths: tuple[Width, ...] = ()
    """Of a suite with `stop`: how wide the intervals were after the last block that was looked at."""
    started_at: str
    """ISO 8601, UTC."""
    command: tuple[str, ...] = ()
    machine: dict[str, str | int | float | bool | None] = {}
    """What was recorded of the machine: names with their units, values as read."""
    middlewares: dict[str, Middleware] = {}
    """By name."""
    claims: tuple[ClaimText, ...] = ()
    """The suite's."""
    against: tuple[str, ...] = ()
    """The folders of the base's workers, where the campaign has two sides."""
    base: dict[str, Middleware] = {}
    """By name: the base's."""
    left_out: dict[str, str] = {}
    """Middlewares without a worker here, each with the reason."""
    warnings: tuple[Caution, ...] = ()
    """What is not as it should be on the machine."""
