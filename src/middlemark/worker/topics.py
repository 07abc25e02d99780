"""The topics of a stream that is sent on several, in the words of the contract: to a worker each is a stream.

A plan has them as one stream with a publisher and a subscriber for each, so that they have their metrics together; what
workers say of them comes back to that here. It starts nothing and reads no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from middlemark.plan import Stream


@dataclass(frozen=True)
class Topic:
    """One stream as a worker knows it."""

    name: str
    stream: Stream
    """Of the plan."""
    place: int
    """The place of that stream in the plan."""
    number: int | None
    """Which of the stream's topics it is; None where all its publishers and subscribers share one."""

    @property
    def publishers(self) -> tuple[str, ...]:
        """The application of each of its publishers."""
        return self.stream.publishers if self.number is None else (self.stream.publishers[self.number],)

    @property
    def subscribers(self) -> tuple[str, ...]:
        """The application of each of its subscribers."""
        return self.stream.subscribers if self.number is None else (self.stream.subscribers[self.number],)


def topics(streams: Iterable[Stream]) -> Iterator[Topic]:
    """All of them, in the order in which workers number them."""
    for place, stream in enumerate(streams):
        numbers: Iterable[int | None] = (None,) if stream.topics is None else range(stream.topics)
        yield from (Topic(_name(stream, number), stream, place, number) for number in numbers)


def endpoint_of(stream: Stream, index: int) -> tuple[str, int]:
    """The stream that a worker knows of one of a plan's endpoints, and the endpoint's index there."""
    return (stream.name, index) if stream.topics is None else (_name(stream, index), 0)


def _name(stream: Stream, number: int | None) -> str:
    return stream.name if number is None else f"{stream.name}_{number}"


class PlannedPaths:
    """From a worker's names and indices to the plan's."""

    def __init__(self, streams: Iterable[Stream]) -> None:
        self._topics = {topic.name: topic for topic in topics(streams)}

    def path(self, stream: str, publisher: int, subscriber: int) -> tuple[str, int, int]:
        """The stream, publisher and subscriber; as they are where there is none of them, for their reader to refuse."""
        topic = self._topics.get(stream)
        if topic is None or topic.number is None or publisher or subscriber:
            return stream, publisher, subscriber
        return topic.stream.name, topic.number, topic.number
