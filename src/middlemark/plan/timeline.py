"""The faults of an experiment on its window's clock, in their order.

Pure; `resolve` makes it of a suite's timeline, `campaign` has it happen and stores when it really did.
"""

from middlemark.suite import Action, Model


class Event(Model):
    """One fault at one target."""

    at_ns: int
    """From the window's begin."""
    action: Action
    target: str
    """An application or a service; for links a host, or `host/network`."""
