"""Who calls an application with a message, in the worker contract's words.

Which of these a middleware has, and which `default` stands for, is its worker's knowledge.
"""

from enum import StrEnum


class Delivery(StrEnum):
    """Who calls the application with a message."""

    DEFAULT = "default"
    """What the middleware's profile advises, else what its vendor's first example does."""
    LIBRARY_THREAD = "library_thread"
    """A thread of the middleware: a listener, a callback."""
    OWN_THREAD = "own_thread"
    """A thread of the application that sleeps: in a wait set, on a channel, in a blocking read."""
    POLLING = "polling"
    """A thread of the application that never sleeps."""
