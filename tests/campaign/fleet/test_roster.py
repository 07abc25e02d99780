"""Who may measure for a campaign: test-beds of its build, which have machines of their own for its hosts."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from middlemark.campaign.fleet import roster as rosters
from middlemark.campaign.fleet.roster import Roster, machine_names
from middlemark.campaign.fleet.testbed import STATEMENT
from middlemark.campaign.manifest import new_manifest, origin_of
from middlemark.errors import EnvironmentNotReady
from middlemark.results import manifest as stored
from middlemark.results.manifest import Manifest, RemoteMachine
from staged import placed, suite_text

ON_A_MACHINE = (
    "{topology: pair, hosts: [{name: here, kind: local}, {name: there, kind: ssh, ssh: far}],"
    " applications: [{name: publisher_0, host: here, roles: [publisher]},"
    " {name: subscriber_0, host: there, roles: [subscriber]}]}"
)


@dataclass
class Scheduler:
    """A client and its scheduler, of which a roster asks who is there."""

    statements: dict[str, str] = field(default_factory=dict)
    asked: int = 0

    @property
    def scheduler(self) -> "Scheduler":
        return self

    async def identity(self, **_: object) -> dict[str, Any]:
        self.asked += 1
        beds = {f"tcp://{name}": {"name": name, STATEMENT: said} for name, said in self.statements.items()}
        return {"workers": beds}


def machine(number: int) -> RemoteMachine:
    return RemoteMachine(started=f"{number:016x}", kernel="6.1", architecture="x86_64", cpus=4)


@pytest.fixture
def manifest() -> Manifest:
    return new_manifest(placed(suite_text(topology=ON_A_MACHINE)))


def bed(manifest: Manifest, **hosts: RemoteMachine) -> str:
    return stored.Testbed(machine={}, build=origin_of(manifest), hosts=hosts).model_dump_json()


def roster_of(**statements: str) -> tuple[Roster, Scheduler]:
    scheduler = Scheduler(statements)
    return Roster(cast("Any", scheduler), "tcp://bench"), scheduler


def fit(roster: Roster, manifest: Manifest) -> set[str]:
    return {roster.names[address] for address in asyncio.run(roster.fit(manifest))}


def test_the_machines_of_a_suite_are_those_reached_by_ssh(manifest: Manifest) -> None:
    assert machine_names(manifest) == {"far"}
    assert machine_names(new_manifest(placed(suite_text()))) == set()


def test_a_test_bed_without_the_machines_of_the_suite_gets_nothing(
    manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("middlemark.campaign.fleet.roster.JOINED_WITHIN_S", 1.0)
    roster, _ = roster_of(bare=bed(manifest), other=bed(manifest, near=machine(1)))
    with pytest.raises(EnvironmentNotReady) as refused:
        asyncio.run(roster.joined(manifest))
    assert "bare has no machine far: let it join with --hosts FILE" in refused.value.text
    assert "other has no machine far" in refused.value.text


def test_the_scheduler_is_asked_at_most_once_a_second_who_is_there(
    manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 0
    monkeypatch.setattr(rosters, "time", SimpleNamespace(monotonic_ns=lambda: now_ns))
    roster, scheduler = roster_of(one=bed(manifest, far=machine(1)))
    found = asyncio.run(roster.fit(manifest))
    scheduler.statements["two"] = bed(manifest, far=machine(2))
    now_ns = 999_999_999
    assert asyncio.run(roster.fit(manifest)) is found
    assert scheduler.asked == 1
    now_ns = 1_000_000_000
    found = asyncio.run(roster.fit(manifest))
    assert {roster.names[address] for address in found} == {"one", "two"}
    now_ns = 2_000_000_000
    assert asyncio.run(roster.fit(manifest)) is found, "all blocks that are under way have the same places"
    assert scheduler.asked == 3


def test_two_test_beds_never_share_a_machine(manifest: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rosters, "LOOK_S", 0.0)
    roster, scheduler = roster_of(
        one=bed(manifest, far=machine(1), spare=machine(2)),
        two=bed(manifest, far=machine(2)),
        three=bed(manifest, far=machine(3)),
    )
    assert fit(roster, manifest) == {"one", "three"}
    assert list(roster._refused.values()) == ["two has far, which is spare of one too: each needs machines of its own"]
    del scheduler.statements["one"]
    scheduler.statements["instead"] = bed(manifest, far=machine(2))
    assert fit(roster, manifest) == {"three", "instead"}, "a machine is free when its test-bed has gone"


def test_what_a_test_bed_states_is_read_as_hostile(manifest: Manifest) -> None:
    said = bed(manifest, far=machine(1)).replace('"started":"0000000000000001"', '"started":"x"')
    roster, _ = roster_of(odd=said, none="nothing", fine=bed(manifest, far=machine(2)))
    assert fit(roster, manifest) == {"fine"}
    assert all("what it states can't be read" in why for why in roster._refused.values())
