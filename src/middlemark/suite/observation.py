"""What watches an experiment from outside, in trials of their own.

The closed list of observations that a suite may ask for; `plan` gives each its trials, `campaign` carries them out.
"""

from enum import StrEnum


class Observation(StrEnum):
    """One kind of observer; each has trials of its own, so that none sees what another costs."""

    RESOURCES = "resources"
    """CPU, memory, threads, descriptors, switches and page faults of each process over time."""
    KERNEL_PATH = "kernel_path"
    """Where the time of each message goes: middleware, kernel, queue, wire, scheduler."""
    WIRE = "wire"
    """Bytes and packets on each interface of the hosts in namespaces, by phase of the trial."""
