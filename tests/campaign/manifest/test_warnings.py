"""What a run's manifest warns of: the facts of the machine that are not as a measurement wants them, in words."""

from pathlib import Path

import pytest

from middlemark.campaign.manifest import cautions
from middlemark.testbed.machine.readiness import Fact
from staged import own_machine, placed, suite_text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("busy_cpus", 1.98, "busy cpus is 1.98"),
        ("wake_up_error_p99_ns", 4_010_989, "wake up error p99 is 4.01 ms"),
        ("rmem_max_bytes", 212_992, "rmem max is 213 kB"),
        ("governor", "powersave", "governor is powersave"),
    ],
)
def test_a_fact_is_told_with_the_unit_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: float | str, text: str
) -> None:
    own_machine(tmp_path, monkeypatch)
    facts = [Fact(name, value, ready=False, remedy="do this"), Fact("turbo", "off", ready=True)]
    (caution,) = cautions(facts, placed(suite_text()))
    assert (caution.text, caution.remedy) == (text, "do this")
