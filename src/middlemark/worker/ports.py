"""How many ports a trial needs of its own: what its worker says takes one, counted in its plan.

Which endpoint has which port only the workers know; `testbed.processes.slot` reserves the range.
"""

from typing import assert_never

from middlemark.plan import Experiment, Stream
from middlemark.worker.contract import Description, PortHolders
from middlemark.worker.description import needed_services


def needed_ports(experiment: Experiment, description: Description) -> int:
    """The ports of a trial: those of what takes one, of its services, and one for the trial as a whole."""
    services = needed_services(description, experiment.profile, dict(experiment.options))
    return _held(experiment, description.ports or "endpoints") + len(services) * len(experiment.hosts) + 1


def _held(experiment: Experiment, holders: PortHolders) -> int:
    match holders:
        case "nothing":
            return 0
        case "applications":
            return len(experiment.applications)
        case "publishers":
            return sum(_publishers(stream) for stream in experiment.streams)
        case "subscribers":
            return sum(_subscribers(stream) for stream in experiment.streams)
        case "endpoints":
            return sum(_publishers(stream) + _subscribers(stream) for stream in experiment.streams)
        case _:
            assert_never(holders)


def _publishers(stream: Stream) -> int:
    """Who answers publishes too."""
    return len(stream.publishers) + len(stream.subscribers) * stream.pattern.has_answers


def _subscribers(stream: Stream) -> int:
    """Who waits for answers subscribes to them."""
    return len(stream.subscribers) + len(stream.publishers) * stream.pattern.has_answers
