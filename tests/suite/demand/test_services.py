"""What an application asks for is read with what is required of it, and a mistake is told with its place."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.suite import parse_demand

PLANNER = """\
application: amr
processes: [control, hmi, planner]
services:
  - service: /plan_route
    clients: [control, hmi]
    servers: planner
    size: 64 B
    response: 16 kB
    rate: 5 Hz
    server_time: 2 ms
    deadline: 100 ms
"""


def test_a_service_is_all_that_an_application_may_have() -> None:
    demand = parse_demand(PLANNER, file="amr.yaml")
    service = demand.services[0]
    assert (demand.streams, demand.demanded) == ((), (service,))
    assert (service.name, service.publishers, service.subscribers) == ("plan_route", ("control", "hmi"), ("planner",))
    assert (service.outstanding, service.timeout, service.loss_allowed) == (64, 1_000_000_000, 0.01)


def test_of_a_reliable_service_every_request_has_to_be_answered() -> None:
    reliable = PLANNER + "    qos: {reliability: reliable}\n"
    assert parse_demand(reliable, file="amr.yaml").services[0].loss_allowed == 0
    assert parse_demand(reliable + "    unanswered: 2 %\n", file="amr.yaml").services[0].loss_allowed == 0.02


MISTAKES = {
    "more servers than clients": (
        "servers: planner",
        "servers: [planner, control, hmi]",
        snapshot("""\
amr.yaml:6:5: `/plan_route` has 3 servers and 2 clients
  servers: [planner, control, hmi]
allowed: no more servers than clients\
"""),
    ),
    "a server that there is not": (
        "servers: planner",
        "servers: plannner",
        snapshot("""\
amr.yaml:6:5: there is no process `plannner`
  servers: plannner
allowed: did you mean `planner`? (control, hmi, planner)\
"""),
    ),
    "a service without a rate": (
        "    rate: 5 Hz\n",
        "",
        snapshot("""\
amr.yaml:4:5: `rate` is missing
  - service: /plan_route
allowed: `rate: …`\
"""),
    ),
    "a topic of the same name": (
        "services:",
        "streams:\n  - {topic: plan_route, publishers: hmi, subscribers: control, size: 64 B, rate: 1 Hz}\nservices:",
        snapshot("""\
amr.yaml:6:5: `/plan_route` is `plan_route` in letters and digits, as one before it is
  - service: /plan_route
allowed: names that differ\
"""),
    ),
}


@pytest.mark.parametrize(("right", "wrong", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place(right: str, wrong: str, told: str) -> None:
    assert PLANNER.count(right) == 1
    with pytest.raises(SuiteError) as raised:
        parse_demand(PLANNER.replace(right, wrong), file="amr.yaml")
    assert str(raised.value) == told


def test_an_application_that_neither_sends_nor_asks_is_refused() -> None:
    with pytest.raises(SuiteError, match="sends and asks nothing"):
        parse_demand("application: amr\nprocesses: [a]\n", file="amr.yaml")
