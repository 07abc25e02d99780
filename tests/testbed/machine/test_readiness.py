"""The machine's facts: complete, plain, and each that is not ready says what to do."""

import pytest

from middlemark.testbed.machine import readiness


def test_every_fact_has_a_value_and_every_unready_one_a_remedy() -> None:
    facts = readiness.facts()
    assert len({fact.name for fact in facts}) == len(facts)
    assert all(fact.value != "" for fact in facts)
    assert all(fact.remedy for fact in facts if fact.ready is False)


def test_what_a_report_needs_of_the_machine_is_among_the_facts() -> None:
    names = {fact.name for fact in readiness.facts()}
    assert names >= {
        "machine_id", "kernel", "cpu_model", "cpus", "memory_bytes", "virtualisation", "governor", "turbo", "idle_states", "busy_cpus",
        "rmem_max_bytes", "wmem_max_bytes", "clock_source", "clock_cost_ns", "clock_resolution_ns",
        "steal_percent_since_boot", "isolated_cpus", "transparent_huge_pages", "wake_up_error_median_ns",
    }  # fmt: skip


def files(monkeypatch: pytest.MonkeyPatch, contents: dict[str, str]) -> None:
    monkeypatch.setattr(readiness, "_read", contents.get)


def test_the_machine_s_id_is_its_own_and_tells_nothing_of_the_installation_s(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = "4c1bb2a7a1b94d5c8f3f2f6f0d9e8a77"
    files(monkeypatch, {"/etc/machine-id": raw})
    found = readiness._machine_id()
    assert len(found) == 16
    assert found not in raw
    assert readiness._machine_id() == found
    files(monkeypatch, {"/etc/machine-id": raw[::-1]})
    assert readiness._machine_id() not in {found, "unknown"}
    files(monkeypatch, {})
    assert readiness._machine_id() == "unknown"


@pytest.mark.parametrize(("boost", "value", "ready"), [("0", "off", True), ("1", "on", False)])
def test_turbo_is_ready_when_off(monkeypatch: pytest.MonkeyPatch, boost: str, value: str, *, ready: bool) -> None:
    files(monkeypatch, {"/sys/devices/system/cpu/cpufreq/boost": boost})
    fact = readiness._turbo()
    assert (fact.value, fact.ready) == (value, ready)
    assert "echo 0" in fact.remedy


@pytest.mark.parametrize(("no_turbo", "value", "ready"), [("1", "off", True), ("0", "on", False)])
def test_intels_switch_is_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch, no_turbo: str, value: str, *, ready: bool
) -> None:
    files(monkeypatch, {"/sys/devices/system/cpu/intel_pstate/no_turbo": no_turbo})
    fact = readiness._turbo()
    assert (fact.value, fact.ready) == (value, ready)
    assert "echo 1" in fact.remedy


def test_steal_is_the_share_of_all_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    files(monkeypatch, {"/proc/stat": "cpu  400 0 100 400 0 0 0 100 0 0\ncpu0 ..."})
    fact = readiness._steal()
    assert (fact.value, fact.ready) == (10.0, False)


@pytest.mark.parametrize(
    ("everyone_s", "busy", "ready"), [(100.5, 2.0, False), (100.18, 0.4, True), (100.0, 0.0, True)]
)
def test_busy_cpus_are_those_of_other_work_alone(everyone_s: float, busy: float, *, ready: bool) -> None:
    fact = readiness._busy_cpus((10.0, 100.0, 5.0), (10.2, everyone_s, 5.1))
    assert (fact.value, fact.ready) == (busy, ready)


def test_a_cpu_that_is_idle_waits_for_a_disk_or_is_stolen_does_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness.os, "sysconf", {"SC_CLK_TCK": 100}.get)
    files(monkeypatch, {"/proc/stat": "cpu  100 200 300 4000 5000 600 700 8000 50 60\ncpu0 ..."})
    assert readiness._cpu_seconds()[1] == 19.0


@pytest.mark.parametrize(("size", "ready"), [("212992", False), ("4194304", True)])
def test_small_socket_buffers_are_not_ready(monkeypatch: pytest.MonkeyPatch, size: str, *, ready: bool) -> None:
    files(monkeypatch, {"/proc/sys/net/core/rmem_max": size})
    fact = readiness._socket_buffer("rmem_max")
    assert (fact.value, fact.ready) == (int(size), ready)
