"""A pair is two workers in one trial, each for its role, and says what each side knows where they don't meet."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from middlemark.errors import SuiteError
from middlemark.plan import NoCommunication, NotApplicable, Outcome, Valid
from middlemark.results.record import TrialRecord
from middlemark.results.run_folder import RunFolder
from staged import install_fake_worker, placed, suite_text

Campaign = Callable[..., list[TrialRecord]]
PAIR = "{publishers: fake, subscribers: twin"


@pytest.fixture(autouse=True)
def twin(own_state: None, tmp_path: Path) -> Path:  # noqa: ARG001 - the workers' folder is there first
    """A second middleware that speaks as the fake one does; its folder of modules."""
    install_fake_worker(tmp_path / "workers", "twin")
    return tmp_path / "workers" / "middlemark-worker-twin.lib"


def paired(topology: str = "C1-1", more: str = "", **options: object) -> str:
    return suite_text(topology, more, **options).replace("{middleware: fake", PAIR)


def test_each_application_of_a_pair_is_the_worker_of_its_role(campaign: Campaign, twin: Path, tmp_path: Path) -> None:
    worker = twin.with_suffix("")
    worker.write_text(worker.read_text().replace('receive_mode="select"', 'receive_mode="another"'))
    (record,) = campaign(paired("C2-1"))
    assert (record.outcome, record.trial.experiment.middleware) == (Valid(), "fake_to_twin")
    modes = {name: effective.receive_mode for name, effective in record.effective.items()}
    assert modes == {"publisher_0": "select", "publisher_1": "select", "subscriber_0": "another"}
    assert sorted(RunFolder(tmp_path / "run").read_manifest().middlewares) == ["fake", "twin"]


def test_a_service_that_both_need_is_there_once(campaign: Campaign, tmp_path: Path) -> None:
    (record,) = campaign(paired(brokered=True))
    assert (record.outcome, list(record.services)) == (Valid(), ["broker_0"])
    (spec,) = (tmp_path / "run").rglob("spec.json")
    assert json.loads(spec.read_text())["broker_0"]["options"] == {"brokered": True}


def test_an_option_is_set_on_the_side_that_has_it(campaign: Campaign, twin: Path, tmp_path: Path) -> None:
    module = twin / "fake_protocol.py"
    module.write_text(module.read_text().replace('option("brokered"', 'option("relayed"'))
    campaign(paired(brokered=True))
    (spec,) = (tmp_path / "run").rglob("spec.json")
    options = {name: process["options"] for name, process in json.loads(spec.read_text()).items()}
    assert (options["publisher_0"], options["subscriber_0"]) == ({"brokered": True}, {})


def test_a_pair_that_does_not_meet_says_what_each_side_knows(campaign: Campaign) -> None:
    text = paired(fault="silent", faulty="publisher_0").replace("first_message: 20 s", "first_message: 300 ms")
    (record,) = campaign(text)
    assert isinstance(record.outcome, NoCommunication)
    assert record.outcome.reasons == {
        "publisher_0": ("publisher 0 knows nobody",),
        "subscriber_0": ("subscriber 0 knows nobody",),
    }
    assert record.outcome.detail.endswith("subscriber_0: subscriber 0 knows nobody")


def test_an_application_with_both_roles_is_refused_with_the_reason(campaign: Campaign) -> None:
    (record,) = campaign(paired("{topology: C1-1, placement: same_process}"))
    assert isinstance(record.outcome, NotApplicable)
    assert record.outcome.capability == "pair"
    assert "would publish by fake and subscribe by twin" in record.outcome.reason


def test_a_pair_has_no_security(campaign: Campaign) -> None:
    (record,) = campaign(paired(more="conditions: {security: authenticated}"))
    assert isinstance(record.outcome, NotApplicable)
    assert record.outcome.capability == "pair"


def test_workers_without_a_common_protocol_are_no_pair(twin: Path) -> None:
    module = twin / "fake_protocol.py"
    module.write_text(module.read_text().replace('"datagrams"', '"letters"'))
    with pytest.raises(SuiteError) as refused:
        placed(paired())
    assert refused.value.line == 4
    assert refused.value.problem == "`twin` speaks no protocol in which it understands `fake`"


def test_a_pair_of_which_one_is_not_installed_is_left_out_with_the_reason() -> None:
    pair = "middlewares: [{publishers: fake, subscribers: toydds}, "
    ordered = placed(suite_text().replace("middlewares: [", pair))
    assert ordered.left_out == {"fake_to_toydds": "toydds: not installed"}


@pytest.mark.parametrize(
    ("target", "outcome"),
    [
        ("publisher_0", Valid()),
        (
            "subscriber_0",
            NotApplicable(capability="faults", reason="subscriber_0 can't be paused and resumed: its loop ends"),
        ),
    ],
)
def test_who_takes_no_more_part_after_a_pause_is_not_paused_and_the_other_is(
    campaign: Campaign, twin: Path, target: str, outcome: Outcome
) -> None:
    module = twin / "fake_protocol.py"
    lacking = '"lacking_pause": "its loop ends", "between_hosts": False,'
    module.write_text(module.read_text().replace('"between_hosts": False,', lacking))
    events = f"[{{at: 50 ms, do: pause, of: {target}}}, {{at: 100 ms, do: resume, of: {target}}}]"
    (record,) = campaign(paired(more=f"conditions: {{faults: {{timeline: t, events: {events}}}}}"))
    assert record.outcome == outcome
