"""What watches an experiment from outside, in trials of their own.

The closed list of observations that a suite may ask for; `plan` gives each its trials, `campaign` carries them out.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from middlemark.suite.model import Model
from middlemark.suite.quantity import SIZE


class Observation(StrEnum):
    """One kind of observer; each has trials of its own, so that none sees what another costs."""

    RESOURCES = "resources"
    """CPU, memory, threads, descriptors, switches and page faults of each process over time."""
    KERNEL_PATH = "kernel_path"
    """Where the time of each message goes: middleware, kernel, queue, wire, scheduler."""
    WIRE = "wire"
    """Bytes and packets on each interface of the hosts in namespaces, by phase of the trial."""
    CAPTURE = "capture"
    """Every frame on the links of hosts in namespaces, in a file for Wireshark."""


class Capture(Model):
    """How much of the frames is kept where `observe` has `capture`."""

    snap: Annotated[int, SIZE.between(64, 65_535)] = 65_535
    """What is kept of each frame; the headers of most protocols are within 200 B."""
    most: Annotated[int, SIZE.between(1e5, 1e11)] = 100_000_000
    """The size that a trial's file keeps below; what comes beyond it is counted only."""


class KernelPath(Model):
    """How many messages' ways are followed where `observe` has `kernel_path`."""

    messages: Annotated[int, Field(ge=10, le=1_000_000, strict=True)] = 500
    """Of each stream and trial, evenly chosen over the window; all where it has fewer."""
