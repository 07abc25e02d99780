"""`plan.trial.duration`: what a trial costs beside its windows."""

from textwrap import dedent

import pytest

from middlemark.plan import plan_trials, trial_duration_ns
from middlemark.plan.trial.duration import CONTAINERS_NS, HOST_NS, WAITED_ROUND_TRIPS
from middlemark.suite.load import parse_suite

FLOOD = "{workload: flood, pattern: unthrottled, size: 100 B, messages: 1000}"
PLAIN = {"workloads": "imu", "topologies": "D1-1"}


def seconds(**changed: str) -> float:
    parts = {"suite": "timed", "middlewares": "udp", **PLAIN, **changed}
    text = "".join(f"{name}: {value}\n" for name, value in parts.items())
    (trial, *_) = plan_trials(parse_suite(dedent(text), file="timed.yaml"), available=["udp"])
    return trial_duration_ns(trial) / 1e9


def test_a_shaped_link_costs_time_before_and_after_each_trial() -> None:
    shaped = seconds(topologies="{topology: D1-1, link: {rate: 1 Gbit/s}}")
    assert shaped - seconds() == pytest.approx(2 * 2 * 0.2)


def test_a_slow_rate_is_measured_for_longer() -> None:
    slow = seconds(topologies="{topology: D1-1, link: {rate: 4 Mbit/s}}")
    assert slow - seconds() == pytest.approx(2 * 2 * (0.1 + 2 * 150 * 1500 * 8 / 4e6))


@pytest.mark.parametrize(("topology", "waits"), [("D1-1", False), ("D1-3", True), ("D3-1", True), ("C1-3", False)])
def test_what_a_link_has_no_room_for_is_waited_for(topology: str, *, waits: bool) -> None:
    """Of 400 Mbit/s, one is within 1 Gbit/s and three are not, from one host as to one."""
    link = ", link: {rate: 1 Gbit/s}" if topology.startswith("D") else ""
    large = "{workload: large, pattern: periodic, size: 1 MB, rate: 50 Hz}"
    with_drain, without = (
        seconds(
            workloads=large,
            topologies=f"{{topology: {topology}{link}}}",
            windows=f"{{window: 1 s, drain: {drain}}}",
        )
        for drain in ("3 s", "1 s")
    )
    assert with_drain - without == pytest.approx(2 if waits else 0)


def test_what_an_overloaded_link_has_left_after_the_window_is_transmitted() -> None:
    """Three times 51 messages of 8 Mbit, at 1 Gbit/s and at half of it."""
    fast, slow = (
        seconds(
            workloads="{workload: large, pattern: periodic, size: 1 MB, rate: 50 Hz}",
            topologies=f"{{topology: D3-1, link: {{rate: {rate}}}}}",
            windows="{window: 1 s}",
        )
        for rate in ("1 Gbit/s", "500 Mbit/s")
    )
    assert slow - fast == pytest.approx(3 * 51 * 0.008)


def test_a_slow_link_costs_round_trips() -> None:
    slow, fast = (seconds(topologies=f"{{topology: D1-1, link: {{delay: {delay}}}}}") for delay in ("200 ms", "100 ms"))
    assert slow - fast == pytest.approx(WAITED_ROUND_TRIPS * 2 * 0.1)


def test_a_host_beyond_two_costs_its_start() -> None:
    assert seconds(topologies="brokered-2") - seconds() == pytest.approx(HOST_NS / 1e9)


def test_containers_cost_their_start() -> None:
    on_metal, contained = (
        seconds(topologies="C1-1", conditions=f"{{deployment: {each}}}") for each in ("bare_metal", "multi_container")
    )
    assert contained - on_metal == pytest.approx(CONTAINERS_NS / 1e9)


def test_a_flood_that_may_drop_waits_for_its_losses() -> None:
    drop, block = (
        seconds(
            middlewares=f"{{middleware: udp, qos: {{reliability: {reliability}, congestion: {congestion}}}}}",
            workloads=FLOOD,
            windows="{warm_up: 200 ms, window: 500 ms, drain: 2 s}",
        )
        for reliability, congestion in (("best_effort", "drop"), ("reliable", "block"))
    )
    assert drop - block == pytest.approx(2)
