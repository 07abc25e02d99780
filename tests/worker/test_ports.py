"""A trial's ports are counted from its plan and from what its worker says takes one."""

import pytest

from middlemark.worker.contract import Description, PortHolders, ServiceNeed
from middlemark.worker.ports import needed_ports
from staged import planned

DAEMON = ServiceNeed(service="daemon", per="host", when=[])


def needed(workload: str, holders: PortHolders, *services: ServiceNeed) -> int:
    """Of two publishers and three subscribers, each an application."""
    description = Description.model_construct(ports=holders, services=list(services), options=[], profiles={})
    return needed_ports(planned(f"workloads: [{workload}]\ntopologies: C2-3").experiment, description)


@pytest.mark.parametrize(
    ("holders", "of_messages", "with_answers"),
    [("endpoints", 5, 10), ("publishers", 2, 5), ("subscribers", 3, 5), ("applications", 5, 5), ("nothing", 0, 0)],
)
def test_a_trial_needs_one_port_and_one_for_each_that_takes_one(
    holders: PortHolders, of_messages: int, with_answers: int
) -> None:
    assert needed("imu", holders) == 1 + of_messages
    assert needed("{workload: p, pattern: ping_pong, size: 64 B, answer: 64 B}", holders) == 1 + with_answers


def test_each_service_needs_a_port_too() -> None:
    assert needed("imu", "nothing", DAEMON) == 1 + needed("imu", "nothing")
