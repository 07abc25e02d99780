"""The faults of an experiment on its window's clock, in their order.

Pure; `resolve` makes it of a suite's timeline, `campaign` has it happen and stores when it really did.
"""

from typing import Annotated

from pydantic import Field

from middlemark.suite import Action, Model
from middlemark.suite.bounds import Nanoseconds


class Event(Model):
    """One fault at one target."""

    at_ns: Nanoseconds
    """From the window's begin."""
    action: Action
    target: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}(/[a-z][a-z0-9_]{0,23})?$")]
    """An application or a service; for links a host, or `host/network`."""
