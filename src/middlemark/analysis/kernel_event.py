"""The kinds of events in a recording of the kernel; the observer's records say what each one's columns mean."""

from enum import IntEnum


class Kind(IntEnum):
    """What an event is, as the observer's records say."""

    CALLED = 1
    RETURNED = 2
    QUEUED = 3
    TRANSMITTED = 4
    ARRIVED = 5
    WOKEN = 6
    SWITCHED = 7
    SENT = 8
    TAKEN = 9
